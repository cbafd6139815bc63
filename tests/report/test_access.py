"""Pages for every reader: axe-core's rules in a real browser, and the keyboard alone."""

from pathlib import Path
from typing import Any

import pytest

from evalkit.report.history_html import render_history
from tests.report.browsing import Opened, written
from tests.report.hostile import HOSTILE
from tests.report.test_history import line as history_line

pytestmark = pytest.mark.browser

# What WCAG 2.2 at level AA asks for, and what axe's makers call good practice beside it.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(opened: Opened) -> list[str]:
    """Return axe-core's findings: rule, weight and the first elements that break it."""
    sync_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")
    options = {"runOnly": TAGS, "resultTypes": ["violations"]}
    response = sync_playwright.Axe().run(opened.page, options=options).response
    return [
        f"{found['id']} ({found['impact']}): "
        + "; ".join(node["html"][:120] for node in found["nodes"][:4])
        for found in response["violations"]
    ]


@pytest.mark.parametrize(
    ("states", "lang", "width", "scheme"),
    [
        (("SHIP",), "en", 1280, "light"),
        (("HOLD",), "en", 1280, "dark"),
        (("INCONCLUSIVE",), "zh", 1280, "light"),
        (("INVALID",), "en", 390, "dark"),
        (("SHIP", "INCONCLUSIVE", "HOLD"), "zh", 390, "light"),
    ],
)
def test_axe_finds_nothing(
    browser: Any, states: tuple[str, ...], lang: str, width: int, scheme: str
) -> None:
    file = written(f"axe-{lang}-{scheme}-{len(states)}", *states, lang=lang)
    opened = Opened(browser, file, width=width, height=800, scheme=scheme)
    opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert violations(opened) == []
    opened.page.close()


def test_axe_finds_nothing_among_hostile_answers(browser: Any) -> None:
    file = written("axe-hostile", "HOLD", hostile=HOSTILE[0])
    opened = Opened(browser, file, width=1280, height=800, scheme="light")
    opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert violations(opened) == []
    opened.page.close()


@pytest.mark.parametrize(("lang", "width", "scheme"), [("en", 1280, "light"), ("zh", 390, "dark")])
def test_axe_finds_nothing_in_a_line_of_releases(
    browser: Any, tmp_path: Path, lang: str, width: int, scheme: str
) -> None:
    file = tmp_path / "history.html"
    file.write_text(render_history(history_line(tmp_path, lang=lang)), encoding="utf-8")
    opened = Opened(browser, file, width=width, height=800, scheme=scheme)
    assert violations(opened) == []
    assert opened.overflow() <= 0
    opened.check_quiet()
    opened.page.close()


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A page that breaks what the report must not: the check can fail."""
    file = tmp_path / "broken.html"
    file.write_text("<p style='color:#bbb;background:#fff'>pale</p><img src='data:,'>", "utf-8")
    return file


def test_axe_finds_what_is_broken(browser: Any, broken: Path) -> None:
    opened = Opened(browser, broken, width=1280, height=800, scheme="light")
    found = " ".join(violations(opened))
    for rule in ("color-contrast", "image-alt", "html-has-lang", "document-title"):
        assert rule in found
    opened.page.close()


def test_keyboard_alone_reaches_every_control_and_shows_where_it_is(browser: Any) -> None:
    opened = Opened(browser, written("keys", "HOLD"), width=1280, height=800, scheme="light")
    page = opened.page
    wanted: int = page.evaluate(
        "document.querySelectorAll('a[href], summary, button, input, select, [tabindex=\"0\"]')"
        ".length"
    )
    seen = set()
    for _ in range(3 * wanted):
        page.keyboard.press("Tab")
        place = page.evaluate(
            """() => {
                const at = document.activeElement;
                if (!at || at === document.body) return null;
                const style = getComputedStyle(at);
                const all = [...document.querySelectorAll('*')];
                return [all.indexOf(at), style.outlineStyle !== 'none'
                    && parseFloat(style.outlineWidth) >= 2];
            }"""
        )
        if place is None:
            break
        assert place[1], f"no outline on element {place[0]}"
        seen.add(place[0])
    visible: int = page.evaluate(
        "[...document.querySelectorAll('a[href], summary, button, input, select, [tabindex]')]"
        ".filter(e => e.tabIndex >= 0 && e.checkVisibility()).length"
    )
    assert len(seen) == visible
    folded = "document.querySelector('details').open"
    before = page.evaluate(folded)
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(folded) is not before
    page.close()
