"""Public sets in the files that they are published as."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import TasksetError, UnknownNameError
from evalkit.tasksets.catalogue import load_taskset, select
from evalkit.tasksets.faults import known_faults
from evalkit.tasksets.formats.base import FORMATS, load_published
from evalkit.tasksets.formats.dates import date_spellings
from evalkit.tasksets.formats.math import last_boxed

GSM = {"question": "How many?", "answer": "1 + 1 = <<1+1=2>>2\n#### 1,002"}
MATH = {
    "problem": "Half?",
    "level": "Level 5",
    "type": "Algebra",
    "solution": r"$\boxed{\frac{1}{2}}$",
}
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "canonical_solution": "    return x\n",
    "test": "def check(candidate):\n    assert candidate(1) == 1\n",
}
MBPP = {
    "task_id": 7,
    "text": "Add.",
    "code": "def add(a, b):\r\n  return a + b",
    "test_list": ["assert set([add(1, 2)]) == {3}"],
    "test_setup_code": "x = 1",
}
IFEVAL = {
    "key": 1000,
    "prompt": "Write.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
    "kwargs": [{"num_words": None}, {"relation": "at least", "num_words": 3}],
}
HALLUQA = {
    "question_id": 5,
    "Question": "问？",
    "Best Answer1": "真",
    "Wrong_Answer1": "假",
    "Category": "Knowledge",
}


def jsonl(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    return path


def only(form: str, path: Path) -> Any:
    taskset = load_taskset(f"{form}:{path}")
    assert taskset.path == f"{form}:{path}"
    assert load_taskset(taskset.path).content_hash == taskset.content_hash
    return taskset.samples[0]


def test_json_lines_of_each_set(tmp_path: Path) -> None:
    sample = only("gsm8k", jsonl(tmp_path, GSM))
    assert (sample.id, sample.target) == ("0", {"value": "1002"})
    sample = only("math", jsonl(tmp_path, MATH))
    assert (sample.id, sample.target) == ("0", {"expression": r"\frac{1}{2}"})
    assert (sample.category, sample.metadata["level"]) == ("Algebra", "hard")
    sample = only("humaneval", jsonl(tmp_path, HUMANEVAL))
    assert (sample.id, sample.target["prompt"]) == ("HumanEval/0", "def f(x):\n")
    assert sample.target["tests"].endswith("check(f)\n")
    sample = only("mbpp", jsonl(tmp_path, MBPP))
    assert (sample.id, sample.target["entry_point"]) == ("7", "add")
    assert sample.target["tests"] == "x = 1\nassert set([add(1, 2)]) == {3}\n"
    sample = only("ifeval", jsonl(tmp_path, IFEVAL))
    assert sample.id == "1000"
    assert sample.target["instructions"] == [
        {"id": "punctuation:no_comma", "kwargs": {}},
        {
            "id": "length_constraints:number_words",
            "kwargs": {"relation": "at least", "num_words": 3},
        },
    ]


def test_the_other_containers(tmp_path: Path) -> None:
    zipped = tmp_path / "HumanEval.jsonl.gz"
    zipped.write_bytes(gzip.compress(json.dumps(HUMANEVAL).encode()))
    assert only("humaneval", zipped).id == "HumanEval/0"
    listed = tmp_path / "HalluQA.json"
    listed.write_text(json.dumps([HALLUQA], ensure_ascii=False), encoding="utf-8")
    sample = only("halluqa", listed)
    assert (sample.id, sample.language, sample.target) == (
        "5",
        "zh",
        {"true": ["真"], "false": ["假"]},
    )
    table = tmp_path / "truthful.csv"
    table.write_text("Type,Question,Best Answer,Correct Answers,Incorrect Answers\nA,Q?,x,x; y,z\n")
    assert only("truthfulqa", table).target == {"true": ["x", "y"], "false": ["z"]}
    table.write_text("metadata,problem,answer\n\"{'topic': 'Art'}\",When?,5 March 1912.\n")
    sample = only("simpleqa", table)
    assert sample.category == "Art"
    assert {"5 March 1912", "March 5, 1912"} <= set(sample.target["aliases"])


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("gsm8k", "", "is empty"),
        ("gsm8k", '{"question": "x", "answer": "3"}', "line 1: 'answer' does not end in '#### N'"),
        ("gsm8k", json.dumps(MATH), "line 1 has no 'answer'. Is the file of another format"),
        ("math", json.dumps({**MATH, "solution": "none"}), "line 1: 'solution' has no"),
        ("humaneval", "{", "line 1 is not valid JSON"),
        (
            "humaneval",
            f"{json.dumps(HUMANEVAL)}\n" * 2,
            "line 2: id 'HumanEval/0' stands already in",
        ),
        ("mbpp", json.dumps({**MBPP, "test_list": "x"}), "line 1 has no 'test_list'"),
        ("mbpp", json.dumps({**MBPP, "test_list": ["assert ("]}), "'test_list' is not Python"),
        ("ifeval", json.dumps({**IFEVAL, "kwargs": []}), "'kwargs' is not parallel"),
        ("halluqa", "[1]", "record 1 is not a JSON object"),
        ("halluqa", "[", "is not valid JSON"),
        ("truthfulqa", "a,b\n", "has no column 'Question'"),
        ("simpleqa", 'problem,answer\n"open,x\n', "is not a row of a table"),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(
    tmp_path: Path, form: str, text: str, message: str
) -> None:
    path = tmp_path / "set"
    path.write_text(text)
    with pytest.raises(TasksetError) as raised:
        load_published(form, path)
    assert message in str(raised.value)


def test_names_that_are_no_format_or_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        load_taskset("gsm9k:file")
    with pytest.raises(TasksetError, match="cannot be read"):
        load_taskset(f"gsm8k:{tmp_path / 'none'}")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"a \boxed{1} b \boxed{\text{x {y}}} c", r"\text{x {y}}"),
        (r"\boxed 5$.", "5"),
        (r"\fbox{3}", "3"),
        (r"\boxed{\{1\}}", r"\{1\}"),
        (r"\boxed{1", None),
        ("none", None),
    ],
)
def test_the_last_box(text: str, value: str | None) -> None:
    assert last_boxed(text) == value


def test_spellings_of_dates() -> None:
    for text in (
        "5 March 1912",
        "March 5, 1912",
        "5th of March, 1912",
        "Mar. 5 1912",
        "1912-03-05",
    ):
        assert "March 5, 1912" in date_spellings(text)
    assert date_spellings("March 1912") == date_spellings("45 March 1912") == []


@pytest.mark.public_data
@pytest.mark.parametrize(
    ("form", "file", "n"),
    [
        ("gsm8k", "math/gsm8k/test.jsonl", 1319),
        ("math", "math/math_test/test.jsonl", 5000),
        ("humaneval", "code/humaneval/HumanEval.jsonl.gz", 164),
        ("mbpp", "code/mbpp/mbpp.jsonl", 974),
        ("ifeval", "instructions/ifeval/input_data.jsonl", 541),
        ("simpleqa", "facts/simpleqa/simple_qa_test_set.csv", 4326),
        ("truthfulqa", "facts/truthfulqa/TruthfulQA.csv", 817),
        ("halluqa", "facts/halluqa/HalluQA.json", 450),
    ],
)
def test_the_published_files_are_read_whole(form: str, file: str, n: int) -> None:
    default = Path(__file__).parents[4] / "shared/data"
    path = Path(os.environ.get("EVALKIT_PUBLIC_DATA", default)) / file
    if not path.exists():
        pytest.skip(f"{path} is not there")
    assert form in FORMATS
    assert len(load_published(form, path).samples) == n


@pytest.mark.public_data
def test_the_format_of_a_published_file_shows() -> None:
    default = Path(__file__).parents[4] / "shared/data"
    data = Path(os.environ.get("EVALKIT_PUBLIC_DATA", default))
    if not data.exists():
        pytest.skip(f"{data} is not there")
    for file, name, n in (
        ("math/gsm8k/test.jsonl", "gsm8k", 1319),
        ("math/math_test/test.jsonl", "hendrycks-math", 5000),
        ("math/mgsm/mgsm_zh.tsv", "mgsm", 250),
        ("math/cmath/test.jsonl", "cmath", 600),
        ("instructions/ifbench/IFBench_test.jsonl", "ifbench", 271),
        ("instructions/ifeval/input_data.jsonl", "ifeval", 541),
        ("code/humaneval/HumanEval.jsonl.gz", "humaneval", 164),
        ("facts/truthfulqa/TruthfulQA.csv", "truthfulqa", 817),
        ("facts/halluqa/HalluQA.json", "halluqa", 450),
    ):
        made = load_taskset(f"path:{data / file}")
        assert (made.name, len(made.samples)) == (name, n)
    faulty = load_taskset(f"gsm8k:{data / 'math/gsm8k/test.jsonl'}").faults
    assert sorted(map(int, faulty)) == [454, 952, 1016, 1309]


def test_mgsm_lines_name_their_language(tmp_path: Path) -> None:
    path = tmp_path / "mgsm.tsv"
    path.write_text("Two plus 2,000?\t2,002\n二加二千等于多少？\t2,002\n")
    english, chinese = load_taskset(f"mgsm:{path}").samples
    assert (english.id, english.language, chinese.id, chinese.language) == (
        *("en-0", "en"),
        *("zh-1", "zh"),
    )
    assert english.target == chinese.target == {"value": "2002"}
    path.write_text("いくつですか？\t3\n")
    with pytest.raises(TasksetError, match="neither English nor Chinese"):
        load_taskset(f"mgsm:{path}")
    path.write_text("no tab\n")
    with pytest.raises(TasksetError, match="line 1 is no question and number"):
        load_taskset(f"mgsm:{path}")


def test_triviaqa_as_it_is_published(tmp_path: Path) -> None:
    path = tmp_path / "unfiltered-web-dev.json"
    entry = {
        "Question": "Which river?",
        "QuestionId": "tc_1",
        "Answer": {"Value": "Seine", "Aliases": ["The Seine", "Seine", ""]},
    }
    path.write_text(json.dumps({"Data": [entry], "Version": 1.0}))
    (sample,) = load_taskset(f"path:{path}").samples
    assert (sample.id, sample.taskset) == ("tc_1", "triviaqa")
    assert sample.target["aliases"] == ["Seine", "The Seine"]


def test_popqa_as_it_is_published(tmp_path: Path) -> None:
    path = tmp_path / "popQA.tsv"
    path.write_text(
        "id\tprop\tquestion\tpossible_answers\ts_pop\n"
        '7\tcapital\tWhere is Bern?\t"[""Switzerland"", ""Swiss""]"\t50\n'
    )
    (sample,) = load_taskset(f"path:{path}").samples
    assert (sample.id, sample.category) == ("7", "capital")
    assert sample.target["aliases"] == ["Switzerland", "Swiss"]
    assert sample.metadata["popularity"] == "rare"


def test_a_parquet_file_is_read_as_a_lines_file_is(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "test-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([GSM]), path)
    lines = load_published("gsm8k", jsonl(tmp_path, GSM))
    assert load_taskset(f"path:{path}").content_hash == lines.content_hash
    path.write_bytes(b"PAR1 no")
    with pytest.raises(TasksetError, match="is no Parquet file"):
        load_taskset(f"gsm8k:{path}")


# The first is a question of GSM8K (MIT) whose label is known to be wrong.
FAULTY = {
    "question": "Marin and his neighbor  Nancy each eat 4 apples a day. How many apples do they "
    "eat in 30 days?",
    "answer": "#### 150",
}


def test_known_faults_are_named_and_can_be_left_out(tmp_path: Path) -> None:
    path = jsonl(tmp_path, GSM, FAULTY, {**GSM, "question": "Other?"})
    whole = load_taskset(f"gsm8k:{path}")
    assert dict(whole.faults) == {"1": "the gold answer is 150; right is 240"}
    arguments = {"limit": None, "seed": 0, "allow_code": False}
    (kept,) = select([f"gsm8k:{path}"], skip_faulty=True, **arguments).tasksets
    assert [sample.id for sample in kept.samples] == ["0", "2"]
    assert kept.left_out == {"label_fault": 1}
    assert kept.content_hash != whole.content_hash
    assert kept.seal != whole.seal
    (all_three,) = select([f"gsm8k:{path}"], **arguments).tasksets
    assert all_three == whole


def test_every_known_fault_says_why_and_who_found_it() -> None:
    kinds = set()
    for form, entries in known_faults().items():
        assert form in FORMATS
        for mark, fault in entries.items():
            assert len(mark) == 16
            assert fault.says
            assert fault.source
            kinds.add(fault.kind)
    assert kinds == {"wrong", "ambiguous", "check"}
