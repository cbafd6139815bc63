"""Taskset folders: good ones, and one sentence with file and line for the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.errors import ExitCode, TasksetError
from evalkit.tasksets.jsonl import load_folder
from evalkit.types import Message

HEAD = """\
name: mine
version: 1
family: facts
description: A test.
scorer: facts
max_tokens: 32
system: {en: Be short., zh: 请简短。}
template: {en: "Q: {input}"}
"""
TARGET = {"kind": "answer", "aliases": ["x"]}
ROW = {"id": "a", "language": "en", "category": "c", "input": "Hi {x}?", "target": TARGET}


def folder(tmp_path: Path, head: str | bytes = HEAD, rows: str | bytes | None = None) -> Path:
    (tmp_path / "taskset.yaml").write_bytes(head.encode() if isinstance(head, str) else head)
    text = json.dumps(ROW) if rows is None else rows
    (tmp_path / "samples.jsonl").write_bytes(text.encode() if isinstance(text, str) else text)
    return tmp_path


def lines(*rows: dict[str, object]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def test_a_row_becomes_a_sample_with_system_and_template(tmp_path: Path) -> None:
    taskset = load_folder(folder(tmp_path))
    sample = taskset.samples[0]
    assert sample.messages == (Message("system", "Be short."), Message("user", "Q: Hi {x}?"))
    assert (sample.taskset, sample.family, sample.length_bucket) == ("mine", "facts", "short")


def test_messages_of_a_row_are_kept_and_their_own_system_wins(tmp_path: Path) -> None:
    row = {k: v for k, v in ROW.items() if k != "input"}
    row["messages"] = [
        {"role": "system", "content": "Mine."},
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "Two"},
        {"role": "user", "content": "Three"},
    ]
    sample = load_folder(folder(tmp_path, rows=lines(row))).samples[0]
    assert [m.content for m in sample.messages] == ["Mine.", "One", "Two", "Three"]


def test_bom_crlf_blank_lines_and_line_separators_are_read(tmp_path: Path) -> None:
    first = json.dumps({**ROW, "input": "one\u2028two"}, ensure_ascii=False)
    second = json.dumps({**ROW, "id": "b"})
    text = b"\xef\xbb\xbf" + f"{first}\r\n\r\n{second}\r\n".encode()
    taskset = load_folder(folder(tmp_path, rows=text))
    assert [s.id for s in taskset.samples] == ["a", "b"]
    assert "one\u2028two" in taskset.samples[0].messages[-1].content


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "Taskset 'mine' is empty"),
        ("\n\n", "Taskset 'mine' is empty"),
        (lines(ROW, ROW), r"line 2: id 'a' stands already in line 1"),
        (json.dumps(ROW) + "\n{", r"line 2 is not valid JSON"),
        ("[1]", r"line 1 is not a JSON object"),
        (lines({**ROW, "tagret": {}}), r"Unknown key 'tagret' in .*line 1.*Did you mean target"),
        (lines({**ROW, "language": "fr"}), r"'language' in .*line 1"),
        (lines({k: v for k, v in ROW.items() if k != "input"}), r"needs either 'input' or"),
        (lines({k: v for k, v in ROW.items() if k != "target"}), r"'target' in .*line 1"),
        ("问题".encode("gbk"), r"line 1 is not UTF-8"),
        ("[" * 100_000, r"line 1 is not valid JSON"),
    ],
)
def test_faulty_samples_name_file_and_line(tmp_path: Path, rows: str | bytes, message: str) -> None:
    with pytest.raises(TasksetError, match=message) as caught:
        load_folder(folder(tmp_path, rows=rows))
    assert caught.value.exit_code == ExitCode.USAGE
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("name: [", "is not valid YAML"),
        ("", "holds no keys"),
        (HEAD.replace("family: facts", "family: fact"), "'family'"),
        (HEAD.replace("max_tokens", "max_token"), "Unknown key 'max_token'|'max_tokens'"),
        (HEAD.replace("name: mine", "name: ../x"), "'name'"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_faulty_heads_are_one_sentence(tmp_path: Path, head: str | bytes, message: str) -> None:
    with pytest.raises(TasksetError, match=message) as caught:
        load_folder(folder(tmp_path, head=head))
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_head_is_not_a_taskset(tmp_path: Path) -> None:
    with pytest.raises(TasksetError, match=r"has no taskset.yaml"):
        load_folder(tmp_path)


def test_the_content_hash_tells_any_change(tmp_path: Path) -> None:
    before = load_folder(folder(tmp_path)).content_hash
    assert load_folder(folder(tmp_path)).content_hash == before
    changed = lines({**ROW, "target": {**TARGET, "aliases": ["y"]}})
    assert load_folder(folder(tmp_path, rows=changed)).content_hash != before
    assert load_folder(folder(tmp_path, head=HEAD.replace("32", "33"))).content_hash != before


def test_whether_answers_are_open_is_told_and_changes_no_hash(tmp_path: Path) -> None:
    plain = load_folder(folder(tmp_path))
    told = load_folder(folder(tmp_path, head=f"{HEAD}open_answers: true\n"))
    assert (plain.open_answers, told.open_answers) == (False, True)
    assert told.content_hash == plain.content_hash
