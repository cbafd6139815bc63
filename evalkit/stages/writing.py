"""From a comparison to the files of its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from evalkit.capacities import StoredCapacity
from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
from evalkit.performance import Performance
from evalkit.report.capacity_store import CAPACITY_FILE, dump_capacity, load_capacity
from evalkit.report.explorer import Exploration
from evalkit.report.explorer_block import explorer_block
from evalkit.report.html import page_parts
from evalkit.report.junit import Undecided, render_junit
from evalkit.report.markdown import render_markdown
from evalkit.report.model import View
from evalkit.report.performance_store import (
    PERFORMANCE_FILE,
    dump_performance,
    load_performance,
)
from evalkit.report.soak import soak_view
from evalkit.report.soak_html import render_soak_page
from evalkit.report.soak_store import SOAK_FILE, dump_soak, load_soak
from evalkit.report.speculation_routes import dump_routing
from evalkit.report.store import dump_comparison
from evalkit.report.view import build_view
from evalkit.report.words import Words
from evalkit.results import Comparison
from evalkit.stability import Stability
from evalkit.stages.embedding import Embedding, embedded_pairs

T = TypeVar("T")

COMPARISON, HTML, MARKDOWN, JUNIT = "comparison.json", "report.html", "report.md", "junit.xml"
ROUTING = "routing.yaml"
SOAK_PAGE = "soak.html"


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
    _write(path, [dump_comparison(comparison)])
    return path


def render_page(
    folder: Path,
    comparison: Comparison,
    lang: str,
    embedding: Embedding | None = None,
    pairs: Exploration | None = None,
) -> tuple[View, list[bytes]]:
    """Return the view-model and the page with its explorer, in UTF-8 and in pieces.

    Args:
        folder: Of the comparison.
        comparison: What it says.
        lang: Of all texts.
        embedding: Which pairs the page holds.
        pairs: Of a comparison that has just been made; see `embedded_pairs`.
    """
    words = Words(lang)
    embedded = embedded_pairs(folder, comparison, words, embedding or Embedding(), pairs)
    view = replace(view_of(folder, comparison, lang), explorer=explorer_block(words, embedded))
    return view, list(page_parts(view, embedded))


def write_reports(
    folder: Path,
    comparison: Comparison,
    *,
    lang: str,
    also: Destinations,
    embedding: Embedding | None = None,
    pairs: Exploration | None = None,
) -> tuple[View, dict[str, Any]]:
    """Render every form into the folder, and copies where they are wanted.

    Args:
        folder: Of the comparison.
        comparison: What it says.
        lang: Of all texts.
        also: Further places.
        embedding: Which pairs the page holds.
        pairs: Of a comparison that has just been made; see `embedded_pairs`.

    Returns:
        The view-model, and the path of each file by its form.

    Raises:
        StoreError: When one cannot be written.
    """
    view, page = render_page(folder, comparison, lang, embedding, pairs)
    junit = render_junit(view, inconclusive=also.inconclusive)
    forms = {
        "html": (folder / HTML, also.html, page),
        "markdown": (folder / MARKDOWN, also.markdown, [render_markdown(view).encode()]),
        "junit": (folder / JUNIT, also.junit, [junit.encode()]),
    }
    for path, copy, parts in forms.values():
        _write(path, parts)
        if copy is not None:
            _write(copy, parts)
    paths = {name: str(path) for name, (path, _, _) in forms.items()}
    return view, {**paths, "comparison": str(folder / COMPARISON)}


def write_performance(folder: Path, found: Performance) -> Path:
    """Write `performance.json`.

    Raises:
        StoreError: When it cannot be written.
    """
    path = folder / PERFORMANCE_FILE
    _write(path, [dump_performance(found)])
    return path


def write_routing(folder: Path, found: Performance) -> Path | None:
    """Write `routing.yaml`, where speculation was measured.

    Raises:
        StoreError: When it cannot be written.
    """
    if not found.speculation:
        return None
    path = folder / ROUTING
    write_text(path, dump_routing(found))
    return path


def write_soak(folder: Path, found: Stability, lang: str) -> tuple[Path, Path]:
    """Write `soak.json` and `soak.html`.

    Raises:
        StoreError: When one cannot be written.
    """
    path, page = folder / SOAK_FILE, folder / SOAK_PAGE
    _write(path, [dump_soak(found)])
    write_text(page, render_soak_page(soak_view(Words(lang), found)))
    return path, page


def write_capacity(folder: Path, found: StoredCapacity) -> Path:
    """Write `capacity.json`.

    Raises:
        StoreError: When it cannot be written.
    """
    path = folder / CAPACITY_FILE
    _write(path, [dump_capacity(found)])
    return path


def view_of(folder: Path, comparison: Comparison, lang: str) -> View:
    """Return the view-model of a comparison, with what was measured as it lies beside it.

    A file that cannot be read must not keep anybody from the verdict: it is left out, and the
    report says so.
    """
    performance, unread = _beside(load_performance, folder)
    capacity, also_unread = _beside(load_capacity, folder)
    soak, unread_soak = _beside(load_soak, folder)
    notes = (*comparison.notes, *unread, *also_unread, *unread_soak)
    return build_view(replace(comparison, notes=notes), lang, performance, capacity, soak)


def _beside(load: Callable[[Path], T | None], folder: Path) -> tuple[T | None, tuple[str, ...]]:
    try:
        return load(folder), ()
    except StoreError as error:
        return None, (error.message,)


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole, and the folders that it lies in.

    Raises:
        StoreError: When it cannot be written.
    """
    _write(path, [text.encode("utf-8")])


def _write(path: Path, parts: Iterable[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, parts)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
