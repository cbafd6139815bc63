"""How many prompts a decision needs, when there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 30

TEMPLATE = """\
<section>
  <h3>{{ ui.needed }}</h3>
  <p class="lead">{{ ui.needed_lead }}</p>
  <div class="scroll" tabindex="0" role="group" aria-label="{{ ui.needed }}">
  <table class="data">
    <thead><tr>
      <th scope="col">{{ ui.metric }}</th>
      <th scope="col">{{ ui.pairs }}</th>
      <th scope="col">{{ ui.needed_floor }}</th>
      <th scope="col">{{ ui.needed_equal }}</th>
      <th scope="col">{{ ui.needed_observed }}</th>
      <th scope="col">{{ ui.needed_more }}</th>
      {% if any_note %}<th scope="col" class="words">{{ ui.notes }}</th>{% endif %}
    </tr></thead>
    <tbody>
    {% for row in block.needed %}
      <tr>
        <th scope="row">{{ row.label }}</th>
        <td>{{ row.n }}</td><td>{{ row.floor }}</td><td>{{ row.equal_models }}</td>
        <td>{{ row.observed }}</td><td><strong>{{ row.more }}</strong></td>
        {% if any_note %}<td class="words">{{ row.note }}</td>{% endif %}
      </tr>
    {% endfor %}
    </tbody>
  </table>
  </div>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Only for an inconclusive verdict."""
    return bool(block.needed)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Whether any row carries a note."""
    return {"any_note": any(row.note for row in block.needed)}
