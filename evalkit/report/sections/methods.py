"""The methods in words, with their references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import View

ORDER = 10

TEMPLATE = """\
<section>
  <h2>{{ ui.methods }}</h2>
  <dl class="methods">
  {% for name, text in view.methods %}
    <div><dt>{{ name }}</dt><dd>{{ text }}</dd></div>
  {% endfor %}
  </dl>
</section>
"""


def applies(view: View) -> bool:
    """Always."""
    return True


def context(view: View) -> Mapping[str, Any]:
    """Nothing more."""
    return {}
