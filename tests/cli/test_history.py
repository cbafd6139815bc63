"""`evalkit report --history`, as a user types it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.cli import main
from evalkit.stages.writing import write_comparison
from tests.cli.conftest import Refused
from tests.report.fixtures import comparison


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    for day, state in ((1, "SHIP"), (2, "HOLD")):
        made = replace(comparison(state), created=f"2026-11-{day:02d}T10:00:00+00:00")
        write_comparison(tmp_path / "out" / f"v{day}", made)
    return tmp_path / "out"


def ended(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as raised:
        main(words)
    assert raised.value.code == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def test_the_page_is_written_and_the_line_is_printed(
    releases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ended(["report", "--history", str(releases), "--lang", "zh"], capsys)
    assert "不可发布" in out
    page = (releases / "history.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert f"回退目标：{releases}/v1 中的 q4" in page
    # The page is no comparison: a second time it reads the same.
    assert ended(["report", "--history", str(releases), "--lang", "zh"], capsys) == out


def test_machines_get_json_and_the_page_where_it_is_wanted(
    releases: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = tmp_path / "deep" / "line.html"
    words = ["report", str(releases), "--history", "--json", "--html", str(place)]
    told = json.loads(ended(words, capsys))
    assert [row["verdict"] for row in told["releases"]] == ["SHIP", "HOLD"]
    assert told["rollback"]["endpoint"] == "q4"
    assert told["paths"]["html"] == str(place)
    assert place.is_file()
    assert not (releases / "history.html").exists()


def test_forms_that_a_history_has_not_are_refused(refused: Refused) -> None:
    refused(["report", "--history", ".", "--md", "x.md"], ["no Markdown", "--md"])
    refused(["report", "--history", "."], ["no comparison in '.'"])
    refused(["report", "--history", "nowhere"], ["nowhere does not exist"])
