"""Outcomes and flags of both arms, and what the regressions come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 40

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h3>{{ ui.outcomes }}</h3>
  {{ m.table(block.outcomes) }}
  {% if block.causes %}{{ m.table(block.causes) }}{% endif %}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether anything was scored."""
    return bool(block.outcomes.rows)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
