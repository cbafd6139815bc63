"""The line of releases as a page, for the console and for machines: one view-model."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evalkit.report.history import build_history, history_summary
from evalkit.report.history_console import render_history_console
from evalkit.report.history_html import render_history
from evalkit.report.history_model import HistoryView
from evalkit.report.html import source_hash
from evalkit.stages.history import read_history
from evalkit.stages.writing import write_comparison
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE

STATES = ("SHIP", "HOLD", "SHIP", "INCONCLUSIVE", "INVALID")


def line(
    root: Path, *states: str, hostile: str | None = None, lang: str = "en", names: Any = ()
) -> HistoryView:
    for place, state in enumerate(states or STATES):
        made = comparison(state, hostile=hostile, names=names)
        # A history shows no answers.
        made = replace(made, results=tuple(replace(r, samples=()) for r in made.results))
        seed = {**made.settings, "seed": int(place > 2)}
        created = f"2026-{place % 12 + 1:02d}-{place // 12 + 1:02d}T09:00:00+00:00"
        write_comparison(root / f"v{place}", replace(made, created=created, settings=seed))
    return build_history(read_history(root), lang)


class Texts(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_page_console_and_json_agree(tmp_path: Path, lang: str) -> None:
    view = line(tmp_path, lang=lang)
    told, page = history_summary(view), Texts(render_history(view))
    console = " ".join(render_history_console(view, 400, color=False).split())
    assert [row["verdict"] for row in told["releases"]] == list(STATES)
    assert told["rollback"]["folder"] == str(tmp_path / "v2")
    for row in view.rows:
        accuracy = row.metrics["accuracy"]
        for where in (page.text, console):
            assert row.folder in where
            assert f"{row.gate.icon} {row.gate.word}" in where
            assert accuracy.text in where
            assert accuracy.interval in where
    for text in (view.sentence, view.rollback, *view.breaks):
        assert text in page.text
        assert text in console
    assert (
        told["releases"][1]["metrics"]["accuracy"]["value"]
        == view.rows[1].metrics["accuracy"].value
    )
    # The seed changed at the fourth: there the line is broken, and nowhere else.
    assert [bool(row["breaks"]) for row in told["releases"]] == [False, False, False, True, False]


def test_the_line_joins_what_is_comparable(tmp_path: Path) -> None:
    view = line(tmp_path)
    page = render_history(view)
    for plot in view.plots:
        assert [point.joined for point in plot.points][1:] == [True, True, False, False]
        chart = page[page.index(f'id="history-{plot.key}-title"') :]
        chart = chart[: chart.index("</svg>")]
        assert len(re.findall('class="series"', chart)) == 2
        assert len(re.findall('class="break"', chart)) == 1
        assert len(re.findall("<circle", chart)) == len(STATES)


def test_many_releases_and_only_one(tmp_path: Path) -> None:
    view = line(tmp_path / "many", *["SHIP"] * 60)
    page = render_history(view)
    xs = [float(x) for x in re.findall(r'<text class="fine" x="([\d.]+)" y="258', page)]
    assert all(b - a > 80 for a, b in pairwise(xs) if b > a)
    assert "<svg" in render_history(line(tmp_path / "one", "HOLD"))


def test_it_is_offline_and_locked(tmp_path: Path) -> None:
    page = render_history(line(tmp_path))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    styles = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy is not None
    assert styles is not None
    allowed = unescape(policy[1])
    assert "default-src 'none'" in allowed
    assert source_hash(styles[1]) in allowed
    assert not {"script", "iframe", "img", "object", "form"} & Texts(page).tags
    assert not re.findall(r'(?:src|href)="(?!#|data:,)', page)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_text(tmp_path: Path, text: str) -> None:
    view = line(tmp_path, "SHIP", "HOLD", hostile=text, names=[text[:80]])
    page = Texts(render_history(view))
    assert not {"script", "iframe", "img", "object", "form", "b"} & page.tags
    assert "\x1b" not in render_history_console(view, 100, color=False)
    history_summary(view)
