"""Wrong before, right now: folded, since nobody needs to act on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 60

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h3>{{ ui.improvements }} <span class="count">{{ flips.total_text }}</span></h3>
  <p class="lead">{{ ui.improvements_lead }}{% if flips.note %} {{ flips.note }}{% endif %}</p>
  <details class="more">
    <summary>{{ ui.show_all }} ({{ flips.cards | length }})</summary>
    {% for card in flips.cards %}{{ m.sample(card, ui, open=false) }}{% endfor %}
  </details>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether there are any."""
    return bool(block.improvements.cards)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """The cards."""
    return {"flips": block.improvements}
