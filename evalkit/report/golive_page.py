"""The go-live checklist as one offline page that prints on one sheet, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from evalkit.report.golive_model import GoLiveView
from evalkit.report.html import content_policy, environment
from evalkit.report.markdown import escaped, table_lines
from evalkit.resources import resource_dir


def render_golive_page(view: GoLiveView) -> str:
    """Return the page: no script, no request, one style sheet that is allowed by its hash."""
    folder = resource_dir("templates")
    styles = "".join(
        (folder / name).read_text(encoding="utf-8") for name in ("styles.css", "golive.css")
    )
    return (
        environment()
        .get_template("golive.html.j2")
        .render(view=view, ui=view.ui, styles=Markup(styles), policy=content_policy(styles))
    )


def render_golive_markdown(view: GoLiveView) -> str:
    """Return the checklist with boxes that GitHub and GitLab let people tick."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: GoLiveView) -> Iterator[str]:
    yield f"# {escaped(view.title)}"
    yield ""
    if view.warning:
        yield f"> **{escaped(view.warning)}**"
        yield ""
    yield f"**{view.gate.icon} {escaped(view.gate.word)}** {escaped(view.sentence)}"
    for section in view.sections:
        yield ""
        yield f"## {escaped(section.heading)}"
        yield ""
        for item in section.lines:
            mark = f"**{escaped(view.ui['golive_missing'])}** · " if item.kind == "missing" else ""
            yield f"- [ ] {mark}{escaped(item.text)}"
        if section.table is not None:
            rows = [[escaped(cell) for cell in row] for row in section.table.rows]
            yield ""
            yield from table_lines(section.table.columns, rows)
    yield ""
    yield escaped(view.footer)
