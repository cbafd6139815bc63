"""pass@k of both arms, where prompts were asked several times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 12

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-passes">
  <h3>{{ ui.passes }}</h3>
  <p class="lead">{{ block.passes.lead }}</p>
  {{ m.table(block.passes.table, quiet=true) }}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether prompts were asked several times."""
    return block.passes is not None


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
