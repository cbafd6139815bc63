"""What each policy says, where one came after the run or the runs had different ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 2

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h3>{{ ui.policies }}</h3>
  <p class="lead">{{ ui.policies_lead }}</p>
  {{ m.table(table, true) }}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Only where there is more than one policy."""
    return bool(block.policies)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """The table."""
    return {"table": block.policies_table}
