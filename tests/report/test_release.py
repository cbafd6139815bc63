"""What a report says of the release that is its baseline: alike in every form, and inert."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from evalkit.releases import Against, ReleaseChange, Sameness, Snapshot
from evalkit.report.console import render_console
from evalkit.report.html import render_html
from evalkit.report.markdown import escaped, render_markdown
from evalkit.report.store import dump_comparison
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from evalkit.results import Comparison, VerdictState
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE
from tests.report.test_history import Texts


def released(said: str = "v1", *, rollback: bool = True, hostile: str | None = None) -> Comparison:
    target = Snapshot(
        folder=said,
        endpoint="q4@v0",
        label=said,
        verdict=VerdictState.SHIP,
        created="2026-10-01T08:00:00+00:00",
        identity={"base_url": said, "engine": "vLLM", "details": {said: said}},
        sampling={"temperature": 0.0},
        settings={"languages": ["en", said]},
    )
    against = Against(
        folder=said,
        run="../v1/runs/q4",
        endpoint=said,
        role="candidate",
        chosen="recommended",
        created="2026-11-01T08:00:00+00:00",
        verdict=VerdictState.SHIP,
        rescored={said: (said, "facts v2")},
        adopted_policy=True,
        changes=(
            ReleaseChange("q4", Sameness.SAME, Sameness.NEW, {"engine_version": (said, "b7001")}),
        ),
        rollback=target if rollback else None,
    )
    return replace(comparison("SHIP", hostile=hostile), against=against)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("rollback", [True, False])
def test_every_form_says_the_same(lang: str, rollback: bool) -> None:
    view = build_view(released(rollback=rollback), lang)
    release = view.release
    assert release is not None
    lines = (release.sentence, *(c.text for c in release.changes), *release.notes)
    page, markdown = Texts(render_html(view)).text, render_markdown(view)
    console = " ".join(render_console(view, 2_000, color=False).split())
    told = summary(view)["against"]
    for text in (*lines, release.rollback):
        assert text in page
        assert text in console
        assert escaped(text) in markdown
    assert told["changes"][0]["text"] == release.changes[0].text
    assert (told["changes"][0]["weights"], told["changes"][0]["engine"]) == ("same", "new")
    assert (told["rollback"] is None) is not rollback


def test_without_a_release_nothing_is_said() -> None:
    view = build_view(comparison("SHIP"))
    assert view.release is None
    assert summary(view)["against"] is None
    assert 'id="release"' not in render_html(view)


@pytest.mark.parametrize("text", [text for text in HOSTILE if len(text) < 10_000])
def test_what_a_server_said_of_itself_stays_text(text: str) -> None:
    content = released(text)
    dump_comparison(content)
    view = build_view(content)
    page = Texts(render_html(view))
    assert not {"script", "iframe", "img", "object", "form", "b"} & page.tags
    assert "\x1b" not in render_console(view, 100, color=False)
    assert not re.search(r"(?<!\\)<(?!/?(details|summary)>)", render_markdown(view))
