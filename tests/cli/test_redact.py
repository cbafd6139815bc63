"""Redacted runs: no text anywhere, and every number as if there were."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit import api
from evalkit.cli import main
from evalkit.config import Config, check_config
from evalkit.errors import EvalKitError
from evalkit.stages.gating import gate_folder
from tests.cli.conftest import Run
from tests.servers.fake import FakeServer, Fault, Script

SECRET = "0123456789abcdef-redaction"
HEAD = """\
name: {name}
version: 1
family: {family}
description: A test.
scorer: {family}
max_tokens: 64
margin: 5
"""
# Words that stand nowhere else, so that finding one is a leak.
WORDS = {"zephyrquill", "glimmerwort", "quorblex", "brindlemoor", "snarkwhistle", "病历编号"}
HOSTILE = (
    "</script><script>brindlemoor()</script> \u202eglimmerwort \x00 ${HOME} {{7*7}} ]]> "
    "snarkwhistle\ud800 病历编号 %s%n"
)


def question(number: int) -> str:
    return f"The zephyrquill of patient {number} shows which glimmerwort? 病历编号{number}"


def program(number: int) -> str:
    return f"Write brindlemoor{number}(x), which returns x + {number}."


def write_sets(folder: Path, n: int) -> list[Path]:
    facts = [
        {
            "id": f"case-{number}",
            "language": "en",
            "category": "wards",
            "input": question(number),
            "target": {"kind": "answer", "aliases": [f"quorblex{number}"], "rivals": []},
        }
        for number in range(n)
    ]
    code = [
        {
            "id": f"program-{number}",
            "language": "en",
            "category": "programs",
            "input": program(number),
            "target": {
                "entry_point": f"brindlemoor{number}",
                "tests": [[[1], 1 + number]],
                "reference": "",
            },
        }
        for number in range(2)
    ]
    made = []
    for family, rows in (("facts", facts), ("code", code)):
        path = folder / f"private-{family}"
        path.mkdir(parents=True)
        (path / "taskset.yaml").write_text(HEAD.format(name=path.name, family=family), "utf-8")
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (path / "samples.jsonl").write_text(lines, encoding="utf-8")
        made.append(path)
    return made


def script(n: int, wrong: int, **more: Any) -> Script:
    answers = {
        question(number): f"{HOSTILE if number % 5 == 0 else ''} It is quorblex{number}."
        if number >= wrong
        else f"It is snarkwhistle{number}."
        for number in range(n)
    }
    answers |= {
        program(number): f"```python\ndef brindlemoor{number}(x):\n    return x + {number}\n```"
        for number in range(2)
    }
    return Script(
        answers=answers,
        message={"reasoning_content": "Hm, glimmerwort and brindlemoor?"},
        **more,
    )


def settings(**more: Any) -> Config:
    return check_config({"requests": {"max_attempts": 1}, **more}, where="a test")


def content(folder: Path) -> Any:
    """Return `comparison.json` without texts, hashes and what depends on the clock."""
    comparison = json.loads((folder / "comparison.json").read_text("utf-8"))
    for key in ("created", "timing", "redacted"):
        del comparison[key]
    for result in comparison["results"]:
        for sample in result["samples"]:
            for key in ("prompt", "target", "prompt_hash"):
                del sample[key]
            for arm in ("baseline", "candidate"):
                for key in ("text", "reasoning", "answer", "explanation", "error"):
                    del sample[arm][key]
                del sample[arm]["text_hash"], sample[arm]["text_length"]
    return comparison


def leaked(folder: Path, *outputs: str) -> Iterator[tuple[str, str]]:
    forms = {word: [word.encode(), word.encode().hex().encode()] for word in WORDS}
    for word, found in forms.items():
        found.append(json.dumps(word)[1:-1].encode())
        found += [base64.b64encode(b"\0" * n + word.encode()).rstrip(b"=")[4:-2] for n in range(3)]
    texts = [(str(path), path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    texts += [(f"output {n}", output.encode()) for n, output in enumerate(outputs)]
    for name, data in texts:
        for word, found in forms.items():
            if any(form.lower() in data.lower() for form in found):
                yield name, word


def test_no_word_of_a_prompt_target_or_answer_is_left(evalkit: Run, tmp_path: Path) -> None:
    sets = write_sets(tmp_path / "sets", 30)
    echo = (
        Fault("quote-400", match="patient 7 "),
        Fault("quote-503", match="patient 8 ", times=1),
    )
    with FakeServer(script(30, 0, faults=echo)) as a, FakeServer(script(30, 12)) as b:
        words = (
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", f"{sets[0]},{sets[1]}",
            "-o", "out/o", "--redact", "--allow-code", "-v",
        )  # fmt: skip
        ended = evalkit(*words, "--html", "out/h.html", "--junit", "out/j.xml", "--md", "out/m.md")
        again = evalkit("report", "out/o", "--lang", "zh", "--json")
        told = evalkit("selftest", "out/o", "--json")
    assert ended.code == 3, ended.err
    assert again.code == told.code == 0, told.err
    assert list(leaked(tmp_path / "out", ended.out, ended.err, again.out, told.out)) == []
    assert again.json["redacted"]
    page = (tmp_path / "out/h.html").read_text("utf-8")
    assert "Prompts and answers are redacted" in page
    assert "哈希" in (tmp_path / "out/o/report.html").read_text("utf-8")
    records = read_lines(tmp_path / "out/o/runs", a)
    assert {record["redacted"]["score"]["status"] for record in records} == {"scored", "missing"}
    (failed,) = (record for record in records if record["error"])
    assert failed["error"]["message"].startswith("it refused the request (400)")


def read_lines(runs: Path, server: FakeServer) -> list[dict[str, Any]]:
    (run,) = runs.glob(f"*{server.url.rpartition(':')[2]}*")
    lines = (run / "completions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_redacted_plain_and_mixed_comparisons_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [str(path) for path in write_sets(tmp_path / "sets", 24)]
    plain = settings(tasks=tasks, allow_code=True)
    redact = settings(tasks=tasks, allow_code=True, redact=True)
    with FakeServer(script(24, 0)) as a, FakeServer(script(24, 6)) as b:
        for name, server in (("a", a), ("b", b)):
            api.run(f"{server.url}#fake", plain, output=tmp_path / name)
            api.run(f"{server.url}#fake", redact, output=tmp_path / f"{name}-redacted")
        monkeypatch.setenv("EVALKIT_REDACT_KEY", SECRET)
        api.run(f"{b.url}#fake", redact, output=tmp_path / "b-keyed")
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    recorded = settings(allow_code=True)
    api.compare(one, other, config=recorded, output=tmp_path / "whole")
    expected = content(tmp_path / "whole")
    ((candidate,),) = ([r["pooled"] for r in expected["results"]],)
    assert candidate["identical_texts"] == 20
    for place, arms in {
        "both": (f"{one}-redacted", f"{other}-redacted"),
        "mixed": (one, f"{other}-redacted"),
        "turned": (f"{one}-redacted", other),
        "keyed": (one, f"{other}-keyed"),
    }.items():
        api.compare(*arms, config=recorded, output=tmp_path / place)
        assert content(tmp_path / place) == expected
        assert list(leaked(tmp_path / place)) == []
        assert gate_folder(tmp_path / place).checked == "runs"
    monkeypatch.delenv("EVALKIT_REDACT_KEY")
    unread = gate_folder(tmp_path / "keyed")
    assert unread.checked == "comparison"
    assert "EVALKIT_REDACT_KEY" in unread.note
    monkeypatch.setenv("EVALKIT_REDACT_KEY", SECRET)
    with pytest.raises(EvalKitError, match="different secrets"):
        api.compare(f"{one}-redacted", f"{other}-keyed", config=recorded, output=tmp_path / "no")
    monkeypatch.setenv("EVALKIT_REDACT_KEY", SECRET[::-1])
    with pytest.raises(EvalKitError, match="secret that EVALKIT_REDACT_KEY does not hold"):
        api.compare(one, f"{other}-keyed", config=recorded, output=tmp_path / "no")
    keyed = (tmp_path / "b-keyed/completions.jsonl").read_text("utf-8")
    unkeyed = (tmp_path / "b-redacted/completions.jsonl").read_text("utf-8")
    assert not set(re.findall("[0-9a-f]{32}", keyed)) & set(re.findall("[0-9a-f]{32}", unkeyed))
    assert not any(SECRET.encode() in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())


def test_a_report_of_a_plain_comparison_without_its_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [str(write_sets(tmp_path / "sets", 24)[0])]
    with FakeServer(script(24, 0)) as a, FakeServer(script(24, 9)) as b:
        targets = [f"{a.url}#fake", f"{b.url}#fake"]
        api.compare(*targets, config=settings(tasks=tasks), output=tmp_path / "o")
    before = (tmp_path / "o/comparison.json").read_bytes()
    (tmp_path / "r").mkdir()
    words = ["report", str(tmp_path / "o"), "--redact", "--json", "--html", str(tmp_path / "r/h")]
    pages = []
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--md", str(tmp_path / "r/m"), "--junit", str(tmp_path / "r/j")])
        assert ended.value.code == 0
        pages.append((tmp_path / "r/h").read_text("utf-8"))
    printed = capsys.readouterr()
    assert "keep their texts" in printed.err
    assert list(leaked(tmp_path / "r", printed.out, printed.err)) == []
    assert pages[0] == pages[1]
    assert re.search("redacted: 17 characters, hash [0-9a-f]{12}", pages[0])
    assert before == (tmp_path / "o/comparison.json").read_bytes()


@pytest.mark.parametrize("status", [401, 404])
def test_an_error_that_ends_a_run_quotes_nothing(tmp_path: Path, status: int) -> None:
    tasks = [str(write_sets(tmp_path / "sets", 2)[0])]
    faults = (Fault(f"quote-{status}", match="patient"),)
    words = "its words are redacted"
    with (
        FakeServer(script(2, 0, faults=faults)) as a,
        pytest.raises(EvalKitError, match=words) as e,
    ):
        api.run(f"{a.url}#fake", settings(tasks=tasks, redact=True), output=tmp_path / "o")
    told = "".join(traceback.format_exception(e.value))
    assert list(leaked(tmp_path / "o", told)) == []


def test_what_a_folder_holds_is_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [str(write_sets(tmp_path / "sets", 3)[0])]
    plain, redact = settings(tasks=tasks), settings(tasks=tasks, redact=True)
    with FakeServer(script(3, 0)) as a:
        target = f"{a.url}#fake"

        def refused(config: Config, place: str, words: str) -> None:
            journal = (tmp_path / place / "completions.jsonl").read_bytes()
            with pytest.raises(EvalKitError, match=words):
                api.run(target, config, output=tmp_path / place)
            assert (tmp_path / place / "completions.jsonl").read_bytes() == journal

        api.run(target, plain, output=tmp_path / "plain")
        api.run(target, redact, output=tmp_path / "redacted")
        asked = len(a.log)
        refused(redact, "plain", "holds texts: it goes on without --redact")
        refused(plain, "redacted", "holds redacted answers: it goes on with --redact")
        header = json.loads((tmp_path / "redacted/header.json").read_text("utf-8"))
        header["redaction"]["scorers"]["private-facts"] = "facts v0"
        (tmp_path / "redacted/header.json").write_text(json.dumps(header), "utf-8")
        refused(redact, "redacted", r"facts v0 → facts v\d.*no texts to score again")
        monkeypatch.setenv("EVALKIT_REDACT_KEY", SECRET)
        refused(redact, "redacted", "redacted with another secret")
        monkeypatch.setenv("EVALKIT_REDACT_KEY", "short")
        refused(redact, "redacted", "fewer than 16 characters")
        assert len(a.log) == asked


def test_scores_of_an_older_scorer_are_not_taken_for_new_ones(tmp_path: Path) -> None:
    tasks = [str(write_sets(tmp_path / "sets", 12)[0])]
    with FakeServer(script(12, 0)) as a, FakeServer(script(12, 6)) as b:
        for name, server in (("a", a), ("b", b)):
            config = settings(tasks=tasks, redact=True)
            api.run(f"{server.url}#fake", config, output=tmp_path / name)
    journal = tmp_path / "b/completions.jsonl"
    old = re.sub(rb'"scorer_version":\d+', b'"scorer_version":0', journal.read_bytes())
    journal.write_bytes(old)
    with pytest.raises(EvalKitError, match="scored by facts v0; there is no text"):
        api.compare(tmp_path / "a", tmp_path / "b", config=settings(), output=tmp_path / "o")


def test_killed_redacted_runs_go_on_where_they_were(tmp_path: Path) -> None:
    n, kills = 45, 3
    tasks = write_sets(tmp_path / "sets", n)[0]

    def command(out: str) -> list[str]:
        return [
            sys.executable, "-m", "evalkit", "run", f"{a.url}#fake", "-t", str(tasks),
            "-o", str(tmp_path / "out" / out), "-j", "3", "--redact", "--display", "none",
        ]  # fmt: skip

    def lines() -> int:
        path = tmp_path / "out/killed/completions.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    with FakeServer(script(n, 10, delay=0.08)) as a:
        assert subprocess.run(command("whole"), check=False, timeout=60).returncode == 0
        a.log.clear()
        for _ in range(kills):
            target, deadline = lines() + 6, time.monotonic() + 60
            process = subprocess.Popen(command("killed"))
            while process.poll() is None and lines() < target and time.monotonic() < deadline:
                pass
            os.kill(process.pid, signal.SIGKILL)
            process.wait(60)
            assert list(leaked(tmp_path / "out")) == []
        assert lines() < n, "the kills must fall into the middle"
        assert subprocess.run(command("killed"), check=False, timeout=60).returncode == 0
        asked = [entry["prompt"] for entry in a.log if "patient" in entry["prompt"]]
    assert len(set(asked)) == n
    assert len(asked) - n <= kills * 3
    whole, killed = (sorted(scores(tmp_path / "out" / name)) for name in ("whole", "killed"))
    assert whole == killed
    assert len(whole) == n


def scores(folder: Path) -> list[str]:
    return (folder / "scores.jsonl").read_text("utf-8").splitlines()
