"""A comparison as a piece of HTML for notebooks.

It holds no script, no style sheet and no link: a notebook's own page stays as it is, in light
and dark, and nothing that a model said is in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup, escape

from evalkit.report.model import CandidateBlock, View

_START = "text-align:start"


def render_fragment(view: View, folder: str) -> str:
    """Return verdict, numbers and family table; `folder` says where the whole report is."""
    return str(Markup("\n").join(_parts(view, folder)))


def _parts(view: View, folder: str) -> Iterator[Markup]:
    gate = view.gate
    yield Markup('<div lang="{}">').format(view.html_lang)
    yield Markup("<p><strong>{} {}</strong> ({}) <bdi>{}</bdi></p>").format(
        gate.icon, gate.word, gate.exit_text, view.title
    )
    yield Markup("<p><bdi>{}</bdi></p>").format(view.sentence)
    if view.release is not None:
        for change in view.release.changes:
            yield Markup("<p><bdi>{}</bdi></p>").format(change.text)
    for block in view.candidates:
        yield from _block(view, block)
    yield Markup("<p>{}: <code>{}</code></p></div>").format(view.ui["whole_report"], folder)


def _block(view: View, block: CandidateBlock) -> Iterator[Markup]:
    ui = view.ui
    if len(view.candidates) > 1:
        yield Markup("<p><strong>{} {}</strong> <bdi>{}</bdi></p>").format(
            block.gate.icon, block.gate.word, block.title
        )
    heads = (ui["family"], ui["pairs"], view.baseline, block.endpoint, ui["difference"])
    yield Markup("<table><thead><tr>")
    for place, head in enumerate((*heads, ui["state"])):
        yield _cell("th", head, 'scope="col"', start=place in (0, 5))
    yield Markup("</tr></thead><tbody>")
    for row in (*block.families, block.pooled):
        cells = (row.n_text, row.baseline.text, row.candidate.text, row.difference.told)
        yield Markup("<tr>") + _cell("th", row.label, 'scope="row"', start=True)
        for text in cells:
            yield _cell("td", text)
        yield _cell("td", f"{row.state.icon} {row.state.text}", start=True) + Markup("</tr>")
    yield Markup("</tbody></table>")


def _cell(tag: str, text: str, attribute: str = "", *, start: bool = False) -> Markup:
    style = f' style="{_START}"' if start else ""
    space = f" {attribute}" if attribute else ""
    return Markup(f"<{tag}{space}{style}><bdi>{escape(text)}</bdi></{tag}>")
