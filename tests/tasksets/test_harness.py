"""Tasks of lm-eval as tasksets: found by name, asked as lm-eval asks them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.errors import MissingExtraError, ScoringError, TasksetError, UnknownNameError
from evalkit.scoring.base import SCORERS
from evalkit.stages.plan import absolute_source
from evalkit.tasksets import harness_files
from evalkit.tasksets.catalogue import load_taskset, load_tasksets
from evalkit.tasksets.harness_files import find_definitions, read_task_file, shipped_tasks
from evalkit.tasksets.harness_reference import parse_reference
from evalkit.types import CONTINUATION, Family, Outcome

pytest.importorskip("lm_eval")

TASK = """
task: {name}
tag: pair
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/test.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n\\n"], max_gen_toks: 17}}
metric_list: [{{metric: exact_match}}]
filter_list:
  - name: digits
    filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: take_first}}]
  - {{name: whole, filter: [{{function: take_first}}]}}
metadata: {{family: math}}
"""
GROUP = "group: both\ntask:\n  - first\n  - second\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"question": f"{n} and {n}?", "answer": str(2 * n)} for n in range(3)]
    rows.append({"question": "七和七是多少？", "answer": "14"})
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text(TASK.format(name=name, folder=tmp_path))
    (tmp_path / "both.yaml").write_text(GROUP)
    return tmp_path


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


def test_a_task_is_asked_as_lm_eval_asks_it(folder: Path) -> None:
    made = load_taskset(f"lm-eval:{folder}:first")
    assert (made.name, made.family, made.scorer) == ("lm-eval-first", Family.MATH, "harness")
    assert (made.max_tokens, made.stop) == (17, ("\n\n",))
    assert [sample.id for sample in made.samples] == ["0", "1", "2", "3"]
    assert made.samples[2].messages[0].content == "2 and 2?"
    assert made.samples[2].target["answer"] == "4"
    assert [sample.language for sample in made.samples] == ["en", "en", "en", "zh"]


def test_the_chosen_filter_decides_and_all_are_told(folder: Path) -> None:
    score = SCORERS.get("harness")
    digits = load_taskset(f"lm-eval:{folder}:first").samples[2]
    whole = load_taskset(f"lm-eval:{folder}:first:exact_match/whole").samples[2]
    said = score(digits, "It is 4.")
    assert (said.outcome, said.value, said.answer) == (Outcome.CORRECT, 1.0, "4")
    assert said.explanation == "exact_match,digits 1; exact_match,whole 0"
    said = score(whole, "It is 4.")
    assert (said.outcome, said.value, said.answer) == (Outcome.INCORRECT, 0.0, "It is 4.")


def test_where_a_task_lies_is_no_part_of_its_content(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "first.yaml").write_text((folder / "first.yaml").read_text())
    one, other = (load_taskset(f"lm-eval:{where}:first") for where in (folder, elsewhere))
    assert one.content_hash == other.content_hash
    assert one.path == f"lm-eval:{folder}:first" == absolute_source(one.path)


@pytest.mark.parametrize("name", ["both", "pair"])
def test_groups_and_tags_are_several_tasksets(folder: Path, name: str) -> None:
    made = load_tasksets(f"lm-eval:{folder}:{name}")
    assert sorted(one.name for one in made) == ["lm-eval-first", "lm-eval-second"]
    assert {one.path for one in made} == {f"lm-eval:{folder}:{n}" for n in ("first", "second")}


def test_texts_whose_probability_is_asked(folder: Path) -> None:
    (folder / "choice.yaml").write_text(
        f"task: choice\ndataset_path: json\ntest_split: test\noutput_type: multiple_choice\n"
        f"dataset_kwargs: {{data_files: {{test: {folder}/test.jsonl}}}}\n"
        'doc_to_text: "{{question}}"\ndoc_to_choice: ["no", "yes"]\ndoc_to_target: 1\n'
        "metric_list: [{metric: acc}]\n"
    )
    sample = load_taskset(f"lm-eval:{folder}/choice.yaml").samples[0]
    assert [(m.role, m.content) for m in sample.messages] == [
        ("user", "0 and 0?"),
        (CONTINUATION, " no"),
        (CONTINUATION, " yes"),
    ]
    said = SCORERS.get("harness")(sample, "[[-2.0, false], [-1.0, true]]")
    assert (said.outcome, said.answer) == (Outcome.CORRECT, "text 2 of 2")
    assert SCORERS.get("harness")(sample, "[[-1.0, true], [-2.0, false]]").value == 0.0
    for broken in ("yes", "[]", "[[-1.0, true]]", "[[NaN, true], [-1.0, true]]", '[["a", 1], 2]'):
        with pytest.raises(ScoringError, match="no log-likelihoods of 2 texts"):
            SCORERS.get("harness")(sample, broken)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gsm8kk", "no task, group or tag 'gsm8kk'.*gsm8k"),
        ("humaneval", "outside of evalkit's sandbox"),
        ("", "names no task"),
        ("nowhere/at/all:gsm8k", "'nowhere/at/all' of lm-eval tasks is not there"),
    ],
)
def test_what_cannot_be_asked(words: str, expected: str) -> None:
    with pytest.raises(TasksetError, match=expected):
        load_tasksets(f"lm-eval:{words}")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("repeats: 4", "joins 4 answers"),
        ("output_type: loglikelihood_rolling", "no value for each"),
        ("dataset_path: json_that_is_not_there", "cannot load"),
        ("doc_to_text: '{{question'", "cannot"),
        ("metadata: {family: cooking}", "cooking"),
    ],
)
def test_tasks_that_fit_no_pairs_or_are_broken(folder: Path, keys: str, expected: str) -> None:
    key = keys.partition(":")[0]
    lines = (folder / "first.yaml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(key)]
    (folder / "first.yaml").write_text("\n".join([*kept, keys]))
    with pytest.raises((TasksetError, UnknownNameError), match=expected):
        load_taskset(f"lm-eval:{folder}:first")


def test_metrics_and_filters_that_are_not_there(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"filter .*'none'.*digits"):
        load_taskset(f"lm-eval:{folder}:first:exact_match/none")
    with pytest.raises(UnknownNameError, match=r"metric .*'bleu'.*exact_match"):
        load_taskset(f"lm-eval:{folder}:first:bleu")


def test_one_task_is_found_without_reading_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    whole = Path.read_bytes

    def counted(self: Path) -> bytes:
        read.append(self)
        return whole(self)

    monkeypatch.setattr(Path, "read_bytes", counted)
    harness_files._names_in.cache_clear()
    (found,) = find_definitions("gsm8k", [])
    assert found == shipped_tasks() / "gsm8k/gsm8k.yaml"
    assert len(read) < 300
    assert read_task_file(found)["dataset_path"] == "openai/gsm8k"


def test_shipped_groups_and_tags_are_found_as_lm_eval_finds_them() -> None:
    assert len(find_definitions("mmlu", [])) == 62
    names = {read_task_file(path).get("task") for path in find_definitions("ai2_arc", [])}
    assert names == {"arc_easy", "arc_challenge"}


def test_without_lm_eval_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_files.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"quant-evalkit\[lm-eval\]"):
        load_tasksets("lm-eval:gsm8k")


def test_folders_of_the_configuration_come_into_the_reference(folder: Path) -> None:
    assert str(parse_reference("first", [str(folder)])) == f"lm-eval:{folder}:first"
    assert str(parse_reference(f"{folder}:first", [str(folder)])) == f"lm-eval:{folder}:first"
    assert str(parse_reference("first:acc/none")) == "lm-eval:first:acc/none"
