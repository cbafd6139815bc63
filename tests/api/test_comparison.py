"""The Python face of a comparison: the same numbers as the report, nothing that acts."""

from __future__ import annotations

import asyncio
import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.errors import ConfigError, MissingExtraError, StoreError
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from evalkit.stages.writing import write_comparison
from tests.quiz import script, write_quiz
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE
from tests.servers.fake import FakeServer


def stored(folder: Path, *states: str, hostile: str | None = None) -> evalkit.Comparison:
    write_comparison(folder, comparison(*states, hostile=hostile))
    return evalkit.load(folder)


def test_importing_is_light() -> None:
    code = (
        "import time; start = time.process_time(); import sys, evalkit\n"
        "assert time.process_time() - start < 0.1\n"
        "heavy = {'numpy', 'pandas', 'pydantic', 'orjson', 'jinja2', 'aiohttp', 'asyncio'}\n"
        "assert not heavy & sys.modules.keys()\n"
        "assert {'compare', 'load', 'Comparison'} <= set(dir(evalkit))\n"
        "assert not hasattr(evalkit, 'nothing')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_numbers_are_those_of_the_report(tmp_path: Path) -> None:
    found = stored(tmp_path, "SHIP", "HOLD")
    told = summary(build_view(found.content))
    assert (found.verdict, found.exit_code) == (told["verdict"], told["exit_code"]) == ("SHIP", 0)
    assert {n: v.state for n, v in found.verdicts.items()} == {"q4": "SHIP", "rtn4": "HOLD"}
    frame = found.to_frame()
    for candidate in told["candidates"]:
        for metric in candidate["metrics"]:
            name, scope, which = candidate["endpoint"], metric["scope"], metric["metric"]
            estimate = found.estimates[name][scope][which]
            row = frame.query("candidate == @name and scope == @scope and metric == @which")
            for key in ("value", "low", "high"):
                column = "difference" if key == "value" else key
                assert getattr(estimate, key) == metric["difference"][key]
                assert row[column].item() == metric["difference"][key]
        pooled = frame.query("candidate == @name and scope == 'pooled' and metric == 'accuracy'")
        shown = candidate["scopes"]["pooled"]
        assert pooled["baseline_rate"].item() == shown["baseline_accuracy"]["value"]
        assert pooled["candidate_rate"].item() == shown["candidate_accuracy"]["value"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_notebook_shows_is_inert(tmp_path: Path, text: str) -> None:
    content = comparison("HOLD", hostile=text, names=[text.replace("\0", "")[:60] or "x"])
    write_comparison(tmp_path, content)
    shown = evalkit.load(tmp_path)._repr_html_()
    for tag in ("<script", "<style", "<img", "<svg", "<iframe", "<a ", "<link", "<form"):
        assert tag not in shown.lower()
    assert "HOLD" in shown


def test_without_pandas_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, plain = stored(tmp_path, "SHIP"), builtins.__import__

    def refuse(name: str, *args: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return plain(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match="pandas"):
        found.to_frame()


def test_a_folder_without_a_comparison_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a comparison folder"):
        evalkit.load(tmp_path)


def test_it_compares_where_a_loop_is_running(tmp_path: Path) -> None:
    write_quiz(tmp_path / "quiz", 12)

    async def cell(*targets: str) -> evalkit.Comparison:
        return evalkit.compare(*targets, tasks=str(tmp_path / "quiz"), output=tmp_path / "out")

    with FakeServer(script(12)) as a, FakeServer(script(12, wrong={3})) as b:
        found = asyncio.run(cell(f"{a.url}#fake", f"{b.url}#fake"))
    assert found.content == evalkit.load(tmp_path / "out").content
    assert found.to_html(tmp_path / "page.html", lang="zh") == (tmp_path / "page.html").read_text(
        encoding="utf-8"
    )
    assert 'lang="zh' in found.to_html(lang="zh")


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'taskss' in the call\. Did you mean tasks"):
        evalkit.compare("q8", "q4", taskss="facts")


def test_each_of_two_equal_prompts_counts(tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 12)
    rows = [json.loads(line) for line in (quiz / "samples.jsonl").read_text().splitlines()]
    rows[3]["input"] = rows[2]["input"]
    (quiz / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)))
    settings = {"tasks": (str(quiz),), "allow_confounded": True, "aa": 0.0}
    with FakeServer(script(12)) as one, FakeServer(script(12, wrong=[1])) as other:
        arms = f"{one.url}#fake", f"{other.url}#fake"
        evalkit.compare(*arms, **settings, limit=11, output=tmp_path / "out")
        found = evalkit.compare(*arms, **settings, output=tmp_path / "out")
    told = found.content
    assert told.baseline.n_requests == told.baseline.n_answered == 12
    # The other target of the second is what the same answer misses.
    flips = told.results[0].pooled.flips
    assert (flips.both, flips.lost, flips.neither) == (10, 1, 1)
    page = found.to_html()
    assert page == evalkit.load(tmp_path / "out").to_html()
    assert "All 12 pairs are in this page" in page
