"""Bad input: one sentence, the right exit code, no traceback, nothing lost."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def is_one_sentence(ended: Ended, code: int, *words: str) -> None:
    assert ended.code == code, ended.err
    errors = [line for line in ended.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, ended.err
    assert "Traceback" not in ended.err + ended.out
    for word in words:
        assert word in errors[0], errors[0]


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["compare", "q8", "q44"], 2, ["Unknown endpoint 'q44'", "q4"]),
        (["compare", "q8"], 2, ["baseline and at least one candidate"]),
        (["compare"], 2, ["nothing to compare", "evalkit compare q8 q4"]),
        (["compare", "q8", "q8"], 2, ["given twice"]),
        (["compare", "http://127.0.0.1:1", "q8"], 2, ["#"]),
        (["compare", "q8", "q4", "-c", "none.yaml"], 2, ["none.yaml", "evalkit init"]),
        (["compare", "q8", "q4", "--policy", "none.yaml"], 2, ["Policy file 'none", "strict"]),
        (["compare", "q8", "q4", "-t", "fact"], 2, ["Unknown taskset 'fact'", "facts"]),
        (["compare", "q8", "q4", "-t", "code"], 2, ["--allow-code"]),
        (["compare", "q8", "q4", "--set", "sed=1"], 2, ["'sed'", "seed"]),
        (["compare", "q8", "q4", "--margin", "-1"], 2, ["margins.accuracy"]),
        (["compare", "q8", "q4", "--limit", "0"], 2, ["--limit"]),
        (["compare", "q8", "q4", "--lmit", "3"], 2, ["--lmit", "--limit"]),
        (["comprae", "q8", "q4"], 2, ["comprae", "compare"]),
        (["report", "nowhere"], 2, ["nowhere"]),
        (["report", "."], 2, ["comparison.json"]),
        (["tasks", "facs"], 2, ["facs", "facts"]),
        (["check", "q9"], 2, ["Unknown endpoint 'q9'", "q8"]),
        (["run"], 2, ["TARGET"]),
    ],
)
def test_usage_errors(evalkit: Run, words: list[str], code: int, expected: list[str]) -> None:
    is_one_sentence(evalkit(*words), code, *expected)


def test_errors_are_json_too(evalkit: Run) -> None:
    ended = evalkit("compare", "q8", "q44", "--json")
    assert ended.code == 2
    error = ended.json["error"]
    assert error["exit_code"] == 2
    assert "q44" in error["message"]
    assert "q4" in error["hint"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("endpoints: [", ["line 1", "YAML"]),
        ("endpints: {}", ["'endpints'", "endpoints"]),
        ("endpoints: {a: {kind: opnai}}", ["'a'", "opnai", "openai"]),
        ("endpoints: {a: {kind: openai, base_rul: x, model: m}}", ["'a'", "base_rul", "base_url"]),
        ("endpoints: {a: {model: m}}", ["'a'", "kind"]),
    ],
)
def test_faulty_configurations(
    evalkit: Run, tmp_path: Path, text: str, expected: list[str]
) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    is_one_sentence(evalkit("compare", "-c", "c.yaml", "a", "q8"), 2, *expected)


def test_an_unreachable_server_is_one_sentence_before_anything_is_asked(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", 12)
    url = f"http://127.0.0.1:{free_port()}"
    with FakeServer(script(12)) as a:
        ended = evalkit("compare", f"{a.url}#fake", f"{url}#m", "-t", quiz, timeout=120)
        assert not [entry for entry in a.log if "code word" in entry["prompt"]]
    is_one_sentence(ended, 5, url)


def test_a_wrong_key_names_the_variable_and_never_the_key(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 12)
    env = {"OPENAI_API_KEY": "sk-wrong-secret"}
    with FakeServer(script(12, key="sk-right")) as a, FakeServer(script(12)) as b:
        ended = evalkit("compare", f"{b.url}#fake", f"{a.url}#fake", "-t", quiz, "-o", "o", env=env)
    is_one_sentence(ended, 5, "OPENAI_API_KEY", a.url)
    assert "sk-wrong-secret" not in ended.err + ended.out


def test_the_key_is_nowhere_on_disk(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 12)
    env = {"OPENAI_API_KEY": "sk-right-secret"}
    one, two = script(12, key="sk-right-secret"), script(12, key="sk-right-secret", wrong=[1])
    with FakeServer(one) as a, FakeServer(two) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "o", "-v", env=env
        )
    assert ended.code == 4, ended.err
    assert "secret" not in ended.err + ended.out
    for path in (tmp_path / "o").rglob("*"):
        if path.is_file():
            assert b"sk-right-secret" not in path.read_bytes(), path


def test_an_unknown_model_is_named_with_those_that_are_served(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 12)
    with FakeServer(script(12)) as a:
        ended = evalkit("compare", f"{a.url}#fake", f"{a.url}#fakee", "-t", quiz)
    is_one_sentence(ended, 5, "fakee", "fake")


def test_faulty_tasksets(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 3)
    rows = (quiz / "samples.jsonl").read_text(encoding="utf-8")
    (quiz / "samples.jsonl").write_text("", encoding="utf-8")
    is_one_sentence(evalkit("compare", "q8", "q4", "-t", quiz), 2, "empty", "quiz")
    (quiz / "samples.jsonl").write_text(rows + rows, encoding="utf-8")
    is_one_sentence(evalkit("compare", "q8", "q4", "-t", quiz), 2, "line 4", "box-0000")
    is_one_sentence(evalkit("compare", "q8", "q4", "-t", "./none"), 2, "./none")


def test_a_folder_of_somebody_else_is_left_alone(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 3)
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.tex").write_text("precious", encoding="utf-8")
    with FakeServer(script(3)) as a:
        ended = evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", foreign)
        is_one_sentence(ended, 2, "thesis")
        (tmp_path / "file").write_text("x", encoding="utf-8")
        is_one_sentence(
            evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", tmp_path / "file"), 2, "file"
        )
    assert (foreign / "chapter.tex").read_text(encoding="utf-8") == "precious"
    assert [path.name for path in foreign.iterdir()] == ["chapter.tex"]


def test_a_report_folder_that_is_none(evalkit: Run, tmp_path: Path) -> None:
    for name, text in (("a", "{"), ("b", "{}"), ("c", "[]"), ("d", '{"schema_version": 99}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "comparison.json").write_text(text, encoding="utf-8")
        is_one_sentence(evalkit("report", name), 2, "comparison.json")


def test_a_missing_extra_names_the_install_line(evalkit: Run, tmp_path: Path) -> None:
    # A module of that name that cannot be imported stands for one that is not installed.
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "xllamacpp.py").write_text(
        "raise ImportError('No module named xllamacpp')", encoding="utf-8"
    )
    ended = evalkit("check", "q8", env={"PYTHONPATH": str(tmp_path / "blocked")})
    is_one_sentence(ended, 2, "pip install 'quant-evalkit[local]'")


def test_init_writes_a_configuration_and_does_not_overwrite(evalkit: Run, tmp_path: Path) -> None:
    assert evalkit("init").code == 0
    assert (tmp_path / "evalkit.yaml").is_file()
    is_one_sentence(evalkit("init"), 2, "--force")
    assert evalkit("init", "--force", "--json").json == {"path": "evalkit.yaml"}
    schema = evalkit("init", "--schema").json
    assert "policy" in schema["properties"]


def test_tasks_lists_and_previews(evalkit: Run) -> None:
    listed = evalkit("tasks")
    assert listed.code == 0
    for family in ("facts", "instructions", "code", "longform", "math"):
        assert family in listed.out
    rows = evalkit("tasks", "--json").json
    assert {row["family"] for row in rows} == {"facts", "instructions", "code", "longform", "math"}
    preview = evalkit("tasks", "math", "-n", "2", "--json").json
    assert len(preview[0]["preview"]) == 2
    assert json.dumps(preview)


def test_check_says_what_it_found(evalkit: Run) -> None:
    with FakeServer(script(1)) as a, FakeServer(script(1)) as b:
        ended = evalkit("check", f"{a.url}#fake", f"{b.url}#fake", "--json")
        assert ended.code == 0, ended.err
        assert ended.json["comparable"] is True
        twice = evalkit("check", f"{a.url}#fake", f"{a.url}/v1#fake")
        assert twice.code == 5
        assert "DIFFERS" in twice.out


@pytest.mark.parametrize("name", ["../../evil", "", "..", "a/b", "a\u202eb", "\x1b[31m"])
def test_endpoint_names_cannot_leave_the_folder(evalkit: Run, tmp_path: Path, name: str) -> None:
    config = {"endpoints": {name: {"kind": "local", "model": "q8"}}}
    (tmp_path / "c.yaml").write_text(json.dumps(config), encoding="utf-8")
    ended = evalkit("compare", "-c", "c.yaml", name, "q4", "-o", "out")
    is_one_sentence(ended, 2, "name")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--set", "policy.margins.families.facts=0"], "families.facts"),
        (["--set", "policy.margins.families.facts=1000"], "families.facts"),
        (["--seed", "99999999999999999999"], "seed"),
        (["-t", ""], "--tasks"),
        (["-o", ""], "--output"),
    ],
)
def test_values_out_of_range_are_told_before_anything_is_asked(
    evalkit: Run, words: list[str], expected: str
) -> None:
    is_one_sentence(evalkit("compare", "q8", "q4", *words), 2, expected)


def test_a_configuration_that_refers_to_itself(evalkit: Run, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("endpoints: {a: &x {b: [*x]}}", encoding="utf-8")
    is_one_sentence(evalkit("compare", "-c", "c.yaml", "q8", "q4"), 2, "refers to itself")


def test_half_a_character_in_a_taskset(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 2)
    rows = (quiz / "samples.jsonl").read_text(encoding="utf-8")
    (quiz / "samples.jsonl").write_text(rows.replace("box 1", "box \\ud800"), encoding="utf-8")
    is_one_sentence(evalkit("tasks", quiz), 2, "line 2", "half a character")


def test_an_unknown_scorer_is_told_before_anything_is_asked(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 2)
    head = (quiz / "taskset.yaml").read_text(encoding="utf-8")
    (quiz / "taskset.yaml").write_text(head.replace("scorer: facts", "scorer: fcts"), "utf-8")
    with FakeServer(script(2)) as a:
        ended = evalkit("run", f"{a.url}#fake", "-t", quiz)
        assert not a.log
    is_one_sentence(ended, 2, "'quiz'", "'fcts'", "facts")


@pytest.mark.parametrize(
    ("redirect", "code"), [("| head -1", 0), (">/dev/full", 2), (">&-", 0), ("<&- 2>&-", 0)]
)
def test_a_reader_who_leaves_and_a_full_or_closed_output(
    tmp_path: Path, redirect: str, code: int
) -> None:
    command = f"set -o pipefail; '{sys.executable}' -m evalkit tasks facts math -n 40 {redirect}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if code:
        assert "cannot be written to standard output" in done.stderr
