"""The report in a real browser: from file://, with its policy on, looked at in screenshots."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from evalkit.report.html import render_html
from evalkit.report.model import View
from evalkit.report.view import build_view
from evalkit.results import POOLED, Comparison, ReasonCode, Threat
from tests.report.browsing import OUT, Opened, written
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "states", "lang", "width", "height", "scheme"),
    [
        ("light", ("INCONCLUSIVE",), "en", 1280, 800, "light"),
        ("dark", ("SHIP",), "en", 1280, 800, "dark"),
        ("phone", ("HOLD",), "en", 390, 844, "light"),
        ("invalid", ("INVALID",), "en", 1280, 800, "light"),
        ("chinese", ("HOLD",), "zh", 1280, 800, "dark"),
        ("chinese-phone", ("INCONCLUSIVE",), "zh", 390, 844, "dark"),
        ("several", ("SHIP", "INCONCLUSIVE", "HOLD"), "en", 1280, 800, "light"),
    ],
)
def test_report_opens_quietly_with_the_verdict_in_sight(
    browser: Any,
    name: str,
    states: tuple[str, ...],
    lang: str,
    width: int,
    height: int,
    scheme: str,
) -> None:
    file = written(name, *states, lang=lang)
    opened = Opened(browser, file, width=width, height=height, scheme=scheme)
    view = build_view(comparison(*states), lang)
    heading = opened.page.locator("h1")
    assert heading.inner_text() == view.sentence
    box = heading.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= height
    assert opened.page.locator(".gate").first.is_visible()
    assert opened.overflow() <= 0
    opened.check_quiet()
    opened.page.screenshot(path=OUT / f"{name}.png")
    opened.page.close()


@pytest.mark.parametrize("state", ["SHIP", "HOLD", "INCONCLUSIVE", "INVALID"])
def test_first_screen_holds_all_that_decides(browser: Any, state: str) -> None:
    file = written(f"first-{state.lower()}", state)
    opened = Opened(browser, file, width=1280, height=800, scheme="light")
    for part in (".headlines", "svg.forest >> nth=0", ".threats", ".panels", ".provenance"):
        box = opened.page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 800, part
    opened.page.close()


def crowded() -> Comparison:
    """A comparison with as much to say on its first screen as a real one may have."""
    made = comparison("HOLD")
    (result,) = made.results
    *_, last = result.families
    code = replace(last, scope="code", accuracy=replace(last.accuracy, scope="code"))
    degraded = [
        ReasonCode("DEGRADED_ACC", POOLED, "accuracy"),
        ReasonCode("DEGENERATE_UP", POOLED, "degenerate"),
        *(ReasonCode("DEGRADED_ACC", scope, "accuracy") for scope in ("facts", "math")),
    ]
    threats = (
        Threat("REVIEWED", "warn", {"applied": 1, "marks": 2, "reviewers": ["Ada"],
                                    "before": "HOLD", "after": "HOLD"}),
        *result.threats,
    )  # fmt: skip
    crowded = replace(
        result,
        families=(*result.families, code),
        threats=threats,
        verdict=replace(result.verdict, codes=tuple(degraded)),
    )
    return replace(made, results=(crowded,))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_crowded_first_screen_fits_a_screen_and_a_page(browser: Any, lang: str) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / f"crowded-{lang}.html"
    file.write_text(render_html(build_view(crowded(), lang)), encoding="utf-8")
    opened = Opened(browser, file, width=1280, height=800, scheme="light")
    ends = {"screen": (1280, 800), "print": (1047, 718)}
    for media, (width, height) in ends.items():
        opened.page.emulate_media(media=media)
        opened.page.set_viewport_size({"width": width, "height": height})
        box = opened.page.locator(".provenance").first.bounding_box()
        assert box["y"] + box["height"] <= height, media
        if media == "screen":
            opened.page.screenshot(path=OUT / f"crowded-{lang}.png")
    opened.page.close()


def test_chart_words_are_readable_and_inside(browser: Any) -> None:
    file = written("chart", "INCONCLUSIVE")
    for width in (1280, 390):
        opened = Opened(browser, file, width=width, height=800, scheme="light")
        sizes = opened.page.evaluate(
            """() => [...document.querySelectorAll('svg.forest text')].map(t => {
                const box = t.getBoundingClientRect();
                const frame = t.ownerSVGElement.getBoundingClientRect();
                return [box.width, box.height, box.left - frame.left, frame.right - box.right];
            }).filter(box => box[0] > 0)"""
        )
        assert len(sizes) > 15
        assert min(size[1] for size in sizes) >= 12
        assert min(min(size[2], size[3]) for size in sizes) >= -1
        opened.page.close()


def widest(view: View) -> View:
    """A view whose chart has the longest numbers that there are."""
    (block,) = view.candidates
    rows = tuple(
        replace(
            row,
            n="150,000",
            baseline="100.00%",
            candidate="100.00%",
            difference=replace(row.difference, text="−100.00", interval="[−100.00, −98.63]"),
            state=replace(
                row.state,
                icon="◔",
                text="worse, size unresolved" + ("" if row.pooled else " (alarm only)"),
            ),
        )
        for row in block.forest.rows
    )
    return replace(view, candidates=(replace(block, forest=replace(block.forest, rows=rows)),))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", ["127.0.0.1-9301-m", "candidate", "q4"])
def test_words_of_the_chart_do_not_overlap(browser: Any, name: str, wide: bool) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / "overlap.html"
    view = build_view(comparison("SHIP", names=[name]))
    view = widest(view) if wide else view
    file.write_text(render_html(view), encoding="utf-8")
    opened = Opened(browser, file, width=1280, height=800, scheme="light")
    boxes = opened.page.evaluate(
        """() => [...document.querySelectorAll('.wide svg.forest text')].map(t => {
            const box = t.getBoundingClientRect();
            return [t.textContent, Math.round(box.top), box.left, box.right];
        }).sort((a, b) => a[1] - b[1] || a[2] - b[2])"""
    )
    assert len(boxes) > 15
    overlaps = [
        (first[0], second[0])
        for first, second in pairwise(boxes)
        if first[1] == second[1] and first[3] > second[2]
    ]
    assert overlaps == []
    frame = opened.page.locator(".wide svg.forest").bounding_box()
    assert max(box[3] for box in boxes) <= frame["x"] + frame["width"]
    opened.page.close()


def test_first_screen_prints_on_one_page(browser: Any) -> None:
    opened = Opened(browser, written("print", "HOLD"), width=1280, height=800, scheme="dark")
    opened.page.emulate_media(media="print", color_scheme="dark")
    ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    opened.page.set_viewport_size({"width": 1047, "height": 718})  # A4 landscape less margins
    box = opened.page.locator(".provenance").first.bounding_box()
    assert box["y"] + box["height"] <= 718
    opened.page.emulate_media(media="screen")
    opened.page.pdf(path=OUT / "print.pdf", prefer_css_page_size=True)
    opened.page.close()


SHORT = [text for text in HOSTILE if len(text) < 10_000]
LONG = [text for text in HOSTILE if len(text) >= 10_000]


@pytest.mark.parametrize("text", ["\n".join(SHORT), SHORT[2], *LONG], ids=range(2 + len(LONG)))
def test_hostile_texts_do_nothing(browser: Any, text: str) -> None:
    file = written("hostile", "HOLD", hostile=text)
    for width in (1280, 390):
        opened = Opened(browser, file, width=width, height=800, scheme="light")
        assert opened.page.evaluate("window.pwned === undefined")
        assert opened.page.locator("h1").is_visible()
        assert opened.overflow() <= 0
        tallest = opened.page.evaluate(
            "Math.max(...[...document.querySelectorAll('.answer')].map(a => a.offsetHeight))"
        )
        assert tallest < 1000
        opened.check_quiet()
        opened.page.close()


def test_folded_parts_open_without_a_script(browser: Any) -> None:
    opened = Opened(browser, written("fold", "HOLD"), width=1280, height=800, scheme="light")
    folded = opened.page.locator("details.more:has(details.sample)").first
    inner = folded.locator("details.sample").first
    assert not inner.is_visible()
    folded.locator("> summary").click()
    assert inner.is_visible()
    opened.check_quiet()
    opened.page.close()
