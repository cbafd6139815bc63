"""How often the baseline differs from itself, and the candidate beyond that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 35

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-noise">
  <h3>{{ ui.noise }}</h3>
  <p class="lead">{{ block.noise.lead }}</p>
  {{ m.table(block.noise.table, quiet=true) }}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether it was measured."""
    return block.noise is not None


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
