"""Run details: endpoints with their evidence, tasksets, settings, what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import View

ORDER = 20

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h2>{{ ui.details }}</h2>
  {% if view.skipped %}
  <h3>{{ ui.skipped }}</h3>
  <ul class="plain">{% for text in view.skipped %}<li><bdi>{{ text }}</bdi></li>{% endfor %}</ul>
  {% endif %}
  {% if view.notes %}
  <h3>{{ ui.notes }}</h3>
  <ul class="plain">{% for text in view.notes %}<li><bdi>{{ text }}</bdi></li>{% endfor %}</ul>
  {% endif %}
  <h3>{{ ui.endpoints }}</h3>
  <div class="arms">
  {% for arm in view.arms %}
    <div>
      <h4>{{ arm.role }}: <bdi>{{ arm.endpoint }}</bdi></h4>
      <p class="lead"><bdi>{{ arm.label }}</bdi></p>
      {{ m.facts(arm.facts) }}
    </div>
  {% endfor %}
  </div>
  {% if view.tasksets.rows %}
  <h3>{{ ui.tasksets }}</h3>
  {{ m.table(view.tasksets, quiet=true) }}
  {% endif %}
  <div class="arms">
  {% for title, rows in view.details if rows %}
    <div><h4>{{ title }}</h4>{{ m.facts(rows) }}</div>
  {% endfor %}
  </div>
</section>
"""


def applies(view: View) -> bool:
    """Always."""
    return True


def context(view: View) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
