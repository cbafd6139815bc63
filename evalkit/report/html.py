"""The report as one offline HTML file.

Jinja2 escapes everything; the Content-Security-Policy allows one style sheet and the
explorer's script, by their hashes, and nothing else: no other script, no request, no form, and
no way to make markup of a text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evalkit.report.explorer import Embedded
from evalkit.report.model import CandidateBlock, View
from evalkit.report.sections import CANDIDATE_SECTIONS, PAGE_SECTIONS
from evalkit.resources import resource_dir

_POLICY: Final = (
    "default-src 'none'; style-src '{style}'; {script}img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_SCRIPTS: Final = ("text", "diff", "data", "list", "detail", "main")
_END: Final = "</body>"


def page_parts(view: View, embedded: Embedded | str) -> Iterator[bytes]:
    """Yield a report with its explorer, piece by piece, in UTF-8.

    The chunks come last, so that all else is usable before they are read.

    Args:
        view: With `explorer`.
        embedded: What the explorer shows, or why it shows nothing.
    """
    if isinstance(embedded, str):
        yield render_html(view).encode()
        return
    page, end, rest = render_html(view, embedded.index).rpartition(_END)
    yield page.encode()
    yield from embedded.chunks
    yield f"{end}{rest}".encode()


def render_html(view: View, index: str | None = None) -> str:
    """Return the report as one HTML document without any external reference.

    Args:
        view: The view-model.
        index: The explorer's index, an element; `None` for a page without a script.
    """
    templates = environment()
    styles = _source("styles.css") + (_source("explorer.css") if view.explorer else "")
    script = "" if index is None else explorer_script()
    blocks = [(block, list(_candidate_sections(view, block))) for block in view.candidates]
    return templates.get_template("page.html.j2").render(
        view=view,
        ui=view.ui,
        blocks=blocks,
        page_sections=list(_page_sections(view)),
        styles=Markup(styles),
        script=Markup(script),
        index=Markup(index or ""),
        policy=content_policy(styles, script),
    )


@cache
def explorer_script() -> str:
    """Return the explorer's script: its files in one scope of their own."""
    sources = "\n".join(_source(f"explorer.{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{sources}\n}})();'


def _source(name: str) -> str:
    return (resource_dir("templates") / name).read_text(encoding="utf-8")


def content_policy(styles: str, script: str = "") -> str:
    """Return the Content-Security-Policy that allows one style sheet and perhaps one script."""
    allowed = f"script-src '{source_hash(script)}'; " if script else ""
    return _POLICY.format(style=source_hash(styles), script=allowed)


def source_hash(source: str) -> str:
    """Return the Content-Security-Policy source of an inline style or script."""
    digest = hashlib.sha256(source.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _candidate_sections(view: View, block: CandidateBlock) -> Iterator[Markup]:
    templates = environment()
    for section in sorted(CANDIDATE_SECTIONS, key=lambda item: item.ORDER):
        if section.applies(view, block):
            template = templates.from_string(section.TEMPLATE)
            context = {"view": view, "ui": view.ui, "block": block}
            yield Markup(template.render(context | dict(section.context(view, block))))


def _page_sections(view: View) -> Iterator[Markup]:
    templates = environment()
    for section in sorted(PAGE_SECTIONS, key=lambda item: item.ORDER):
        if section.applies(view):
            template = templates.from_string(section.TEMPLATE)
            context = {"view": view, "ui": view.ui}
            yield Markup(template.render(context | dict(section.context(view))))


@cache
def environment() -> Environment:
    """Return the templates of all pages: everything that they show is escaped."""
    return Environment(
        loader=FileSystemLoader(resource_dir("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
