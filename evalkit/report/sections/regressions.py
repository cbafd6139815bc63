"""Right before, wrong now: the first twenty are open, the others folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 50
OPEN = 20

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-regressions">
  <h3>{{ ui.regressions }} <span class="count">{{ flips.total_text }}</span></h3>
  <p class="lead">{{ ui.regressions_lead }}{% if flips.note %} {{ flips.note }}{% endif %}
  {% if view.explorer and not view.explorer.problem and flips.total %}
  <a href="#/?candidate={{ block.endpoint | urlencode }}&amp;transition=regression">\
{{ ui.explorer_link }}</a>.
  {% endif %}</p>
  {% if not flips.cards %}<p class="fine">{{ ui.none_found }}</p>{% endif %}
  {% for card in flips.cards[:opened] %}{{ m.sample(card, ui, open=true) }}{% endfor %}
  {% if flips.cards[opened:] %}
  <details class="more">
    <summary>{{ ui.show_others }} ({{ flips.cards[opened:] | length }})</summary>
    {% for card in flips.cards[opened:] %}{{ m.sample(card, ui, open=false) }}{% endfor %}
  </details>
  {% endif %}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Always: no regression is news too."""
    return True


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """The cards, and how many are open."""
    return {"flips": block.regressions, "opened": OPEN}
