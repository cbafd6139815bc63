"""The report as one offline HTML file.

Jinja2 escapes everything; the Content-Security-Policy allows one style sheet, by its hash,
and nothing else: no script, no request, no form.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evalkit.report.model import CandidateBlock, View
from evalkit.report.sections import CANDIDATE_SECTIONS, PAGE_SECTIONS
from evalkit.resources import resource_dir

POLICY: Final = (
    "default-src 'none'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def render_html(view: View) -> str:
    """Return the report as one HTML document without any external reference."""
    templates = environment()
    styles = (resource_dir("templates") / "styles.css").read_text(encoding="utf-8")
    blocks = [(block, list(_candidate_sections(view, block))) for block in view.candidates]
    return templates.get_template("page.html.j2").render(
        view=view,
        ui=view.ui,
        blocks=blocks,
        page_sections=list(_page_sections(view)),
        styles=Markup(styles),
        policy=POLICY.format(style=source_hash(styles)),
    )


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
