"""`evalkit soak`: from the words of the command line to files and exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from evalkit.report.schema import schema_of
from tests.cli.conftest import Refused, Run
from tests.servers.ailing import Ails, ailing
from tests.soak.journals import MB, Course

LENIENT = ("--max-leak", "60", "--max-slowdown", "3000")


def test_a_sound_server_and_its_files(evalkit: Run, tmp_path: Path) -> None:
    with ailing() as (_, port):
        ended = evalkit(
            "soak", f"http://127.0.0.1:{port}#m", "--for", "6s", "--json", "-o", str(tmp_path),
            *LENIENT,
        )  # fmt: skip
    assert ended.code == 0, ended.err
    assert ended.json == json.loads((tmp_path / "soak.json").read_text("utf-8"))
    jsonschema.validate(ended.json, schema_of("soak"))
    assert ended.json["state"] == "stable"
    assert (tmp_path / "soak.html").is_file()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_one_that_is_cut_short_is_judged_for_what_ran(
    evalkit: Run, tmp_path: Path, sign: signal.Signals
) -> None:
    with ailing(Ails(leak=20e6)) as (_, port):
        words = ["soak", f"http://127.0.0.1:{port}#m", "--minutes", "3", "-o", str(tmp_path)]
        words += ["--max-slowdown", "3000"]
        process = subprocess.Popen(
            [sys.executable, "-m", "evalkit", *words], stdout=subprocess.PIPE, text=True
        )
        journal = tmp_path / "soak.jsonl"
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            if journal.is_file() and _last(journal) > 6.0:
                break
            time.sleep(0.1)
        process.send_signal(sign)
        out, _ = process.communicate(timeout=60)
    if sign == signal.SIGKILL:
        assert process.returncode == -sign
        ended = evalkit("soak", "--verdict", "-o", str(tmp_path), "--max-slowdown", "3000")
        code, out = ended.code, ended.out
    else:
        code = process.returncode
    assert code == 3, out
    assert "Memory leaks" in out
    assert "of 3.0 min" in out


def _last(journal: Path) -> float:
    lines = journal.read_bytes().splitlines()[:-1]
    return float(json.loads(lines[-1]).get("t", 0.0)) if lines else 0.0


def test_an_endpoint_that_is_down_is_said_to_be(evalkit: Run, tmp_path: Path) -> None:
    ended = evalkit("soak", "http://127.0.0.1:9#m", "--for", "6s", "-o", str(tmp_path))
    assert ended.code == 5
    assert "Traceback" not in ended.err
    assert not (tmp_path / "soak.json").exists()


def test_the_verdict_follows_the_limits_that_are_given(evalkit: Run, tmp_path: Path) -> None:
    Course(hours=1, memory=lambda t: MB * t / 60).write(tmp_path)
    words = ("soak", "--verdict", "-o", str(tmp_path))
    found = evalkit(*words)
    assert found.code == 3
    assert "Memory leaks" in found.out
    assert evalkit(*words, "--max-leak", "3").code == 0
    told = evalkit(*words, "--lang", "zh")
    assert told.code == 3
    assert "内存泄漏" in told.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["soak"], ["Missing argument"]),
        (["soak", "q4", "--for", "8x"], ["'8x' is no duration", "1h30m"]),
        (["soak", "q4", "--for", "0.5s"], ["from 1 second"]),
        (["soak", "q4", "--hours", "1", "--minutes", "2"], ["Give one of"]),
        (["soak", "q4", "--prompt-tokens", "9-3"], ["no range of tokens"]),
        (["soak", "q4", "--max-leak", "x"], ["no growth of memory"]),
        (["soak", "--verdict"], ["needs -o"]),
        (["soak", "--verdict", "-o", "."], ["There is no soak"]),
    ],
)
def test_wrong_words_are_refused(refused: Refused, words: list[str], said: list[str]) -> None:
    refused(words, said)
