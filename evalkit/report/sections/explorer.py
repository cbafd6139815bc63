"""Single pairs: found by filters and search, and read side by side. It needs JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import View

ORDER = 8

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="explorer" class="explorer">
  <h2>{{ ui.explorer }}</h2>
  {% if block.problem %}
  <p class="notice">{{ block.problem }}</p>
  {% else %}
  <p class="lead">{{ block.lead }}</p>
  <p class="notice" id="explorer-noscript">{{ ui.explorer_noscript }}</p>
  <p class="notice" id="explorer-old" hidden>{{ ui.explorer_old }}</p>
  <p class="notice" id="explorer-broken" hidden>{{ ui.explorer_broken }}</p>
  <div class="explorer-app" id="explorer-app" hidden></div>
  {% if block.table %}
  <details>
    <summary>{{ block.table.caption }}</summary>
    {{ m.table(block.table, quiet=true) }}
  </details>
  {% endif %}
  {% endif %}
</section>
"""


def applies(view: View) -> bool:
    """Whenever a page was made from a folder; a comparison alone has no place for it."""
    return view.explorer is not None


def context(view: View) -> Mapping[str, Any]:
    """Return what is embedded, or why nothing is."""
    return {"block": view.explorer}
