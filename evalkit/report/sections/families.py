"""The family table: the forest plot's numbers and all that belongs beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 10

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-families">
  <h3>{{ ui.families }}</h3>
  <div class="scroll" tabindex="0" role="group" aria-label="{{ ui.families }}">
  <table class="data dense">
    <thead>
      <tr>
        <th scope="col">{{ ui.family }}</th>
        <th scope="col">{{ ui.pairs }}</th>
        <th scope="col"><bdi>{{ view.baseline }}</bdi> {{ ui.accuracy }}</th>
        <th scope="col"><bdi>{{ block.endpoint }}</bdi> {{ ui.accuracy }}</th>
        <th scope="col">{{ ui.difference }}</th>
        <th scope="col">{{ ui.recovery }}</th>
        <th scope="col">{{ ui.flips }}</th>
        <th scope="col">{{ ui.hallucination_col }}</th>
        <th scope="col">{{ ui.abstention_col }}</th>
        <th scope="col">{{ ui.attempted_col }}</th>
        <th scope="col" class="words">{{ ui.state }}</th>
      </tr>
    </thead>
    <tbody>
    {% for row in rows %}
      <tr{% if row.scope == "pooled" %} class="pooled"{% endif %}>
        <th scope="row"><bdi>{{ row.label }}</bdi></th>
        <td>{{ row.n_text }}</td>
        <td>{{ m.number(row.baseline, stacked=true) }}</td>
        <td>{{ m.number(row.candidate, stacked=true) }}</td>
        <td>{{ m.number(row.difference, stacked=true) }}</td>
        <td>{{ m.number(row.recovery, stacked=true) }}
        {%- if row.scope == "pooled" %} <span class="interval">{{ ui.over_all }}</span>
        {%- endif %}</td>
        <td>{{ row.flips }}<span class="interval">{{ row.mcnemar }}</span></td>
        {% if row.rates %}
        <td>{{ m.pair(row.rates[0].hallucination, row.rates[1].hallucination) }}</td>
        <td>{{ m.pair(row.rates[0].abstention, row.rates[1].abstention) }}</td>
        <td>{{ m.pair(row.rates[0].attempted, row.rates[1].attempted) }}</td>
        {% else %}
        <td colspan="3"><span class="none">– {{ ui.not_measured }}</span></td>
        {% endif %}
        <td class="words">{{ m.state(row.state) }}</td>
      </tr>
    {% endfor %}
    </tbody>
  </table>
  </div>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Always: it is the forest plot as a table."""
    return True


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Families first, then all together."""
    return {"rows": [*block.families, block.pooled]}
