"""Logs of other tools on the command line: exit codes, streams, and one sentence for errors."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import Refused, Run

FIXTURES = Path(__file__).parent.parent / "importers" / "fixtures"
LOGS = FIXTURES / "lm_eval" / "q8", FIXTURES / "lm_eval" / "low"


def test_a_gate_on_logs_is_a_gate(evalkit: Run, tmp_path: Path) -> None:
    """The whole of it, as with runs of one's own: compare, gate, report, score, self-test."""
    ended = evalkit("compare", *LOGS, "-o", "out", "--junit", "j.xml", "--metric", "strict-match")
    assert ended.code == 4, ended.err
    assert "recorded by lm-eval 0.4.13, which scored too" in " ".join(ended.out.split())
    assert "exact_match,strict-match" in "".join(ended.out.split())
    assert ET.parse(tmp_path / "j.xml").getroot().tag == "testsuites"
    (tmp_path / "out").rename(tmp_path / "moved")
    again = evalkit("gate", "moved", "--json")
    assert again.code == 4
    assert again.json["comparisons"][0]["checked"] == "runs"
    page = evalkit("report", "moved", "--lang", "zh", "--json")
    assert page.code == 0
    html = (tmp_path / "moved" / "report.html").read_text(encoding="utf-8")
    assert "由 lm-eval 0.4.13 记录并评分" in html
    assert evalkit("score", "moved/runs/q8").code == 0


def test_hostile_answers_of_a_log_are_shown_as_text(evalkit: Run, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    for name in ("a", "b"):
        rows = [
            {"id": i, "prompt": f"{evil}{i}", "output": f"{name}{evil}", "correct": name == "a"}
            for i in range(12)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    ended = evalkit("compare", "a.jsonl", "b.jsonl", "-o", "out", "--family", "math")
    assert ended.code == 3, ended.err
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_names_in_a_log_do_not_act_on_a_terminal(evalkit: Run, tmp_path: Path) -> None:
    evil = "\x1b[31m[/dim]\x07\nred"
    for name in ("a", "b"):
        rows = [
            {"id": i, "task": evil, "model": evil, "output": name, "correct": True}
            for i in range(3)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    # click strips what it knows of colours; JSON is written as it is.
    ended = evalkit("compare", "a.jsonl", "b.jsonl", "-t", evil + "x", "--json")
    assert ended.code == 2
    assert not {"\x1b", "\x07", "\n"} & set(ended.json["error"]["message"])
    told = evalkit("compare", "a.jsonl", "b.jsonl", "-o", "out", "--display", "rich")
    assert told.code == 5
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compare", str(LOGS[0]), "q4"], ["recorded by lm-eval", "endpoint"]),
        (["compare", *map(str, LOGS), "--family", "facs"], ["families", "facs"]),
        (["compare", *map(str, LOGS), "--family", "capitals="], ["TASK=NAME"]),
        (["compare", *map(str, LOGS), "--metric", "f1"], ["No task has a metric 'f1'"]),
        (["compare", *map(str, LOGS), "-t", "gsm8k"], ["gsm8k", "capitals"]),
        (["compare", str(FIXTURES / "promptfoo/both.json"), "q4"], ["2 providers", "#low"]),
        (["compare", *map(str, LOGS), "--redact"], ["too late", "evalkit report --redact"]),
    ],
)
def test_wishes_that_cannot_be_met_are_told(
    refused: Refused, words: list[str], expected: list[str]
) -> None:
    refused(words, expected)
