"""Several answers to every prompt over real sockets: pass@k, one unit a prompt, warnings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.report.markdown import escaped
from tests.cli.conftest import Refused, Run
from tests.cli.test_noise import Wavering, result
from tests.quiz import HEAD, answers, question, script, write_quiz
from tests.servers.fake import FakeServer

N, EPOCHS = 40, 3
WARM = ("--set", "sampling.temperature=0.8", "--aa", "0")


def exact_quiz(folder: Path) -> Path:
    """Write the quiz as a taskset of a family with exact answers."""
    write_quiz(folder, N)
    head = HEAD.replace("family: facts", "family: math")
    head = head.replace("measures_hallucination: true", "measures_hallucination: false")
    (folder / "taskset.yaml").write_text(head, encoding="utf-8")
    return folder


def once_right(numbers: range) -> FakeServer:
    """Serve answers of which those to some prompts are right at the first asking alone."""
    wrong = answers(N, wrong=numbers)
    then = {question(number): wrong[question(number)] for number in numbers}
    return FakeServer(replace(script(N), answers=Wavering(answers(N), then)))


def test_pass_at_k_of_both_arms_in_every_form(evalkit: Run, tmp_path: Path) -> None:
    quiz = exact_quiz(tmp_path / "quiz")
    with once_right(range(10)) as a, once_right(range(20)) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out",
            "--epochs", EPOCHS, *WARM, "--json",
        )  # fmt: skip
    rows = {row["k"]: row for row in ended.json["candidates"][0]["pass_at"]}
    assert list(rows) == [1, 2, 3]
    # Once in three: pass@1 is 1/3, pass@2 is 2/3, pass@3 is 1.
    for k, share in ((1, 1 / 3), (2, 2 / 3), (3, 1.0)):
        assert rows[k]["baseline"]["value"] == pytest.approx((30 + 10 * share) / N)
        assert rows[k]["candidate"]["value"] == pytest.approx((20 + 20 * share) / N)
        assert rows[k]["difference"]["value"] == pytest.approx(10 * (share - 1) / N)
        assert (rows[k]["prompts"], rows[k]["scope"]) == (N, "math")
    found = result(tmp_path / "out")
    assert found["pooled"]["accuracy"]["n"] == N * EPOCHS
    assert found["pooled"]["accuracy"]["difference"]["n_clusters"] == N
    assert found["pooled"]["baseline"]["accuracy"]["n_clusters"] == N
    assert "pass@3: 100.0%" in evalkit("report", "out").out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Chen et al. 2021" in page
    assert f"| {escaped('pass@3')} | 40 |" in (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "at temperature 0" not in ended.err

    scored = evalkit("score", "out/runs/" + ended.json["baseline"], "--pass-at", "2", "--json")
    assert scored.json[0]["tasksets"]["quiz"]["pass_at"]["2"]["value"] == pytest.approx(
        (30 + 20 / 3) / N
    )
    other = evalkit("compare", "out/runs/" + ended.json["baseline"],
                    "out/runs/" + ended.json["candidates"][0]["endpoint"], "-t", quiz,
                    "-o", "again", "--pass-at", "2", "--json")  # fmt: skip
    assert [row["k"] for row in other.json["candidates"][0]["pass_at"]] == [2]


def test_repeats_at_temperature_zero_are_called_useless(evalkit: Run, tmp_path: Path) -> None:
    quiz = exact_quiz(tmp_path / "quiz")
    with FakeServer(script(N)) as a, FakeServer(script(N, wrong=range(5))) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out",
            "--epochs", 2, "-n", 20,
        )  # fmt: skip
    assert "2 epochs at temperature 0" in ended.err
    threats = {threat["code"]: threat for threat in result(tmp_path / "out")["threats"]}
    assert threats["GREEDY_EPOCHS"]["values"] == {"epochs": 2, "identical": 20, "n": 20}
    assert "20 of 20 prompts had the same answers every time" in " ".join(ended.out.split())


def test_one_epoch_has_no_pass_at_k(evalkit: Run, tmp_path: Path) -> None:
    quiz = exact_quiz(tmp_path / "quiz")
    with FakeServer(script(N)) as a, FakeServer(script(N)) as b:
        ended = evalkit("run", f"{a.url}#fake", "-t", quiz, "-n", 12, "-o", "run", "--json")
        assert ended.json["tasksets"]["quiz"]["pass_at"] == {}
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-n", 12, "-o", "out"
        )
    assert "pass@" not in ended.out
    assert "pass@" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_more_tries_than_answers_are_refused(refused: Refused, tmp_path: Path) -> None:
    quiz = exact_quiz(tmp_path / "quiz")
    refused(
        ["run", "http://127.0.0.1:9#x", "-t", str(quiz), "--epochs", "2", "--pass-at", "5"],
        ["pass@5 needs 5 answers to a prompt, and there are 2", "--epochs 5"],
    )


def test_grade_numbers_the_lines_of_one_id(evalkit: Run, refused: Refused, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 2)
    rows = [
        {"id": f"box-000{n}", "completion": f"The code word is {word}{n}."}
        for n, words in enumerate((("alpha", "omega", "omega"), ("alpha",) * 3))
        for word in words
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    ended = evalkit("grade", quiz, "answers.jsonl", "--epochs", 3, "--json")
    assert ended.json["pass_at"] == pytest.approx({"1": 2 / 3, "2": 5 / 6, "3": 1.0})
    assert ended.json["pass_at_estimates"]["2"]["n"] == 2
    assert "pass@2" in evalkit("grade", quiz, "answers.jsonl", "--epochs", 3).out
    refused(["grade", "quiz", "answers.jsonl", "--epochs", "2"], ["more than 2 answers"])
    refused(["grade", "quiz", "answers.jsonl", "--epochs", "3", "--pass-at", "4"], ["pass@4"])
