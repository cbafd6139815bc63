"""`evalkit compare` over real sockets: what it finds, writes, prints and exits with."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer, Fault

N = 60


def results(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "out" / "comparison.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["results"]
    return found


def test_a_broken_candidate_holds_with_the_numbers_that_were_put_in(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    # Baseline: 5 wrong. Candidate: the same five, 20 more wrong, 5 abstained.
    good, bad = script(N, wrong=range(5)), script(N, wrong=range(25), abstained=range(25, 30))
    with FakeServer(good) as a, FakeServer(bad) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out", "--json"
        )
    assert ended.code == 3, ended.err
    body = ended.json
    assert body["exit_code"] == 3
    comparison = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    result = comparison["results"][0]
    assert result["verdict"]["state"] == "HOLD"
    pooled = result["pooled"]
    assert pooled["flips"] == {"both": 30, "gained": 0, "lost": 25, "neither": 5}
    assert pooled["accuracy"]["difference"]["value"] == pytest.approx(-25 / 60)
    assert pooled["recovery"]["value"] == pytest.approx(30 / 55)
    assert pooled["baseline"]["hallucination"]["value"] == pytest.approx(5 / 60)
    assert pooled["candidate"]["hallucination"]["value"] == pytest.approx(25 / 60)
    assert pooled["candidate"]["abstention"]["value"] == pytest.approx(5 / 60)
    assert pooled["candidate"]["hallucination_attempted"]["value"] == pytest.approx(25 / 55)
    assert result["causes"] == {"facts": {"abstained": 5, "wrong_result": 20}}
    assert len([s for s in result["samples"] if s["transition"] == "regression"]) == 25


def test_every_form_is_written_and_says_the_same(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    with FakeServer(script(N)) as a, FakeServer(script(N, wrong=range(30))) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out",
            "--junit", "copies/j.xml", "--html", "copies/r.html", "--md", "copies/r.md",
        )  # fmt: skip
    assert ended.code == 3
    assert "HOLD" in ended.out
    folder = tmp_path / "out"
    for name, copy in (("report.html", "r.html"), ("report.md", "r.md"), ("junit.xml", "j.xml")):
        text = (folder / name).read_bytes()
        assert text == (tmp_path / "copies" / copy).read_bytes()
        assert b"HOLD" in text
    assert ET.parse(folder / "junit.xml").getroot().tag == "testsuites"
    again = evalkit("report", "out")
    assert again.code == 0
    assert "HOLD" in again.out
    chinese = evalkit("report", "out", "--lang", "zh")
    assert chinese.code == 0
    assert 'lang="zh' in (folder / "report.html").read_text(encoding="utf-8")


def test_failed_requests_are_missing_data_and_never_wrong_answers(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    poison = (Fault("error-200", match="box 7?"), Fault("400-context", match="box 8?"))
    with FakeServer(script(N)) as a, FakeServer(script(N, wrong=[1], faults=poison)) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out", "--json",
            "--set", "requests.backoff_base=0.01",
        )  # fmt: skip
    assert ended.code == 4, ended.err
    comparison = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    pooled = comparison["results"][0]["pooled"]
    assert pooled["candidate"]["n"] == 58
    assert pooled["candidate"]["missing"] == 2
    assert pooled["flips"] == {"both": 57, "gained": 0, "lost": 1, "neither": 0}
    assert comparison["candidates"][0]["errors"] == {"ContextLengthError": 1, "ProtocolError": 1}


def test_recorded_runs_compare_without_any_endpoint(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    with FakeServer(script(N)) as a, FakeServer(script(N, wrong=range(30))) as b:
        for name, server in (("a", a), ("b", b)):
            ended = evalkit("run", f"{server.url}#fake", "-t", quiz, "-o", f"runs/{name}")
            assert ended.code == 0, ended.err
        direct = evalkit("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "direct")
    recorded = evalkit("compare", "runs/a", "runs/b", "-o", "recorded")
    assert (recorded.code, direct.code) == (3, 3)
    one, other = (
        json.loads((tmp_path / name / "comparison.json").read_text(encoding="utf-8"))["results"]
        for name in ("direct", "recorded")
    )
    assert one[0]["pooled"] == other[0]["pooled"]


def test_runs_that_were_asked_different_things_do_not_compare(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a:
        evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", "a")
        evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", "b", "-n", "10")
    ended = evalkit("compare", "a", "b")
    assert ended.code == 2
    assert "limit" in ended.err
    write_quiz(quiz, 21)
    changed = evalkit("compare", "a", "b")
    assert changed.code == 2
    assert "'quiz' has changed" in changed.err
    checked = evalkit("check", "a")
    assert checked.code == 2
    assert "no endpoint to reach" in checked.err


def test_the_same_endpoint_twice_is_invalid(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a:
        url = f"{a.url}#fake"
        twice = evalkit("compare", url, url, "-t", quiz)
        assert twice.code == 2
        assert "given twice" in twice.err
        hidden = evalkit("compare", url, f"{a.url}/v1#fake", "-t", quiz, "-o", "out")
        assert hidden.code == 5, hidden.out
        assert "same endpoint" in hidden.err
        assert not [entry for entry in a.log if "code word" in entry["prompt"]]


def test_two_endpoints_that_answer_everything_alike_are_not_compared(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    with FakeServer(script(N, wrong=[1])) as a, FakeServer(script(N, wrong=[1])) as b:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")
        ended = evalkit(*words, "--json")
        assert ended.code == 5, ended.err
        assert [code["code"] for code in results(tmp_path)[0]["verdict"]["codes"]] == [
            "SAME_ENDPOINT"
        ]
        allowed = evalkit(*words, "--allow-confounded")
        assert allowed.code == 4, allowed.out


def test_prompts_that_the_baseline_gets_all_wrong_prove_nothing(
    evalkit: Run, tmp_path: Path
) -> None:
    """However many they are, nothing can be lost on them: that must not ship."""
    quiz = write_quiz(tmp_path / "quiz", 700)
    one, other = script(700, wrong=range(700)), script(700, wrong=range(1, 700), abstained=[0])
    with FakeServer(one) as a, FakeServer(other) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out", "-j", "32"
        )
    assert ended.code == 5, ended.out
    assert "BASELINE_ZERO" in {code["code"] for code in results(tmp_path)[0]["verdict"]["codes"]}


def test_a_second_command_asks_nothing_again_and_fresh_asks_all(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a, FakeServer(script(20)) as b:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")

        def asked() -> int:
            return sum("code word" in entry["prompt"] for entry in (*a.log, *b.log))

        # Twenty of each, and two of the baseline a second time (--aa).
        evalkit(*words)
        assert asked() == 42
        evalkit(*words)
        assert asked() == 42
        evalkit(*words, "--fresh")
        assert asked() == 84


def test_other_settings_in_the_same_folder_are_refused_with_the_difference(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a, FakeServer(script(20)) as b:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")
        evalkit(*words)
        ended = evalkit(*words, "--set", "sampling.temperature=0.7")
    assert ended.code == 2
    assert "temperature" in ended.err
    assert "--fresh" in ended.err


def test_a_flag_that_a_recorded_run_cannot_honour_is_refused(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a, FakeServer(script(20, wrong=[1])) as b:
        for name, server in (("a", a), ("b", b)):
            assert evalkit("run", f"{server.url}#fake", "-t", quiz, "-o", name).code == 0
    refused = evalkit("compare", "a", "b", "-n", "5")
    assert refused.code == 2
    assert "limit" in refused.err
    other = evalkit("compare", "a", "b", "-t", "facts")
    assert other.code == 2
    assert "tasks" in other.err
    assert evalkit("compare", "a", "b").code == 4
    # Saying what was said then is no other wish, however the path is written.
    assert evalkit("compare", "a", "b", "-t", "quiz").code == 4
    assert evalkit("compare", "a", "b", "-t", quiz).code == 4


def test_code_never_runs_unless_it_may(evalkit: Run, tmp_path: Path) -> None:
    """A taskset cannot talk its way around --allow-code."""
    folder = write_quiz(tmp_path / "evil", 3)
    head = (folder / "taskset.yaml").read_text(encoding="utf-8")
    head = head.replace("scorer: facts", "scorer: code\ncode: false")
    (folder / "taskset.yaml").write_text(head, encoding="utf-8")
    target = {"entry_point": "f", "tests": [[[1], 1]]}
    row = {"id": "one", "language": "en", "input": "Write f.", "target": target}
    (folder / "samples.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with FakeServer(script(3)) as a:
        ended = evalkit("run", f"{a.url}#fake", "-t", folder, "-o", "out")
    assert ended.code == 2
    assert "--allow-code" in ended.err
    assert not (tmp_path / "out" / "scores.jsonl").exists()
