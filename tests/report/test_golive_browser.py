"""Gains on the first screen, and the go-live checklist on one sheet, in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.operations.thresholds import Settings
from evalkit.report.golive import build_golive
from evalkit.report.golive_page import render_golive_markdown, render_golive_page
from evalkit.report.html import render_html
from evalkit.report.view import build_view
from evalkit.stages.alerting import watching
from evalkit.stages.golive import golive_of
from evalkit.stages.writing import write_capacity
from tests.operations.watched import probed, served, write
from tests.report.browsing import OUT, Opened
from tests.report.fixtures import comparison
from tests.report.performances import performance
from tests.report.test_access import violations
from tests.report.test_trade import DEVICE, GAINED, capacity

pytestmark = pytest.mark.browser


def bottom(opened: Opened, media: str, width: int, height: int) -> float:
    opened.page.emulate_media(media=media)
    opened.page.set_viewport_size({"width": width, "height": height})
    box = opened.page.locator(".provenance").first.bounding_box()
    end: float = box["y"] + box["height"]
    return end


@pytest.mark.parametrize(
    ("state", "lang", "fits"), [("SHIP", "en", True), ("SHIP", "zh", False), ("HOLD", "en", False)]
)
def test_gains_and_fits_leave_the_first_screen_one_screen(
    browser: Any, state: str, lang: str, fits: bool
) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    made = comparison(state)
    plan = capacity(GAINED if fits else {"q8_0": DEVICE + 1, "q4_0": DEVICE + 1})
    file = OUT / f"gains-{state}-{lang}.html"
    file.write_text(render_html(build_view(made, lang, performance(made), plan)), "utf-8")
    opened = Opened(browser, file, width=1280, height=800, scheme="light")
    assert bottom(opened, "screen", 1280, 800) <= 800
    assert bottom(opened, "print", 1047, 718) <= 718
    opened.page.emulate_media(media="screen")
    opened.page.set_viewport_size({"width": 390, "height": 800})
    assert opened.overflow() <= 0
    opened.check_quiet()
    opened.page.close()


@pytest.mark.parametrize(("state", "lang"), [("SHIP", "en"), ("HOLD", "zh")])
def test_the_checklist_prints_on_one_sheet(
    browser: Any, state: str, lang: str, tmp_path: Path
) -> None:
    made = served(state)
    folder = write(tmp_path / "q8-vs-q4", made, probed(made))
    write_capacity(folder, capacity({"q8_0": DEVICE + 1, "q4_0": DEVICE + 1}))
    subject = watching(folder, None, None, going_live=True)
    settings = Settings(acceptance=0.62)
    found = golive_of(subject, None, settings, traffic=100.0, draft=True)
    file = OUT / f"golive-{state}-{lang}.html"
    file.write_text(render_golive_page(build_golive(found, lang)), "utf-8")
    opened = Opened(browser, file, width=1280, height=800, scheme="dark")
    opened.page.screenshot(path=OUT / f"golive-{state}-{lang}.png", full_page=True)
    sheet = opened.page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
    assert opened.page.locator(".loud").is_visible()
    assert opened.page.locator("li").count() > 12
    assert violations(opened) == []
    opened.page.set_viewport_size({"width": 390, "height": 800})
    assert opened.overflow() <= 0
    opened.check_quiet()
    opened.page.close()


def test_hostile_names_stay_text_in_both_forms(browser: Any, tmp_path: Path) -> None:
    text = '<img src=x onerror="window.pwned=1">| **b** @all \u202e'
    made = served(model=text)
    made = replace(made, baseline=replace(made.baseline, label=text))
    folder = write(tmp_path / "hostile", made, probed(made))
    subject = watching(folder, None, None, going_live=True)
    found = golive_of(subject, None, Settings(), traffic=None, draft=False)
    view = build_golive(found)
    file = OUT / "golive-hostile.html"
    file.write_text(render_golive_page(view), "utf-8")
    opened = Opened(browser, file, width=390, height=800, scheme="light")
    assert opened.page.evaluate("window.pwned === undefined")
    assert opened.page.locator("img").count() == 0
    assert opened.overflow() <= 0
    opened.page.close()
    told = render_golive_markdown(view)
    assert "\u202e" not in told
    assert "<img" not in told.replace("\\<img", "")
