"""Marks through the whole program: a real comparison, marked, and reported again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalkit.decision.adjudication import answer_hash
from evalkit.report.store import load_comparison
from evalkit.stages.marks import add_mark
from evalkit.stages.rejudging import load_evidence
from tests.cli.conftest import Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

N = 400


@pytest.fixture
def compared(evalkit: Run, tmp_path: Path) -> Path:
    """A candidate that ships: as many gains as losses, few of both."""
    write_quiz(tmp_path / "quiz", N)
    margins = {"accuracy": 4, "hallucination": 4, "degenerate": 2}
    (tmp_path / "policy.yaml").write_text(json.dumps({"margins": margins}), encoding="utf-8")
    with FakeServer(script(N, wrong=[1])) as a, FakeServer(script(N, wrong=[2])) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", tmp_path / "quiz", "-o", "out",
            "-j", "16", "--policy", "policy.yaml", "--json",
        )  # fmt: skip
    assert ended.code == 0, ended.out
    return tmp_path / "out"


def mark(folder: Path, place: int, number: int, outcome: str) -> None:
    """Mark the answer of the baseline (0) or of the candidate (1) to one question."""
    arm = load_evidence(folder, load_comparison(folder)).runs[place]
    key = ("quiz", f"box-{number:04d}", 0)
    add_mark(
        folder,
        {
            "kind": "score",
            "taskset": key[0],
            "sample_id": key[1],
            "epoch": 0,
            "arm": arm.run.arm,
            "outcome": outcome,
            "answer_hash": answer_hash(arm.answers[key].completion),
            "reason": "<b>looked it up</b>",
            "reviewer": "Ada & Lin",
        },
    )


def shown(evalkit: Run, *words: str) -> dict[str, Any]:
    ended = evalkit("report", "out", "--json", *words)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = ended.json
    return found


def test_marks_that_take_a_ship_away_are_followed(
    evalkit: Run, compared: Path, tmp_path: Path
) -> None:
    before = (compared / "comparison.json").read_bytes()
    for number in range(10, 40):
        mark(compared, 1, number, "incorrect")
    found = shown(evalkit)
    review = found["candidates"][0]["review"]
    assert (review["before"], review["after"], review["followed"]) == ("SHIP", "HOLD", True)
    assert review["one_sided"] == "baseline"
    assert found["candidates"][0]["verdict"] == "HOLD"
    assert found["exit_code"] == 3
    assert len(review["marks"]) == 30
    assert (compared / "comparison.json").read_bytes() == before, "evidence stays as it was"
    page = (compared / "report.html").read_text(encoding="utf-8")
    assert "Ada &amp; Lin" in page
    assert "<b>looked" not in page
    for name in ("report.md", "junit.xml"):
        assert "HOLD" in (compared / name).read_text(encoding="utf-8")
    text = evalkit("report", "out").out
    assert "reviewers (Ada & Lin) marked 30 samples" in " ".join(text.split())
    assert "HOLD" in text
    chinese = evalkit("report", "out", "--lang", "zh").out
    assert "评审" in chinese
    gated = evalkit("gate", "out", "--json")
    assert gated.code == 3, gated.err
    assert gated.json["comparisons"][0]["candidates"][0]["review"]["followed"] is True
    assert evalkit("gate", "out", "--policy", "strict").code == 4, "it would not have shipped"
    (compared / "runs").rename(tmp_path / "elsewhere")
    alone = evalkit("gate", "out")
    assert alone.code == 2
    assert "marks of reviewers" in alone.err
    assert evalkit("gate", "out", "--runs", "elsewhere").code == 3


def test_marks_for_the_candidate_are_told_and_change_no_verdict(
    evalkit: Run, compared: Path, tmp_path: Path
) -> None:
    mark(compared, 1, 2, "correct")
    found = shown(evalkit)["candidates"][0]
    assert found["verdict"] == "SHIP"
    assert found["review"]["one_sided"] == "candidate"
    assert found["review"]["difference_before"]["value"] == 0.0
    assert found["review"]["difference_after"]["value"] == pytest.approx(1 / N)
    threats = {threat["code"]: threat["level"] for threat in found["threats"]}
    assert threats["REVIEW_ONE_SIDED"] == threats["REVIEWED"] == "warn"
    mark(compared, 0, 1, "correct")
    found = shown(evalkit)["candidates"][0]
    assert found["review"]["one_sided"] is None
    assert "REVIEW_ONE_SIDED" not in {threat["code"] for threat in found["threats"]}


def test_a_report_without_marks_is_the_one_that_was(evalkit: Run, compared: Path) -> None:
    before = (compared / "report.html").read_bytes()
    assert shown(evalkit)["candidates"][0]["review"] is None
    assert (compared / "report.html").read_bytes() == before


def test_marks_without_the_runs_are_refused_with_a_sentence(evalkit: Run, compared: Path) -> None:
    mark(compared, 1, 2, "correct")
    shutil.rmtree(compared / "runs")
    ended = evalkit("report", "out", "--json")
    assert ended.code == 2
    assert "marks change scores" in json.loads(ended.out)["error"]["message"]
