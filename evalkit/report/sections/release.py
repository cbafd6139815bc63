"""The release that is the baseline: what is new since then, and what to go back to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.report.model import Table, View

ORDER = 5

TEMPLATE = """\
{% import "macros.html.j2" as m %}
<section id="release">
  <h2>{{ ui.release }}</h2>
  <p class="lead"><bdi>{{ view.release.sentence }}</bdi></p>
  {% if view.release.notes %}
  <ul class="plain">
  {% for text in view.release.notes %}<li><bdi>{{ text }}</bdi></li>{% endfor %}
  </ul>
  {% endif %}
  {% for change, data in changes %}
  <h3><bdi>{{ change.text }}</bdi></h3>
  {% if data.rows %}{{ m.table(data, quiet=true) }}{% endif %}
  {% endfor %}
  <h3>{{ ui.rollback }}</h3>
  <p class="lead"><bdi>{{ view.release.rollback }}</bdi></p>
  {% if view.release.target %}{{ m.facts(view.release.target.facts) }}{% endif %}
</section>
"""


def applies(view: View) -> bool:
    """Only where a stored release is the baseline."""
    return view.release is not None


def context(view: View) -> Mapping[str, Any]:
    """Return a table of each change."""
    ui = view.ui
    columns = (ui["changed_field"], ui["before"], ui["after"])
    changes = view.release.changes if view.release is not None else ()
    return {
        "changes": [
            (change, Table(change.text, columns, change.fields, words=(1, 2))) for change in changes
        ]
    }
