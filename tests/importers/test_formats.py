"""Every format as its own tool wrote it: what is read must add up to what the tool says."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import LogError
from evalkit.importers.base import Recording, find_log
from evalkit.importers.metrics import choose_metric
from evalkit.types import Message

FIXTURES = Path(__file__).parent / "fixtures"


def recording(target: str | Path) -> Recording:
    log = find_log(str(target))
    assert log is not None
    return log.read()


def mean(read: Recording, metric: str | None = None) -> float:
    (task,) = read.tasks
    name = metric or task.metrics[0]
    values = [value for item in task.items if (value := item.metrics[name]) is not None]
    return sum(values) / len(values)


def totals(pattern: str) -> dict[str, Any]:
    (file,) = FIXTURES.glob(pattern)
    whole: dict[str, Any] = json.loads(file.read_text())
    return whole


def lm_eval_says(arm: str, metric: str) -> float:
    return float(totals(f"lm_eval/{arm}/*/results_*.json")["results"]["capitals"][metric])


def nemo_says(arm: str) -> float:
    scores = totals(f"nemo/{arm}-0.3/eval-*.json")["benchmark"]["scores"]
    return float(scores["pass@1"]["value"])


def byob_says(arm: str) -> float:
    whole = totals(f"nemo/{arm}-0.2/capitals/byob_results.json")
    return float(whole["tasks"]["capitals"]["metrics"]["pass@1"]["scores"]["correct"]["value"])


def inspect_says(arm: str, scorer: str) -> float:
    scores = totals(f"inspect/{arm}.json")["results"]["scores"]
    (value,) = [s["metrics"]["accuracy"]["value"] for s in scores if s["name"] == scorer]
    return float(value)


def promptfoo_says(arm: str) -> float:
    prompts = totals("promptfoo/both.json")["results"]["prompts"]
    (found,) = [one["metrics"] for one in prompts if one["provider"] == arm]
    return float(found["testPassCount"] / (found["testPassCount"] + found["testFailCount"]))


@pytest.mark.parametrize("arm", ["q8", "low"])
@pytest.mark.parametrize(
    ("target", "metric", "said"),
    [
        (
            "lm_eval/{}",
            "exact_match,strict-match",
            lambda arm: lm_eval_says(arm, "exact_match,strict-match"),
        ),
        (
            "lm_eval/{}",
            "exact_match,flexible-extract",
            lambda arm: lm_eval_says(arm, "exact_match,flexible-extract"),
        ),
        ("inspect/{}.json", "includes", lambda arm: inspect_says(arm, "includes")),
        ("inspect/{}.json", "match", lambda arm: inspect_says(arm, "match")),
        ("inspect/{}.eval", "includes", lambda arm: inspect_says(arm, "includes")),
        ("nemo/{}-0.3", "reward", nemo_says),
        ("nemo/{}-0.2", "correct", byob_says),
        ("promptfoo/both.json#{}", "pass", promptfoo_says),
    ],
)
def test_scores_add_up_to_what_the_tool_says(
    target: str, metric: str, said: Callable[[str], float], arm: str
) -> None:
    read = recording(FIXTURES / target.format(arm))
    assert mean(read, metric) == pytest.approx(said(arm), abs=5e-4)


@pytest.mark.parametrize(
    ("target", "by", "model", "metric", "prompt", "target_text"),
    [
        ("lm_eval/q8", "lm-eval 0.4.13", "q8", "exact_match,flexible-extract", None, "Paris"),
        ("inspect/q8.eval", "Inspect 0.3.", "openai-api/local/q8", "includes",
         (Message("system", "Answer with one word."),
          Message("user", "What is the capital of France?")), "Paris"),
        ("nemo/q8-0.3", "NeMo Evaluator 0.3.0", "q8", "reward",
         (Message("user", "What is the capital of France? Answer with one word."),), "Paris"),
        ("nemo/q8-0.2", "NeMo Evaluator 0.2", "unknown", "correct",
         (Message("user", "What is the capital of France? Answer with one word."),), "Paris"),
        ("promptfoo/both.json#q8", "promptfoo 0.", "openai:chat:q8", "pass",
         (Message("user", "What is the capital of France? Answer with one word."),),
         "icontains: Paris"),
    ],
)  # fmt: skip
def test_a_log_says_who_recorded_what(
    target: str,
    by: str,
    model: str,
    metric: str,
    prompt: tuple[Message, ...] | None,
    target_text: str,
) -> None:
    read = recording(FIXTURES / target)
    (task,) = read.tasks
    assert read.by.startswith(by)
    assert read.model == model
    assert choose_metric(task, {}) == metric
    france = next(item for item in task.items if item.target == target_text and not item.epoch)
    assert france.answer
    if prompt is None:
        assert france.messages[-1].content.endswith("What is the capital of France?\nAnswer:")
    else:
        assert france.messages == prompt


def test_an_archive_says_what_the_same_log_as_json_says() -> None:
    one, other = (recording(FIXTURES / f"inspect/q8.{form}") for form in ("eval", "json"))
    (packed,), (plain,) = one.tasks, other.tasks
    assert packed.settings == plain.settings
    assert {item.epoch for item in packed.items} == {0, 1}
    hashes = [
        {(i.id, i.epoch): (i.doc_hash, i.prompt_hash) for i in t.items} for t in (packed, plain)
    ]
    assert hashes[0] == hashes[1]


def test_weighed_choices_are_scores_without_texts() -> None:
    (task,) = recording(FIXTURES / "lm_eval" / "choice").tasks
    assert not task.generated
    assert task.metrics == ("acc,none", "acc_norm,none")
    answer = task.items[0].answer or ""
    first, second = (float(line.rpartition(" ")[2].rstrip(")")) for line in answer.splitlines())
    assert first >= second
    assert {line.partition("  ")[0] for line in answer.splitlines()} == {"Paris", "Lyon"}


def test_the_newest_of_several_runs_is_taken(tmp_path: Path) -> None:
    source = FIXTURES / "lm_eval" / "q8" / "q8"
    for file in source.iterdir():
        text = file.read_text()
        (tmp_path / file.name).write_text(text)
        name, stamp = file.stem.rsplit("_", 1)
        old = f"2025-01-01{stamp[10:]}"
        (tmp_path / f"{name}_{old}{file.suffix}").write_text(text.replace("1.0", "0.0"))
    read = recording(tmp_path)
    assert mean(read, "exact_match,strict-match") == lm_eval_says("q8", "exact_match,strict-match")
    (note,) = read.notes
    assert "2 runs" in note
    assert "newest" in note


def test_a_harness_below_a_folder_of_nemo_is_read_as_its_own(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "lm_eval" / "q8" / "q8", tmp_path / "capitals" / "q8")
    (tmp_path / "results.yml").write_text(
        "target: {api_endpoint: {model_id: m, url: http://h/v1}}\nresults: {tasks: {}}\n"
    )
    read = recording(tmp_path)
    assert read.tool == "NeMo Evaluator with lm-eval"
    assert mean(read, "exact_match,strict-match") == lm_eval_says("q8", "exact_match,strict-match")
    shutil.rmtree(tmp_path / "capitals")
    with pytest.raises(LogError, match="totals alone"):
        recording(tmp_path)


def test_lines_that_name_neither_filter_nor_scores_are_read_by_the_configuration(
    tmp_path: Path,
) -> None:
    shutil.copytree(FIXTURES / "lm_eval" / "q8", tmp_path / "old")
    (file,) = (tmp_path / "old").rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows.sort(key=lambda row: (row["doc_id"], row["filter"] != "strict-match"))
    for row in rows:
        del row["filter"], row["metrics"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    new, old = recording(FIXTURES / "lm_eval" / "q8"), recording(tmp_path / "old")
    for metric in new.tasks[0].metrics:
        assert mean(old, metric) == mean(new, metric)


@pytest.mark.parametrize(
    ("line", "answer", "value", "prompt"),
    [
        ({"id": "a", "completion": "x", "correct": True}, "x", 1.0, ()),
        ({"custom_id": "a", "response": {"body": {"choices": [{"message": {"content": "x"},
          "finish_reason": "stop"}]}}, "score": 0.25}, "x", 0.25, ()),
        ({"id": 7, "messages": [{"role": "user", "content": "q"}, {"role": "assistant",
          "content": "x"}], "passed": False}, "x", 0.0, (Message("user", "q"),)),
        ({"id": "a", "prompt": "q", "output": [{"type": "text", "text": "x"}], "reward": 1}, "x",
         1.0, (Message("user", "q"),)),
        ({"id": "a", "is_correct": 1}, None, 1.0, ()),
        ({"id": "a", "completion": None, "error": "timeout"}, None, None, ()),
    ],
)  # fmt: skip
def test_lines_of_answers_in_the_shapes_that_people_write(
    tmp_path: Path,
    line: dict[str, Any],
    answer: str | None,
    value: float | None,
    prompt: tuple[Message, ...],
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n" + json.dumps(line) + "\n\n")
    (task,) = recording(file).tasks
    (item,) = task.items
    assert (item.answer, next(iter(item.metrics.values()), None)) == (answer, value)
    assert item.messages == prompt
    assert (item.error is None) == ("error" not in line)


def test_turns_of_a_chat_are_read_as_lm_eval_writes_them(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "lm_eval" / "q8", tmp_path / "chat")
    (file,) = (tmp_path / "chat").rglob("samples_*.jsonl")
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi?"}]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row["arguments"]["gen_args_0"]["arg_0"] = [json.dumps(turns)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (task,) = recording(tmp_path / "chat").tasks
    assert task.items[0].messages == (Message("system", "Be brief."), Message("user", "Hi?"))


@pytest.mark.public_data
def test_evalscope_reviews_add_up_to_their_reports() -> None:
    data = os.environ.get("EVALKIT_PUBLIC_DATA")
    if data is None:
        pytest.skip("no public data here: EVALKIT_PUBLIC_DATA names their folder")
    for arm in ("qwen-plus", "qwen3-max"):
        folder = Path(data) / "real_runs" / "evalscope_viz" / arm
        read = recording(folder)
        assert read.model == arm
        for task in read.tasks:
            report = json.loads(
                (folder / "reports" / f"{task.name.partition('_')[0]}.json").read_text()
            )
            values = [item.metrics[task.metrics[0]] or 0.0 for item in task.items]
            assert sum(values) / len(values) == pytest.approx(report["score"], abs=1e-3)
