"""What a reviewer sees first: three numbers, forest plot, hallucination, threats, gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.charts import forest
from evalkit.report.model import CandidateBlock, View

ORDER = 0

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section class="first" aria-label="{{ ui.verdict }}: {{ block.title }}">
  <dl class="headlines">
  {% for item in block.headlines %}
    <div>
      <dt>{{ item.label }}</dt>
      <dd>
        <span class="big">{{ item.number.text }}</span>
        {% if item.unit and item.number.value is not none %}
        <span class="unit">{{ item.unit }}</span>
        {% endif %}
        {% if item.number.interval %}
        <span class="interval">{{ item.number.interval }}</span>
        {% endif %}
        {% if item.number.note %}<span class="why">{{ item.number.note }}</span>{% endif %}
        <span class="detail">{{ item.detail }}</span>
      </dd>
    </div>
  {% endfor %}
  </dl>
  <figure class="plot">
    <div class="wide">{{ wide }}</div>
    <div class="narrow">{{ narrow }}</div>
    <figcaption>
      <span><span class="key" aria-hidden="true">●</span> {{ ui.legend_gated }}</span>
      {% if any_alarm %}
      <span><span class="key" aria-hidden="true">○</span> {{ ui.legend_alarm }}</span>
      {% endif %}
      <span><span class="key" aria-hidden="true">◆</span> {{ ui.legend_pooled }}</span>
      <span>{{ ui.legend_bars }}</span>
      <a href="#{{ block.key }}-families">{{ ui.same_table }}</a>
    </figcaption>
  </figure>
  <div class="panels{% if measured %} measured{% endif %}">
    <section>
      <h3>{{ ui.hallucination }}</h3>
      {% if block.pooled.rates %}
      <table class="compact">
        <thead><tr>
          <th scope="col"><span class="vh">{{ ui.endpoint }}</span></th>
          <th scope="col">{{ ui.hallucinated_share }}</th>
          <th scope="col">{{ ui.abstained_share }}</th>
          <th scope="col">{{ ui.attempted_share }}</th>
        </tr></thead>
        <tbody>
        {% for arm in block.pooled.rates %}
          <tr>
            <th scope="row"><bdi>{{ arm.arm }}</bdi></th>
            <td>{{ m.number(arm.hallucination, stacked=true) }}</td>
            <td>{{ m.number(arm.abstention, stacked=true) }}</td>
            <td>{{ m.number(arm.attempted, stacked=true) }}</td>
          </tr>
        {% endfor %}
        </tbody>
      </table>
      {% if block.pooled.hallucination_difference %}
      <p class="fine">{{ ui.change_paired }}: {{ block.pooled.hallucination_difference.full }}</p>
      {% endif %}
      {% else %}
      <p class="fine">{{ ui.hallucination_none }}</p>
      {% endif %}
    </section>
    <section>
      <h3>{{ ui.threats }}</h3>
      <ul class="threats">
      {% for item in block.threats %}
        <li class="{{ item.level }}"><span class="sign" aria-hidden="true">{{ item.icon }}</span
          ><span class="vh">{{ item.word }}: </span><span>{{ item.text }}</span></li>
      {% endfor %}
      </ul>
    </section>
    <section>
      <h3>{{ ui.gains }}</h3>
      {% if block.gains %}
      <table class="compact">
        <thead><tr>
          <th scope="col"><span class="vh">{{ ui.gains }}</span></th>
          <th scope="col"><bdi>{{ view.baseline }}</bdi></th>
          <th scope="col"><bdi>{{ block.endpoint }}</bdi></th>
          <th scope="col">{{ ui.change }}</th>
        </tr></thead>
        <tbody>
        {% for row in block.gains if not row.minor %}
          <tr><th scope="row">{{ row.label }}</th><td>{{ row.baseline }}</td>
            <td>{{ row.candidate }}</td><td>{{ row.change }}
            {%- if row.interval %} <span class="interval">{{ row.interval }}</span>{% endif %}
            </td></tr>
        {% endfor %}
        </tbody>
      </table>
      <p class="fine">{{ block.gains_note }}</p>
      {% else %}
      <p class="fine">{{ ui.gains_none }}</p>
      {% endif %}
    </section>
  </div>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Always."""
    return True


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Draw the plot twice: the style sheet shows the one that fits."""
    return {
        "wide": forest(block.forest, block.key),
        "narrow": forest(block.forest, block.key, narrow=True),
        "measured": any(row.interval for row in block.gains),
        "any_alarm": any(not row.gated for row in block.forest.rows),
    }
