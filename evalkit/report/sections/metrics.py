"""Every metric with its test: what the gate really read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import CandidateBlock, View

ORDER = 20

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section>
  <h3>{{ ui.metrics }}</h3>
  <div class="scroll" tabindex="0" role="group" aria-label="{{ ui.metrics }}">
  <table class="data">
    <thead><tr>
      <th scope="col">{{ ui.metric }}</th>
      <th scope="col" class="words">{{ ui.family }}</th>
      <th scope="col">{{ ui.pairs }}</th>
      <th scope="col">{{ ui.difference }}</th>
      <th scope="col">{{ ui.margin }}</th>
      <th scope="col">{{ ui.p_noninferior }}</th>
      <th scope="col">{{ ui.p_degraded }}</th>
      <th scope="col" class="words">{{ ui.state }}</th>
    </tr></thead>
    <tbody>
    {% for row in block.metrics %}
      <tr>
        <th scope="row">{{ row.metric_label }}</th>
        <td class="words"><bdi>{{ row.scope_label }}</bdi></td>
        <td>{{ row.n_text }}</td>
        <td>{{ m.number(row.difference) }}</td>
        <td>{{ row.margin }}</td>
        <td>{{ row.p_noninferior }}</td>
        <td>{{ row.p_degraded }}</td>
        <td class="words">{{ m.state(row.state) }}</td>
      </tr>
    {% endfor %}
    </tbody>
  </table>
  </div>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether anything was tested."""
    return bool(block.metrics)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
