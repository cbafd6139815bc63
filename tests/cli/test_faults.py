"""What a user sees when an endpoint fails: texts, exit codes, and what is kept."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer, Fault

QUICK = ("--set", "requests.backoff_base=0.01", "--set", "requests.backoff_cap=0.02")
POISON = (
    Fault("500", match="box 7?"),
    Fault("error-200", match="box 9?"),
    Fault("400-context", match="box 11?"),
    Fault("null", match="box 13?"),
)


def journal(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "completions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def errors(err: str) -> list[str]:
    assert "Traceback" not in err
    return [line for line in err.splitlines() if line.startswith("error:")]


def test_poison_is_named_and_the_rest_is_answered(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 100)
    with FakeServer(script(100)) as a, FakeServer(script(100, wrong=[1], faults=POISON)) as b:
        targets = (f"{a.url}#fake", f"{b.url}#fake")
        ended = evalkit("compare", *targets, "-t", quiz, "-o", "o", "--json", *QUICK)
        alone = evalkit("run", targets[1], "-t", quiz, "-o", "r", "--set", "policy.max_missing=2")
    assert ended.code == 4, ended.err
    assert "3 failed (" in ended.err
    for kind in ("ServerError 1", "ProtocolError 1", "ContextLengthError 1"):
        assert kind in ended.err
    for sample in ("box-0007", "box-0009", "box-0011"):
        assert f"{sample} failed" in ended.err
    assert "box-0013 failed" not in ended.err, "null is an answer"
    comparison = json.loads((tmp_path / "o" / "comparison.json").read_text("utf-8"))
    (result,) = comparison["results"]
    threats = {threat["code"]: threat["values"] for threat in result["threats"]}
    assert threats["MISSING"] == {"baseline": 0, "candidate": 3, "n": 100}
    assert threats["MISSING_REASONS"] == {
        "infra:ProtocolError": 1,
        "infra:ServerError": 1,
        "request:ContextLengthError": 1,
    }
    assert "infra:ServerError" in (tmp_path / "o" / "report.html").read_text("utf-8")
    assert alone.code == 5
    assert "No answer: 3 of 100 (infra:ProtocolError 1, infra:ServerError 1" in alone.out
    assert "Too many have no answer" in alone.err
    assert errors(alone.err) == []


def test_an_outage_keeps_what_there_is_and_the_same_command_goes_on(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", 60)
    with FakeServer(script(60)) as server:
        words = ("run", f"{server.url}#fake", "-t", quiz, "-o", "r", "--json", *QUICK)
        server.server.script = script(60, faults=(Fault("500", after=50),))
        ended = evalkit(*words)
        assert ended.code == 5
        error = ended.json["error"]
        assert "seems to be down" in error["message"]
        assert "something broke" in error["message"]
        assert "the same command goes on" in error["hint"]
        assert ended.json["error"]["exit_code"] == 5
        rows = journal(tmp_path / "r")
        kept = [row["fingerprint"] for row in rows if row["error"] is None]
        assert len(kept) == len(set(kept)) >= 15
        server.server.script = script(60)
        server.log.clear()
        again = evalkit(*words)
        asked = [entry for entry in server.log if "code word" in entry["prompt"]]
    assert again.code == 0, again.err
    assert again.json["missing"] == {}
    assert len(asked) == 60 - len(kept)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("401", ["invalid key", "MY_KEY, which holds another key"]),
        ("403", ["not allowed", "MY_KEY"]),
        ("404", ["The model does not exist.", "It serves: fake."]),
    ],
)
@pytest.mark.parametrize("verb", ["run", "compare"])
def test_a_refusal_ends_it_at_once(
    evalkit: Run, tmp_path: Path, verb: str, kind: str, expected: list[str]
) -> None:
    quiz = write_quiz(tmp_path / "quiz", 100)
    with FakeServer(script(100, faults=(Fault(kind),))) as bad, FakeServer(script(100)) as good:
        config = {
            "endpoints": {
                "bad": {
                    "kind": "openai",
                    "base_url": bad.url,
                    "model": "fake",
                    "api_key_env": "MY_KEY",
                },
                "good": {"kind": "openai", "base_url": good.url, "model": "fake"},
            },
            "max_connections": 64,
        }
        (tmp_path / "c.yaml").write_text(json.dumps(config), "utf-8")
        targets = ("bad",) if verb == "run" else ("good", "bad")
        words = (verb, *targets, "-c", "c.yaml", "-t", quiz, "-o", "o")
        clock = time.perf_counter()
        ended = evalkit(*words, env={"MY_KEY": "sk-hush-hush"})
        assert time.perf_counter() - clock < 30
        assert bad.server.requests <= 16
    assert ended.code == 5
    (error,) = errors(ended.err)
    for word in ("'bad'", f"{bad.url}/v1/chat/completions", *expected):
        assert word in error
    assert "sk-hush-hush" not in ended.err + ended.out


def test_a_hang_is_cut_by_its_own_deadline(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 30)
    faults = (Fault("hang", match="box 7?"), Fault("stall", match="box 9?"))
    deadlines = ("--set", "requests.idle_timeout=0.5", "--set", "requests.timeout=2")
    with FakeServer(script(30, faults=faults)) as server:
        ended = evalkit(
            *("run", f"{server.url}#fake", "-t", quiz, "-o", "r", "--json"),
            *("--set", "requests.max_attempts=1", *deadlines),
        )
    assert ended.json["missing"] == {"infra:Timeout": 2}
    assert ended.code == 5, "2 of 30 are more than 5 percent"
    rows = journal(tmp_path / "r")
    said = {row["sample_id"]: row["error"]["message"] for row in rows if row["error"]}
    assert "did not answer within 2 s" in said["box-0007"]
    assert "stopped in the middle of its answer for 0.5 s" in said["box-0009"]
