"""From a comparison to the files of its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
from evalkit.report.html import render_html
from evalkit.report.junit import Undecided, render_junit
from evalkit.report.markdown import render_markdown
from evalkit.report.model import View
from evalkit.report.store import dump_comparison
from evalkit.report.view import build_view
from evalkit.results import Comparison

COMPARISON, HTML, MARKDOWN, JUNIT = "comparison.json", "report.html", "report.md", "junit.xml"


@dataclass(frozen=True, slots=True)
class Destinations:
    """Further places for a copy of each form; `None` for none.

    `inconclusive` is what an undecided test counts as in JUnit.
    """

    html: Path | None = None
    markdown: Path | None = None
    junit: Path | None = None
    inconclusive: Undecided = "skipped"


def write_comparison(folder: Path, comparison: Comparison) -> Path:
    """Write `comparison.json`.

    Raises:
        StoreError: When it cannot be written.
    """
    path = folder / COMPARISON
    _write(path, dump_comparison(comparison))
    return path


def write_reports(
    folder: Path, comparison: Comparison, *, lang: str, also: Destinations
) -> tuple[View, dict[str, Any]]:
    """Render every form into the folder, and copies where they are wanted.

    Returns:
        The view-model, and the path of each file by its form.

    Raises:
        StoreError: When one cannot be written.
    """
    view = build_view(comparison, lang)
    forms = {
        "html": (folder / HTML, also.html, render_html(view)),
        "markdown": (folder / MARKDOWN, also.markdown, render_markdown(view)),
        "junit": (folder / JUNIT, also.junit, render_junit(view, inconclusive=also.inconclusive)),
    }
    for path, copy, text in forms.values():
        data = text.encode("utf-8")
        _write(path, data)
        if copy is not None:
            _write(copy, data)
    paths = {name: str(path) for name, (path, _, _) in forms.items()}
    return view, {**paths, "comparison": str(folder / COMPARISON)}


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole, and the folders that it lies in.

    Raises:
        StoreError: When it cannot be written.
    """
    _write(path, text.encode("utf-8"))


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, [data])
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
