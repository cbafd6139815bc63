"""What missing answers could do to each metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 25

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h3>{{ ui.missing }}</h3>
  <p class="lead">{{ ui.missing_lead }}</p>
  {{ m.table(block.missing, true) }}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Only where an answer is missing."""
    return block.missing is not None


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
