"""The page and the console of a capacity plan: one set of numbers, safe, and for everybody."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from evalkit.capacities import COMPONENTS, PARTS, Capacity, Note
from evalkit.capacity.budget import Draft
from evalkit.report.capacity import build_capacity
from evalkit.report.capacity_page import render_capacity_console, render_capacity_page
from evalkit.report.html import source_hash
from evalkit.report.words import LANGUAGES, Words
from tests.capacity.helpers import config, model, plan
from tests.report.browsing import Opened
from tests.report.hostile import HOSTILE
from tests.report.test_access import violations
from tests.report.test_history import Texts


def found(device: int | None = 40 * 10**9, **changes: Any) -> Capacity:
    whole = model(config("Qwen3.6-35B-A3B"))
    made = plan(
        whole, "int4", "fp8", "bf16", draft=Draft(), context=65_536, concurrency=4, device=device
    )
    return replace(made, **changes)


@pytest.mark.parametrize("lang", sorted(LANGUAGES))
@pytest.mark.parametrize("device", [None, 40 * 10**9, 10**9])
def test_page_and_console_say_the_same(lang: str, device: int | None) -> None:
    view = build_capacity(found(device), lang)
    page, console = (
        Texts(render_capacity_page(view)).text,
        render_capacity_console(view, 200, False),
    )
    tables = [view.table, *([view.rooms] if view.rooms else [])]
    cells = [cell for table in tables for row in table.rows for cell in row]
    for text in (view.title, view.sentence, view.work, *view.notes, *cells):
        assert text in page
        assert " ".join(text.split()) in " ".join(console.split())
    assert ("✓" in view.sentence + str(view.table)) is (device == 40 * 10**9)


def test_the_chart_is_as_long_as_its_numbers() -> None:
    made = found()
    page = render_capacity_page(build_capacity(made))
    groups = re.findall(r'<g class="need">(.*?)</g>', page)
    assert len(groups) == len(made.footprints)
    scales = []
    for group, footprint in zip(groups, made.footprints, strict=True):
        widths = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', group)]
        assert len(widths) == len(footprint.components)
        starts = [float(x) for x in re.findall(r'<rect[^>]* x="([\d.]+)"', group)]
        ends = [x + width for x, width in zip(starts, widths, strict=True)]
        assert starts[1:] == pytest.approx(ends[:-1], abs=0.6)
        scales.append(sum(widths) / footprint.needed)
    assert max(scales) == pytest.approx(min(scales), rel=0.02)
    line = re.search(r'<line class="margin" x1="([\d.]+)"', page)
    assert line is not None
    assert made.device is not None
    assert (float(line[1]) - 150) / made.device == pytest.approx(scales[-1], rel=0.02)


@pytest.mark.parametrize("lang", sorted(LANGUAGES))
def test_every_part_and_component_has_words(lang: str) -> None:
    words = Words(lang)
    wanted = [f"capacity.part.{key}" for key in COMPONENTS]
    wanted += [f"capacity.of.{part}" for part in PARTS]
    wanted += [f"capacity.layers.{kind}" for kind in ("full", "sliding", "latent", "linear")]
    root = Path(__file__).parents[2] / "evalkit" / "capacity"
    source = "".join(path.read_text("utf-8") for path in root.glob("*.py"))
    notes = set(re.findall(r'Note\(\s*"([a-z_]+)"', source))
    notes |= {"window", "latent", "state", "engine_vllm", "engine_llama"}
    assert len(notes) > 15
    wanted += [f"capacity.note.{key}" for key in notes]
    assert [key for key in wanted if key not in words] == []


def test_it_is_offline_and_locked() -> None:
    page = render_capacity_page(build_capacity(found()))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    styles = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy is not None
    assert styles is not None
    assert "default-src 'none'" in unescape(policy[1])
    assert source_hash(styles[1]) in unescape(policy[1])
    assert not {"script", "iframe", "img", "object", "form"} & Texts(page).tags


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_text(text: str) -> None:
    notes = (Note("assumed", {"fields": text, "where": text}),)
    made = found(model=text, architecture=text, draft=text, notes=notes)
    view = build_capacity(made)
    page = render_capacity_page(view)
    assert not {"script", "iframe", "img", "object", "form", "b"} & Texts(page).tags
    assert len(page) < 200_000
    assert "\x1b" not in render_capacity_console(view, 100, color=False)


@pytest.mark.browser
@pytest.mark.parametrize(("lang", "width", "scheme"), [("en", 1280, "light"), ("zh", 390, "dark")])
def test_axe_finds_nothing(
    browser: Any, tmp_path: Path, lang: str, width: int, scheme: str
) -> None:
    file = tmp_path / "capacity.html"
    file.write_text(render_capacity_page(build_capacity(found(), lang)), encoding="utf-8")
    opened = Opened(browser, file, width=width, height=800, scheme=scheme)
    assert violations(opened) == []
    assert opened.overflow() <= 0
    opened.check_quiet()
    opened.page.close()
