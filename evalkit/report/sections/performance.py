"""How fast the endpoints are, and what they hold: what a probe measured beside the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import View

ORDER = 7

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="performance">
  <h2>{{ ui.performance }}</h2>
  <p class="lead">{{ view.performance.lead }}</p>
  {% if view.performance.remarks %}
  <ul class="plain">
  {% for text in view.performance.remarks %}<li><bdi>{{ text }}</bdi></li>{% endfor %}
  </ul>
  {% endif %}
  {% for data in view.performance.tables %}{{ m.table(data) }}{% endfor %}
</section>
"""


def applies(view: View) -> bool:
    """Only where it was measured."""
    return view.performance is not None


def context(view: View) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
