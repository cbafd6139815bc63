"""The report as one offline HTML file.

Jinja2 escapes everything; the Content-Security-Policy allows one style sheet and the
explorer's script, by their hashes, and nothing else: no other script, no request, no form, and
no way to make markup of a text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from evalkit.report.explorer import Embedded, element
from evalkit.report.model import CandidateBlock, View
from evalkit.report.sections import CANDIDATE_SECTIONS, PAGE_SECTIONS
from evalkit.resources import resource_dir

_POLICY: Final = (
    "default-src 'none'; style-src '{style}'; {script}img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_SCRIPTS: Final = ("text", "diff", "data", "list", "detail", "main")
_END: Final = "</body>"


def page_parts(
    view: View, embedded: Embedded | str, marking: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Yield a report with its explorer, piece by piece, in UTF-8.

    The chunks come last, so that all else is usable before they are read.

    Args:
        view: With `explorer`.
        embedded: What the explorer shows, or why it shows nothing.
        marking: Words for marks, in a page that `evalkit view` serves; it may ask the
            server that it came from, and nobody else.
    """
    if isinstance(embedded, str):
        yield render_html(view).encode()
        return
    index = embedded.index
    if marking is not None:
        index += element("review", orjson.dumps(marking)).decode("ascii")
    page, end, rest = render_html(view, index, serving=marking is not None).rpartition(_END)
    yield page.encode()
    yield from embedded.chunks
    yield f"{end}{rest}".encode()


def render_html(view: View, index: str | None = None, *, serving: bool = False) -> str:
    """Return the report as one HTML document without any external reference.

    Args:
        view: The view-model.
        index: The explorer's index, an element; `None` for a page without a script.
        serving: Whether the page takes marks, and may ask its own server.
    """
    templates = environment()
    styles = _source("styles.css") + (_source("explorer.css") if view.explorer else "")
    script = "" if index is None else explorer_script(serving=serving)
    blocks = [(block, list(_candidate_sections(view, block))) for block in view.candidates]
    return templates.get_template("page.html.j2").render(
        view=view,
        ui=view.ui,
        blocks=blocks,
        page_sections=list(_page_sections(view)),
        styles=Markup(styles),
        script=Markup(script),
        index=Markup(index or ""),
        policy=content_policy(styles, script, serving=serving),
    )


@cache
def explorer_script(*, serving: bool = False) -> str:
    """Return the explorer's script: its files in one scope of their own."""
    names = (*_SCRIPTS[:-1], "review", _SCRIPTS[-1]) if serving else _SCRIPTS
    sources = "\n".join(_source(f"explorer.{name}.js") for name in names)
    return f'(() => {{\n"use strict";\n{sources}\n}})();'


def _source(name: str) -> str:
    return (resource_dir("templates") / name).read_text(encoding="utf-8")


def content_policy(styles: str, script: str = "", *, serving: bool = False) -> str:
    """Return the Content-Security-Policy that allows one style sheet and perhaps one script."""
    allowed = f"script-src '{source_hash(script)}'; " if script else ""
    allowed += "connect-src 'self'; " if script and serving else ""
    return _POLICY.format(style=source_hash(styles), script=allowed)


def source_hash(source: str) -> str:
    """Return the Content-Security-Policy source of an inline style or script."""
    digest = hashlib.sha256(source.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def compile_templates() -> None:
    """Compile what every page needs; it takes longer than to render a small one."""
    environment().get_template("page.html.j2")
    for source in (
        *(section.TEMPLATE for section in CANDIDATE_SECTIONS),
        *(section.TEMPLATE for section in PAGE_SECTIONS),
    ):
        _compiled(source)


@cache
def _compiled(source: str) -> Template:
    return environment().from_string(source)


def _candidate_sections(view: View, block: CandidateBlock) -> Iterator[Markup]:
    for section in sorted(CANDIDATE_SECTIONS, key=lambda item: item.ORDER):
        if section.applies(view, block):
            context = {"view": view, "ui": view.ui, "block": block}
            made = _compiled(section.TEMPLATE).render(context | dict(section.context(view, block)))
            yield Markup(made)


def _page_sections(view: View) -> Iterator[Markup]:
    for section in sorted(PAGE_SECTIONS, key=lambda item: item.ORDER):
        if section.applies(view):
            context = {"view": view, "ui": view.ui}
            made = _compiled(section.TEMPLATE).render(context | dict(section.context(view)))
            yield Markup(made)


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
