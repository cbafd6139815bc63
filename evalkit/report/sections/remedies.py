"""What to do, in order, each with the finding that calls for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 5

TEMPLATE = """\
<section id="{{ block.key }}-remedies">
  <h3>{{ ui.remedies }}</h3>
  <ol class="remedies">
  {% for item in block.remedies %}
    <li><bdi>{{ item.text }}</bdi></li>
  {% endfor %}
  </ol>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether a finding calls for anything."""
    return bool(block.remedies)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
