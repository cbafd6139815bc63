"""What reviewers marked, and the verdict before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 3

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-review">
  <h3>{{ ui.review }}</h3>
  <p class="lead"><bdi>{{ review.lead }}</bdi> {{ ui.review_lead }}</p>
  {{ m.table(review.table, true) }}
  {{ m.table(review.marks) }}
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Only where something was marked."""
    return block.review is not None


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Both tables."""
    return {"review": block.review}
