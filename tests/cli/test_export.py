from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Refused, Run
from tests.quiz import answers, write_quiz
from tests.servers.fake import FakeServer, Script


def test_a_redacted_run_goes_out_without_texts(evalkit: Run, tmp_path: Path) -> None:
    tasks = write_quiz(tmp_path / "quiz", 3)
    key = {"EVALKIT_REDACT_KEY": "0123456789abcdef", "OPENAI_API_KEY": "sk-not-for-anybody"}
    with FakeServer(Script(answers=answers(3, wrong=[1]))) as server:
        words = ["run", f"{server.url}#fake", "-t", tasks, "-o", "run", "--redact"]
        done = evalkit(*words, env=key)
    assert done.code == 0, done.err
    done = evalkit("export", "run", "--to", "lm-eval", "-o", "out", "--json", env=key)
    assert done.code == 0, done.err
    (folder,) = done.json["folders"]
    told = "".join(file.read_text("utf-8") for file in (tmp_path / folder).iterdir())
    for word in ("code word", "alpha", "omega", "sk-not", "0123456789abcdef"):
        assert word not in told.replace("Code words of boxes", "")
    (file,) = (tmp_path / folder).glob("samples_quiz_*")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [row["acc"] for row in rows] == [1.0, 0.0, 1.0]


def test_what_cannot_be_exported(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    refused(["export", "nothing", "--to", "parquet"], ["neither a run folder nor a comparison"])
    refused(["export", "nothing", "--to", "excel"], ["excel", "lm-eval", "parquet"])
