"""`evalkit grade` and `evalkit score`: answers that were recorded, scored without an endpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evalkit import api
from evalkit.config import check_config
from evalkit.stats.rates import wilson
from tests.cli.conftest import Refused, Run
from tests.quiz import answers, question, script, write_quiz
from tests.servers.fake import FakeServer


def recorded(path: Path, n: int, **kinds: Any) -> list[dict[str, Any]]:
    """Write the answers of a quiz as anything may have recorded them."""
    said = answers(n, **kinds)
    rows = [{"id": f"box-{i:04d}", "completion": said[question(i)]} for i in range(n)]
    write(path, rows)
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def test_recorded_answers_are_counted_in_three_outcomes(evalkit: Run, tmp_path: Path) -> None:
    quiz, path = write_quiz(tmp_path / "quiz", 20), tmp_path / "answers.jsonl"
    recorded(path, 20, wrong=(1, 2, 3), abstained=(4, 5))
    ended = evalkit("grade", quiz, path, "--json", "--out", "out/items.jsonl")
    assert ended.code == 0, ended.err
    body = ended.json
    assert body["n"] == 20
    assert body["outcomes"] == {"correct": 15, "incorrect": 3, "abstained": 2}
    expected = wilson(15, 20)
    assert body["accuracy"]["value"] == pytest.approx(0.75)
    assert body["accuracy"]["low"] == pytest.approx(expected.low)
    assert body["hallucination"]["value"] == pytest.approx(3 / 20)
    assert body["abstention"]["value"] == pytest.approx(2 / 20)
    assert body["hallucination_attempted"]["value"] == pytest.approx(3 / 18)
    assert [group["count"] for group in body["ids"].values()] == [0, 0, 0]
    items = [json.loads(line) for line in (tmp_path / "out/items.jsonl").read_text().splitlines()]
    assert [item["id"] for item in items] == [f"box-{i:04d}" for i in range(20)]
    assert items[1]["outcome"] == "incorrect"
    assert items[1]["flags"] == ["hallucinated"]
    assert not any(item["right_but_failed"] for item in items)
    text = evalkit("grade", quiz, path).out
    assert "accuracy       75.0% (95%: 53.1 to 88.8%)" in text


def test_a_rule_on_open_answers_says_how_far_it_agrees_with_people(
    evalkit: Run, tmp_path: Path
) -> None:
    file, path = tmp_path / "t.csv", tmp_path / "answers.jsonl"
    file.write_text(
        "Question,Best Answer,Correct Answers,Incorrect Answers\n"
        "What do carrots do?,They are food,They are food,They let you see at night\n"
    )
    write(path, [{"id": "0", "completion": "They are food."}])
    body = evalkit("grade", f"truthfulqa:{file}", path, "--json").json
    assert body["decided_by"] == "rule"
    assert body["agreement"]["labels"] == "TruthfulQA"
    assert body["agreement"]["share"] < 0.9
    text = evalkit("grade", f"truthfulqa:{file}", path).out
    assert "agrees with the labels of TruthfulQA on 71% of 2,010 open answers" in text
    quiz = write_quiz(tmp_path / "quiz", 1)
    recorded(path, 1)
    exact = evalkit("grade", quiz, path, "--json").json
    assert (exact["decided_by"], exact["agreement"]) == ("rule", None)


def test_ids_that_do_not_fit_are_counted_and_named(evalkit: Run, tmp_path: Path) -> None:
    quiz, path = write_quiz(tmp_path / "quiz", 4), tmp_path / "answers.jsonl"
    rows = recorded(path, 4, wrong=(0,))
    again = {**rows[0], "completion": "The code word is alpha0."}
    write(path, [*rows[:3], again, {"id": 77, "completion": "x"}])
    ended = evalkit("grade", quiz, path, "--json")
    assert ended.json["ids"] == {
        "missing": {"count": 1, "ids": ["box-0003"]},
        "unknown": {"count": 1, "ids": ["77"]},
        "duplicate": {"count": 1, "ids": ["box-0000"]},
    }
    # The first of two answers counts.
    assert ended.json["outcomes"] == {"correct": 2, "incorrect": 1, "abstained": 0}
    text = evalkit("grade", quiz, path).out
    for said in (
        "no answer: box-0003",
        "none of the taskset's: 77",
        "first answer counts: box-0000",
    ):
        assert said in text


def test_null_cut_and_thinking_answers_and_epochs(evalkit: Run, tmp_path: Path) -> None:
    quiz, path = write_quiz(tmp_path / "quiz", 2), tmp_path / "answers.jsonl"
    right, wrong = "The code word is alpha0.", "The code word is omega0."
    rows = [
        {"id": "box-0000", "epoch": 0, "completion": f"<think>{wrong}</think>{right}", "n": 1},
        {"id": "box-0000", "epoch": 1, "completion": right, "finish_reason": "length"},
        {"id": "box-0001", "epoch": 0, "completion": None},
        {"id": "box-0001", "epoch": 1, "completion": "The code word is alpha1.", "reasoning": "x"},
    ]
    write(path, rows)
    body = evalkit("grade", quiz, path, "--json").json
    assert body["outcomes"] == {"correct": 2, "incorrect": 0, "abstained": 2}
    assert body["flags"] == {"empty": 1, "truncated": 1}
    assert body["right_but_failed"] == 1
    assert body["pass_at"] == {"1": 0.5, "2": 1.0}
    assert body["accuracy"]["n"] == 4


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("", "holds no answer"),
        ("{", "line 1 is not valid JSON"),
        ("[]", "line 1 is not a JSON object"),
        ('\n{"completion": "x"}', "line 2 has no 'id'"),
        ('{"id": true, "completion": "x"}', "has no 'id'"),
        ('{"id": "a", "response": "x"}', "Rename 'response' to 'completion'"),
        ('{"id": "a", "completion": 5}', "'completion' is neither text nor null"),
        ('{"id": "a", "completion": "x", "epoch": -1}', "'epoch' is not a whole number"),
        ('{"id": "a", "completion": "x"}', "ids are like 'a', and those of the taskset like 'box-"),
        ("回答".encode("gbk"), "line 1 is not UTF-8"),
    ],
)
def test_a_file_that_holds_no_answers_is_one_sentence(
    refused: Refused, tmp_path: Path, rows: str | bytes, expected: str
) -> None:
    quiz, path = write_quiz(tmp_path / "quiz", 2), tmp_path / "answers.jsonl"
    path.write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    refused(["grade", str(quiz), str(path)], [expected])


def test_code_is_graded_only_when_it_is_allowed(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "set.jsonl"
    record = {
        "task_id": "t/0",
        "prompt": "def f():\n",
        "entry_point": "f",
        "test": "def check(f): 1",
    }
    write(path, [record])
    write(tmp_path / "a.jsonl", [{"id": "t/0", "completion": "    return 1"}])
    refused(["grade", f"humaneval:{path}", str(tmp_path / "a.jsonl")], ["--allow-code"])
    refused(["grade", f"humaneval:{path}", str(tmp_path / "b.jsonl")], ["does not exist"])
    # And only where it is safe: else every answer would be an error, and the end a success.
    monkeypatch.setenv("EVALKIT_SANDBOX", "none-such")
    words = ["grade", f"humaneval:{path}", str(tmp_path / "a.jsonl"), "--allow-code"]
    refused(words, ["EVALKIT_SANDBOX", "bubblewrap"])


def test_a_public_set_works_wherever_a_taskset_does(evalkit: Run, tmp_path: Path) -> None:
    path, said = tmp_path / "gsm.jsonl", tmp_path / "answers.jsonl"
    write(path, [{"question": f"{i} + 1?", "answer": f"#### {i + 1}"} for i in range(3)])
    write(said, [{"id": i, "completion": f"#### {i + 1 + (i == 2)}"} for i in range(3)])
    body = evalkit("grade", f"gsm8k:{path}", said, "--json").json
    assert body["outcomes"] == {"correct": 2, "incorrect": 1, "abstained": 0}
    assert evalkit("tasks", f"gsm8k:{path}", "--json").json[0]["samples"] == 3
    with FakeServer(script(1)) as server:
        config = check_config({"tasks": [f"gsm8k:{path}"]}, where="test")
        api.run(f"{server.url}#fake", config, output=tmp_path / "run")
    assert evalkit("score", tmp_path / "run", "--json").json[0]["tasksets"]["gsm8k"]["n"] == 3


def test_a_run_is_scored_again_and_what_changed_is_told(evalkit: Run, tmp_path: Path) -> None:
    quiz, folder = write_quiz(tmp_path / "quiz", 30), tmp_path / "run"
    with FakeServer(script(30, wrong=(1, 2))) as server:
        config = check_config({"tasks": [str(quiz)]}, where="test")
        api.run(f"{server.url}#fake", config, output=folder)
    scores, journal = folder / "scores.jsonl", folder / "completions.jsonl"
    good, evidence = scores.read_bytes(), journal.read_bytes()
    ended = evalkit("score", folder)
    assert "28 correct, 2 incorrect; all as before" in ended.out
    assert scores.read_bytes() == good
    # An older scorer had found one more right.
    lines = good.replace(
        b'"outcome":"incorrect","value":0.0', b'"outcome":"correct","value":1.0', 1
    )
    scores.write_bytes(re.sub(rb'"scorer_version":\d+', b'"scorer_version":0', lines))
    ended = evalkit("score", folder, "--processes", "1")
    assert "1 not as before by facts v0 (1 correct -> incorrect)" in ended.out
    assert scores.read_bytes() == good
    scores.unlink()
    assert "not scored before" in evalkit("score", folder).out
    assert scores.read_bytes() == good
    assert journal.read_bytes() == evidence


def test_runs_that_cannot_be_scored_again(refused: Refused, tmp_path: Path) -> None:
    quiz, folder = write_quiz(tmp_path / "quiz", 3), tmp_path / "run"
    with FakeServer(script(3)) as server:
        config = check_config({"tasks": [str(quiz)], "redact": True}, where="test")
        api.run(f"{server.url}#fake", config, output=folder)
    refused(["score", str(folder)], ["is redacted: it holds no text"])
    refused(["score", str(tmp_path / "none")], ["none"])
