"""A soak in the report: its page, the console, and loudly beside a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from evalkit.errors import StoreError
from evalkit.report.html import render_html
from evalkit.report.markdown import render_markdown
from evalkit.report.soak import soak_view
from evalkit.report.soak_console import render_soak
from evalkit.report.soak_html import render_soak_page
from evalkit.report.soak_store import SOAK_FILE, dump_soak, load_soak
from evalkit.report.view import build_view
from evalkit.report.words import Words
from evalkit.stability import Answers, Fact, Stability
from evalkit.stages.soaking import judge
from evalkit.stages.writing import view_of, write_soak
from tests.report.browsing import Opened, launched
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE
from tests.soak.journals import HOUR, MB, Course

LEAKS = Course(
    hours=2,
    memory=lambda t: 2 * MB * t / 60,
    fails=lambda t: float(3000 < t < 3300) or 0.7 * (6000 < t < 6200),
    events=((HOUR, "process", "7 → 8"),),
    canary=lambda t, rng: "Paris." if t < HOUR else "Rome.",
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Stability:
    folder = tmp_path_factory.mktemp("soak")
    LEAKS.write(folder)
    return judge(folder)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Stability:
    folder = tmp_path_factory.mktemp("sound")
    Course(hours=2, seed=1).write(folder)
    return judge(folder)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_page_and_console_say_the_same(found: Stability, lang: str) -> None:
    view = soak_view(Words(lang), found)
    page, console = render_soak_page(view), render_soak(found, lang, 300, False)
    told = {"LEAK", "OUTAGE", "RESTART", "ANSWERS", "BURST"}
    assert not any(text.startswith(tuple(told)) for text in view.findings)
    assert {one.code for one in found.findings} >= told
    for text in (view.gate.word, *view.findings):
        assert " ".join(text.split()) in " ".join(console.split())
        assert str(escape(text)) in page
    assert page.count("<svg") == len(found.trends)
    assert "<script" not in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_stable_one_is_called_so(sound: Stability, lang: str) -> None:
    assert sound.findings == ()
    view = soak_view(Words(lang), sound)
    assert view.gate.state == ("INCONCLUSIVE" if view.open else "SHIP")
    assert view.findings == ()
    steady = tuple(replace(one, state="steady") for one in sound.trends)
    assert soak_view(Words(lang), replace(sound, trends=steady)).gate.state == "SHIP"
    unsure = tuple(replace(one, state="open") for one in sound.trends)
    short = soak_view(Words(lang), replace(sound, trends=unsure))
    assert short.gate.state == "INCONCLUSIVE"
    assert short.open


def test_it_is_read_as_it_was_written(found: Stability, tmp_path: Path) -> None:
    assert load_soak(tmp_path) is None
    write_soak(tmp_path, found, "en")
    again = load_soak(tmp_path)
    assert again is not None
    assert dump_soak(again) == dump_soak(found)
    write_soak(tmp_path, replace(found, identity={}), "en")
    assert view_of(tmp_path, comparison("SHIP"), "en").soak is not None


@pytest.mark.parametrize("change", ['"state": "stable"', '"schema_version": 99', '"trends": 3'])
def test_a_file_that_is_wrong_is_left_out_of_a_report(
    found: Stability, tmp_path: Path, change: str
) -> None:
    write_soak(tmp_path, found, "en")
    file = tmp_path / SOAK_FILE
    key = change.split(":")[0]
    lines = file.read_text("utf-8").splitlines()
    if change.startswith('"trends"'):
        lines = ["{", '"schema_version": 1,', '"trends": 3', "}"]
    else:
        lines = [f"{change}," if line.strip().startswith(key) else line for line in lines]
    file.write_text("\n".join(lines), "utf-8")
    with pytest.raises(StoreError):
        load_soak(tmp_path)
    view = view_of(tmp_path, comparison("SHIP"), "en")
    assert view.soak is None
    assert any(SOAK_FILE in note for note in view.notes)


def test_a_fault_stands_on_the_first_screen_and_changes_no_verdict(found: Stability) -> None:
    made = comparison("SHIP")
    view = build_view(made, "en", soak=replace(found, identity={}))
    block = view.candidates[0]
    assert (view.gate.state, block.gate.state) == ("SHIP", "SHIP")
    assert block.threats[0].code == "SOAK"
    assert block.threats[0].level == "fail"
    assert "UNSTABLE" in block.threats[0].text
    assert "did not stand its soak test" in view.recommendation
    page = render_html(view)
    assert page.count('id="soak"') == 1
    assert "UNSTABLE" in render_markdown(view)


def test_of_the_baseline_or_another_build(found: Stability, sound: Stability) -> None:
    made = comparison("SHIP")
    baseline = made.baseline.endpoint
    view = build_view(made, "en", soak=replace(found, endpoint=baseline, identity={}))
    assert view.candidates[0].threats[0].code == "SOAK"
    assert "did not stand" not in view.recommendation
    other = build_view(made, "en", soak=replace(found, endpoint="another"))
    assert other.soak is None
    assert any("soak.json is left out" in note for note in other.notes)
    good = build_view(made, "en", soak=replace(sound, identity={}))
    assert [one.level for one in good.candidates[0].threats if one.code == "SOAK"] == ["ok"]


def hostile(found: Stability, text: str) -> Stability:
    """The same, with a text of the server wherever one may stand."""
    text = text[:5000]
    return replace(
        found,
        endpoint=text,
        label=text,
        created=text,
        failures={text: 3},
        settings={text: text},
        restarts=tuple(replace(one, signs=(text,), details=(text,)) for one in found.restarts),
        answers=(Answers(text, 9, 2, 0.001, 5.0, text, text),),
        trends=(*found.trends, replace(found.trends[0], name=text)),
        findings=(
            *found.findings,
            Fact(text, {text: text}),
            Fact("ANSWERS", {"prompt": text, "at": "5"}),
            Fact("RESTART", {"at": text, "signs": text, "detail": text}),
        ),
    )


@pytest.fixture(scope="module")
def browser() -> Any:
    yield from launched()


@pytest.mark.browser
def test_hostile_texts_stay_texts(browser: Any, found: Stability, tmp_path: Path) -> None:
    for place, text in enumerate(HOSTILE):
        file = tmp_path / f"{place}.html"
        page = render_soak_page(soak_view(Words("en"), hostile(found, text)))
        file.write_text(page, "utf-8", errors="strict")
    opened = Opened(browser, tmp_path / "0.html", width=390, height=800, scheme="dark")
    for place in range(len(HOSTILE)):
        opened.page.goto((tmp_path / f"{place}.html").as_uri())
        assert opened.page.evaluate("window.pwned") is None
        assert opened.overflow() == 0, HOSTILE[place][:60]
    assert opened.messages == []
    opened.page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_every_screen(browser: Any, found: Stability, tmp_path: Path, width: int) -> None:
    for lang in ("en", "zh"):
        write_soak(tmp_path / lang, found, lang)
        file = tmp_path / lang / "soak.html"
        opened = Opened(browser, file, width=width, height=800, scheme="light")
        opened.check_quiet()
        assert opened.overflow() == 0
        opened.page.close()
