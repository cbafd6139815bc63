"""Hallucination, pair by pair: which outcome went over into which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 11

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h3>{{ ui.transitions }}</h3>
  <p class="lead">{{ ui.transitions_lead }}</p>
  {{ m.table(block.transitions) }}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether abstaining was possible anywhere."""
    return block.transitions is not None


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
