"""Tables as spreadsheets write them, and text files as editors save them."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.errors import TasksetError
from evalkit.tasksets.catalogue import load_taskset
from evalkit.tasksets.jsonl import load_file, load_folder

HEAD = """\
name: ours
version: 1
family: facts
description: A test.
scorer: facts
max_tokens: 32
"""
MAPPED = (
    HEAD
    + """\
columns: {id: No., input: Question, target.aliases: Answers, metadata.source: From}
defaults: {language: en, target.kind: answer}
lists: {target.aliases: "|"}
"""
)
ZH = (
    HEAD
    + "defaults: {language: zh, target.kind: answer}\n"
    + "columns: {input: 问题, target.aliases: 答案}\n"
)


def folder(tmp_path: Path, head: str, rows: str | bytes, name: str = "samples.csv") -> Path:
    (tmp_path / "taskset.yaml").write_text(head, encoding="utf-8")
    (tmp_path / name).write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    return tmp_path


def test_columns_are_read_as_the_head_says(tmp_path: Path) -> None:
    rows = "No.,Question,Answers,From,Remarks\n7,Capital of France?,Paris | Lutetia,atlas,old\n"
    taskset = load_folder(folder(tmp_path, MAPPED, rows))
    (sample,) = taskset.samples
    assert (sample.id, sample.language) == ("7", "en")
    assert sample.messages[-1].content == "Capital of France?"
    assert sample.target == {"kind": "answer", "aliases": ["Paris", "Lutetia"]}
    assert sample.metadata == {"source": "atlas"}


def test_without_a_map_columns_are_fields_and_rows_are_numbered(tmp_path: Path) -> None:
    rows = (
        "language,input,target.kind,target.aliases,target.rivals,cluster\n"
        'en,"One, two\r\n""three""?",answer,x,"[""y"", ""z""]",c\n'
        "\n"
        "zh,第二？,unanswerable,,,\n"
    )
    first, second = load_folder(folder(tmp_path, HEAD, rows)).samples
    assert first.messages[-1].content == 'One, two\n"three"?'
    assert first.target == {"kind": "answer", "aliases": ["x"], "rivals": ["y", "z"]}
    assert (first.id, first.cluster, second.id, second.cluster) == ("1", "c", "2", None)


@pytest.mark.parametrize(
    ("name", "head", "rows"),
    [
        ("samples.tsv", HEAD, "input\tlanguage\ttarget.kind\nHi?\ten\tunanswerable\n"),
        (
            "samples.csv",
            HEAD + 'delimiter: ";"\n',
            "input;language;target.kind\r\nHi?;en;unanswerable",
        ),
        ("samples.csv", HEAD, "input,language,target.kind\rHi?,en,unanswerable\r"),
        (
            "samples.csv",
            HEAD,
            '"input","language","target"\n"Hi?","en","{""kind"": ""unanswerable""}"',
        ),
        (
            "samples.csv",
            HEAD,
            "input,language,target.kind,,\nHi?,en,unanswerable,,\n,,,,\n".replace(",,\n", "\n"),
        ),
    ],
)
def test_ways_to_write_one_table(tmp_path: Path, name: str, head: str, rows: str) -> None:
    (sample,) = load_folder(folder(tmp_path, head, rows, name)).samples
    assert sample.messages[-1].content == "Hi?"
    assert sample.target == {"kind": "unanswerable"}


@pytest.mark.parametrize(
    "written",
    [
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("utf-32"),
        lambda text: gzip.compress(text.encode()),
        lambda text: text.replace("\n", "\r\n").encode(),
    ],
)
def test_encodings_that_tell_themselves_are_read(tmp_path: Path, written: object) -> None:
    rows = "问题,答案\n法国的首都是哪里？,巴黎\n"
    (sample,) = load_folder(folder(tmp_path, ZH, written(rows))).samples  # type: ignore[operator]
    assert sample.messages[-1].content == "法国的首都是哪里？"
    assert sample.target["aliases"] == ["巴黎"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_json_lines_in_utf_16_without_a_mark_are_read(tmp_path: Path, encoding: str) -> None:
    row = {"id": "a", "language": "zh", "input": "问题", "target": {"kind": "unanswerable"}}
    rows = json.dumps(row, ensure_ascii=False).encode(encoding)
    taskset = load_folder(folder(tmp_path, HEAD, rows, "samples.jsonl"))
    assert taskset.samples[0].messages[-1].content == "问题"


def test_gbk_is_named_and_read_when_it_is_told(tmp_path: Path) -> None:
    rows = "问题,答案\n首都？,巴黎\n".encode("gbk")
    with pytest.raises(TasksetError, match=r"line 1 is not UTF-8 text.*GBK.*encoding: gb18030"):
        load_folder(folder(tmp_path, ZH, rows))
    (sample,) = load_folder(folder(tmp_path, ZH + "encoding: gb18030\n", rows)).samples
    assert sample.target["aliases"] == ["巴黎"]


@pytest.mark.parametrize(
    ("head", "rows", "message"),
    [
        (HEAD, "", "is empty"),
        (HEAD, "input,language,target.kind\n", "is empty"),
        (HEAD, "input;language\n", r"line 1 holds one column only.*delimiter"),
        (HEAD, "question,language\nHi?,en\n", r"line 1: column 'question' is no field.*columns"),
        (HEAD, "input,input\na,b\n", r"line 1: column 'input' stands there twice"),
        (
            MAPPED,
            "No.,Qestion,Answers,From\n",
            r"line 1 has no column 'Question'.*Did you mean Qes",
        ),
        (MAPPED, "No.,Question,Answers,From\n1,Hi?\n", r"line 2 has 2 cells, and the header 4"),
        (
            MAPPED,
            '\nNo.,Question,Answers,From\n1,"a\nb",x,y\n2,c"d"e,"x"y,z\n',
            r"line 5 is not a row",
        ),
        (
            MAPPED,
            'No.,Question,Answers,From\n1,"open,x,y\n2,b,c,d\n',
            r"line 2 is not a row of a table",
        ),
        (MAPPED, "No.,Question,Answers,From\n1,Hi?,,y\n", r"line 2: 'aliases' is missing"),
        (
            MAPPED,
            "No.,Question,Answers,From\n1,Hi?,x,y\n1,Ho?,x,y\n",
            r"line 3: id '1' stands already in line 2",
        ),
        (MAPPED, "No.,Question,Answers,From\n1,,x,y\n", r"line 2 needs either 'input' or"),
        (
            HEAD,
            "input,language,target\nHi?,en,{oops\n",
            r"line 2: the cell of 'target' begins like JSON",
        ),
        (HEAD, "input,language,target\nHi?,en,Paris\n", r"Key 'target' in .* line 2"),
        (HEAD, "input,language,target,target.kind\nHi?,en,{},answer\n", r"as a whole and in parts"),
        (HEAD, b"PK\x03\x04\x00\x00", r"is a spreadsheet or an archive"),
        (
            HEAD,
            b"input,language\nHi \xff?,en\n",
            r"line 2 is not UTF-8 text. Save the file as UTF-8",
        ),
        (HEAD, b"\x1f\x8b\x08\x00broken", r"is a damaged gzip file"),
        (HEAD + "columns: {question: Q}\n", "", r"'columns'.*'question' is no field"),
        (HEAD + "encoding: rot13\n", "", r"'encoding'.*no such encoding"),
        (HEAD + "encoding: ascii\n", "问题\n", r"line 1 is not ASCII text.*names that encoding"),
        (HEAD + "delimiter: ';;'\n", "", r"'delimiter'"),
    ],
)
def test_faults_are_told_with_their_line(
    tmp_path: Path, head: str, rows: str | bytes, message: str
) -> None:
    with pytest.raises(TasksetError) as raised:
        load_folder(folder(tmp_path, head, rows))
    assert re.search(message, str(raised.value)), str(raised.value)


def test_one_file_with_its_head_is_a_taskset(tmp_path: Path) -> None:
    path = tmp_path / "ours.csv"
    path.write_text(f"---\n{MAPPED}---\nNo.,Question,Answers,From\n1,Hi?,x,y\n2,Ho?,,y\n")
    line = path.read_text().count("\n")
    with pytest.raises(TasksetError, match=rf"line {line}: 'aliases' is missing"):
        load_file(path)
    path.write_text(path.read_text().replace("Ho?,,", "Ho?,z,"))
    taskset = load_taskset(str(path))
    assert ([sample.id for sample in taskset.samples], taskset.path) == (["1", "2"], str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("input,language\n", "does not say what it is"),
        ("---\nname: x\n", "no second line '---'"),
        (f"---\n{HEAD}version: [\n---\n", r"line \d+ is not valid YAML"),
        (f"---\n{HEAD}encoding: klingon\n---\n", "no such encoding"),
    ],
)
def test_one_file_that_is_no_taskset(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "ours.csv"
    path.write_text(text)
    with pytest.raises(TasksetError, match=message):
        load_file(path)


def test_two_files_of_samples_are_refused(tmp_path: Path) -> None:
    folder(tmp_path, HEAD, "x")
    with pytest.raises(TasksetError, match=r"both samples.jsonl and samples.csv"):
        load_folder(folder(tmp_path, HEAD, "x", "samples.jsonl"))


def test_keys_of_json_lines_are_mapped_too(tmp_path: Path) -> None:
    head = (
        HEAD
        + "columns: {input: q, target.aliases: a}\ndefaults: {language: en, target.kind: answer}\n"
    )
    rows = json.dumps({"id": "1", "q": "Hi?", "a": ["x"], "other": 3})
    (sample,) = load_folder(folder(tmp_path, head, rows, "samples.jsonl")).samples
    assert (sample.messages[-1].content, sample.target["aliases"]) == ("Hi?", ["x"])


def test_equal_prompts_become_one_cluster_and_join_what_they_connect(tmp_path: Path) -> None:
    rows = "id,input,language,target.kind,cluster\n" + "".join(
        f"{id},{text},en,unanswerable,{cluster}\n"
        for id, text, cluster in [
            ("a", "same", ""),
            ("b", "same", ""),
            ("c", "other", "one"),
            ("d", "other", "two"),
            ("e", "alone", "two"),
            ("f", "half", ""),
            ("g", "half", "three"),
            ("h", "free", ""),
        ]
    )
    found = {s.id: s.cluster for s in load_folder(folder(tmp_path, HEAD, rows)).samples}
    assert found["a"] == found["b"] is not None
    assert found["c"] == found["d"] == found["e"]
    assert found["f"] == found["g"] == "three"
    assert found["h"] is None
    assert len({found[id] for id in "acfh"}) == 4


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    cells=st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
            st.text("abc, |;\"'\n", min_size=1).filter(lambda text: text.replace("|", "").strip()),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_a_writer_writes_is_read_back(
    tmp_path: Path, cells: list[tuple[str, str]]
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["No.", "Question", "Answers", "From"])
    writer.writerows([n, question, answer, ""] for n, (question, answer) in enumerate(cells))
    samples = load_folder(folder(tmp_path, MAPPED, out.getvalue())).samples
    plain = [q.replace("\r\n", "\n").replace("\r", "\n") for q, _ in cells]
    assert [sample.messages[-1].content for sample in samples] == plain
    split = [[part.strip() for part in answer.split("|") if part.strip()] for _, answer in cells]
    assert [sample.target["aliases"] for sample in samples] == split


def test_the_example_of_the_documentation_is_a_taskset(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs/tasksets.md"
    example = page.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    (tmp_path / "capitals.csv").write_text(example, encoding="utf-8")
    taskset = load_taskset(str(tmp_path / "capitals.csv"))
    assert taskset.samples[1].target["aliases"] == ["Sucre", "Sucre City"]


def test_one_file_in_gbk_says_so_in_its_head(tmp_path: Path) -> None:
    path = tmp_path / "ours.csv"
    rows = "id,language,input,target.kind,target.aliases\n1,zh,法国的首都？,answer,巴黎\n"
    path.write_bytes(f"---\n{HEAD}encoding: gb18030\n---\n{rows}".encode("gbk"))
    (sample,) = load_file(path).samples
    assert sample.messages[-1].content == "法国的首都？"
    path.write_bytes(f"---\n{HEAD}---\n{rows}".encode("gbk"))
    with pytest.raises(TasksetError, match="not UTF-8") as error:
        load_file(path)
    assert "or head" in str(error.value.hint)


@pytest.mark.parametrize("value", ["abc", "1/0", "5 apples"])
def test_a_number_that_is_none_is_told_before_anything_is_asked(tmp_path: Path, value: str) -> None:
    path = tmp_path / "ours.csv"
    rows = f"id,language,input,target.kind,target.value\n1,en,How many?,number,{value}\n"
    path.write_text(f"---\n{HEAD}---\n{rows}")
    with pytest.raises(TasksetError, match=r"line \d+: 'value' should be a number"):
        load_file(path)
