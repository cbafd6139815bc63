"""Where the loss sits: flagged slices open, all the others folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 15

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-slices">
  <h3>{{ ui.slices }}</h3>
  <p class="lead">{{ slices.lead }}</p>
  {% if slices.flagged %}{{ m.table(slices.flagged, quiet=true) }}{% endif %}
  {% if slices.tested %}
  <details class="more">
    <summary>{{ ui.show_all }} ({{ slices.tested.rows | length }})</summary>
    {{ m.table(slices.tested, quiet=true) }}
  </details>
  {% endif %}
  {% if slices.too_few %}<p class="fine"><bdi>{{ slices.too_few }}</bdi></p>{% endif %}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether there are slices."""
    return bool(block.slices.rows)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """The screen."""
    return {"slices": block.slices}
