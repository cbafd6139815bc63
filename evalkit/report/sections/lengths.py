"""Whether the candidate falls back on long prompts or in long answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.curves import curve
from evalkit.report.model import CandidateBlock, View

ORDER = 16

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="{{ block.key }}-lengths">
  <h3>{{ ui.lengths }}</h3>
  <p class="lead">{{ ui.lengths_lead }}</p>
  <div class="curves">
  {% for one, picture in drawn %}
    <figure class="plot">
      {{ picture }}
      <figcaption class="vh">{{ one.table.caption }}</figcaption>
      <details class="more">
        <summary>{{ ui.as_table }}</summary>
        {{ m.table(one.table, quiet=true) }}
      </details>
    </figure>
  {% endfor %}
  </div>
</section>
"""


def applies(view: View, block: CandidateBlock) -> bool:
    """Whether pairs of several lengths were compared."""
    return bool(block.lengths)


def context(view: View, block: CandidateBlock) -> Mapping[str, Any]:
    """The curves, drawn."""
    return {"drawn": [(one, curve(one.curve, block.key)) for one in block.lengths]}
