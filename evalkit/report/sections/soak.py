"""How an endpoint stood hours of load: what a soak found beside the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import View
from evalkit.report.soak_chart import soak_charts

ORDER = 8

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="soak">
  <h2>{{ ui.soak }}: <bdi>{{ view.soak.endpoint }}</bdi></h2>
  {{ m.gate(view.soak.gate) }}
  <p class="sentence"><bdi>{{ view.soak.sentence }}</bdi></p>
  {% if view.soak.open %}<p class="lead"><bdi>{{ view.soak.open }}</bdi></p>{% endif %}
  {% if view.soak.findings %}
  <ul class="plain">
  {% for text in view.soak.findings %}<li><bdi>✗ {{ text }}</bdi></li>{% endfor %}
  </ul>
  {% endif %}
  {% for title, chart in charts %}
  <div class="scroll" tabindex="0" role="region" aria-label="{{ title }}">{{ chart }}</div>
  {% endfor %}
  {% for data in view.soak.tables %}{{ m.table(data) }}{% endfor %}
  {% if view.soak.remarks %}
  <ul class="plain">
  {% for text in view.soak.remarks %}<li><bdi>{{ text }}</bdi></li>{% endfor %}
  </ul>
  {% endif %}
</section>
"""


def applies(view: View) -> bool:
    """Only where there was one."""
    return view.soak is not None


def context(view: View) -> Mapping[str, Any]:
    """Return the charts."""
    return {"charts": [] if view.soak is None else soak_charts(view.soak)}
