"""Logs of other tools, compared: what pairs, what confounds, and what stands in the run folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.api import compare
from evalkit.collect.journal import open_run
from evalkit.errors import EvalKitError, InvalidComparison, LogError, StoreError, UsageError
from evalkit.results import CandidateResult, VerdictState
from tests.importers.test_formats import FIXTURES, mean, recording

Row = dict[str, Any]


def answers(path: Path, *rows: Row, n: int = 12, **every: Any) -> Path:
    """Write answers: one for each of n ids, and what the rows say instead."""
    usual = {
        str(i): {"id": str(i), "prompt": f"What is {i}?", "completion": f"{path.stem} {i}"}
        | {"correct": True, "family": "math"}
        | every
        for i in range(n)
    }
    for row in rows:
        usual[str(row["id"])] = {**usual.get(str(row["id"]), {}), **row}
    path.write_text("".join(json.dumps(row) + "\n" for row in usual.values()))
    return path


def lm_eval(tmp_path: Path, change: Callable[[list[Row], Row], None], arm: str = "low") -> Path:
    """Copy a log of lm-eval, changed."""
    folder = tmp_path / "changed"
    shutil.copytree(FIXTURES / "lm_eval" / arm, folder)
    (samples,), (totals,) = folder.rglob("samples_*.jsonl"), folder.rglob("results_*.json")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    head = json.loads(totals.read_text())
    change(rows, head)
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    totals.write_text(json.dumps(head))
    return folder


def result_of(
    baseline: str | Path, candidate: str | Path, out: Path, **more: Any
) -> CandidateResult:
    return compare(baseline, candidate, output=out, **more).content.results[0]


def messages(result: CandidateResult) -> str:
    return " | ".join(str(code.values.get("message", code.code)) for code in result.verdict.codes)


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [
        ("lm_eval/q8", "lm_eval/low"),
        ("inspect/q8.eval", "inspect/low.eval"),
        ("inspect/q8.eval", "inspect/low.json"),
        ("nemo/q8-0.3", "nemo/low-0.3"),
        ("nemo/q8-0.2", "nemo/low-0.2"),
        ("promptfoo/both.json#q8", "promptfoo/both.json#low"),
    ],
)
def test_the_comparison_counts_what_the_tools_counted(
    tmp_path: Path, baseline: str, candidate: str
) -> None:
    result = result_of(FIXTURES / baseline, FIXTURES / candidate, tmp_path)
    pooled = result.pooled
    assert pooled.baseline.accuracy.value == pytest.approx(mean(recording(FIXTURES / baseline)))
    assert pooled.candidate.accuracy.value == pytest.approx(mean(recording(FIXTURES / candidate)))
    assert pooled.hallucination is None
    (family,) = result.families
    assert family.scope == "facts"
    (told,) = [threat for threat in result.threats if threat.code == "RECORDED"]
    assert "weights" in told.values["untested"]


def test_an_imported_run_stands_alone(tmp_path: Path) -> None:
    """It can be moved, compared and scored again; importing again changes nothing."""
    out = tmp_path / "out"
    words = FIXTURES / "lm_eval/q8", FIXTURES / "lm_eval/low"
    first = compare(*words, output=out)
    again = compare(*words, output=out)
    assert again.content.results[0].pooled == first.content.results[0].pooled
    assert again.content.results[0].look == first.content.results[0].look
    shutil.copytree(out / "runs", tmp_path / "moved")
    shutil.rmtree(out)
    moved = result_of(tmp_path / "moved/q8", tmp_path / "moved/low", tmp_path / "new")
    assert moved.pooled == first.content.results[0].pooled
    header = open_run(tmp_path / "moved/q8").read_header() or {}
    assert header["recorded"]["by"] == "lm-eval 0.4.13"
    assert header["created"].startswith("20")


def test_what_was_asked_otherwise_makes_it_invalid_unless_allowed(tmp_path: Path) -> None:
    words = FIXTURES / "lm_eval/q8", FIXTURES / "lm_eval/q8-zero-shot"
    result = result_of(*words, tmp_path / "a")
    assert result.verdict.state is VerdictState.INVALID
    said = messages(result)
    assert "few-shot examples is 2 for the baseline, 0 for the candidate" in said
    assert "16 of 16 prompts" in said
    assert "after 33 characters" in said
    allowed = result_of(*words, tmp_path / "b", allow_confounded=True)
    assert allowed.verdict.state is not VerdictState.INVALID
    assert allowed.pooled.baseline.n == 16
    assert {t.code for t in allowed.threats} >= {"CONFOUNDED", "RECORDED"}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("fewshot_seed", 4321, "fewshot seed is 1234"),
        ("random_seed", 9, "random seed is 0"),
    ],
)
def test_other_seeds_are_told(tmp_path: Path, key: str, value: int, said: str) -> None:
    def change(_: list[Row], head: Row) -> None:
        head["config"][key] = value

    result = result_of(FIXTURES / "lm_eval/q8", lm_eval(tmp_path, change), tmp_path / "out")
    assert result.verdict.state is VerdictState.INVALID
    assert said in messages(result)


def test_other_generation_settings_are_told(tmp_path: Path) -> None:
    def change(_: list[Row], head: Row) -> None:
        head["configs"]["capitals"]["generation_kwargs"]["temperature"] = 0.7

    result = result_of(FIXTURES / "lm_eval/q8", lm_eval(tmp_path, change), tmp_path / "out")
    assert "'temperature': 0.7" in messages(result)


def test_another_limit_is_told_and_the_shared_documents_are_compared(tmp_path: Path) -> None:
    def change(rows: list[Row], _: Row) -> None:
        rows[:] = [row for row in rows if row["doc_id"] < 12]

    folder = lm_eval(tmp_path, change)
    result = result_of(FIXTURES / "lm_eval/q8", folder, tmp_path / "a")
    assert result.verdict.state is VerdictState.INVALID
    assert "4 of 16 documents were asked of the baseline alone, e.g. 12" in messages(result)
    assert result.pooled.baseline.n == 12


def test_another_document_of_the_same_number_is_refused_with_an_example(tmp_path: Path) -> None:
    def change(rows: list[Row], _: Row) -> None:
        for row in rows:
            if row["doc_id"] in (3, 5):
                row["doc_hash"] = "0" * 64
                row["target"] = "Atlantis"

    folder = lm_eval(tmp_path, change)
    with pytest.raises(InvalidComparison, match=r"2 documents .* document 3: .*Atlantis") as caught:
        result_of(FIXTURES / "lm_eval/q8", folder, tmp_path / "a")
    assert caught.value.exit_code == 5
    left = result_of(FIXTURES / "lm_eval/q8", folder, tmp_path / "b", allow_confounded=True)
    assert left.pooled.baseline.n == 14


def test_the_score_that_counts_can_be_chosen(tmp_path: Path) -> None:
    words = FIXTURES / "inspect/q8.json", FIXTURES / "inspect/low.json"
    for place, (metric, name) in enumerate([("match", "match"), ("includes", "includes")]):
        result = result_of(*words, tmp_path / str(place), metrics={"*": metric})
        expected = mean(recording(FIXTURES / "inspect/q8.json"), name)
        assert result.pooled.baseline.accuracy.value == pytest.approx(expected)
    with pytest.raises(UsageError, match="No task has a metric 'bleu'"):
        result_of(*words, tmp_path / "c", metrics={"*": "bleu"})


def test_families_come_from_the_user_before_the_name(tmp_path: Path) -> None:
    words = FIXTURES / "lm_eval/q8", FIXTURES / "lm_eval/low"
    for wish, family in (({"*": "code"}, "code"), ({"capitals": "math"}, "math")):
        result = result_of(*words, tmp_path / family, families=wish)
        assert [one.scope for one in result.families] == [family]


def test_missing_answers_of_traffic_are_missing_and_never_wrong(tmp_path: Path) -> None:
    one = answers(tmp_path / "fp8.jsonl")
    other = answers(
        tmp_path / "int4.jsonl",
        {"id": "3", "error": "timeout", "completion": None},
        {"id": "12", "prompt": "What is 12?", "correct": False},
    )
    result = result_of(one, other, tmp_path / "out")
    assert result.pooled.candidate.n == 11
    assert (result.pooled.baseline.missing, result.pooled.candidate.missing) == (1, 1)
    assert result.pooled.candidate.accuracy.value == 1.0
    reasons = next(t.values for t in result.threats if t.code == "MISSING_REASONS")
    assert reasons == {"recorded:NotRecorded": 1, "recorded:RecordedError": 1}


def test_scores_without_texts_are_no_equal_texts(tmp_path: Path) -> None:
    rows = [{"id": str(i), "score": 1.0} for i in range(12)]
    for name in ("a", "b"):
        text = "".join(json.dumps({**row, "model": name}) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    result = result_of(tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "out")
    assert result.verdict.state is VerdictState.INCONCLUSIVE
    (told,) = [threat for threat in result.threats if threat.code == "RECORDED"]
    assert {"texts", "prompts"} <= set(told.values["untested"])


def test_a_log_and_its_copy_are_the_same_log(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "lm_eval/q8", tmp_path / "copy")
    result = result_of(FIXTURES / "lm_eval/q8", tmp_path / "copy", tmp_path / "out")
    assert result.verdict.state is VerdictState.INVALID
    assert "SAME_ENDPOINT" in [code.code for code in result.verdict.codes]


def test_repeats_are_no_prompts_of_their_own(tmp_path: Path) -> None:
    result = result_of(FIXTURES / "inspect/q8.eval", FIXTURES / "inspect/low.eval", tmp_path)
    assert result.pooled.baseline.n == 24
    assert result.pooled.accuracy.difference.n_clusters == 12
    mixed = []
    for name in ("a", "b"):
        rows = [
            {"id": i, "epoch": e, "task": task, "completion": f"{name}{i}{e}", "correct": True}
            for task, epochs in (("math", 2), ("facts", 1))
            for i in range(6)
            for e in range(epochs)
        ]
        mixed.append(tmp_path / f"{name}.jsonl")
        mixed[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = result_of(*mixed, tmp_path / "mixed")
    assert result.pooled.baseline.n == 18
    (math,) = [one for one in result.families if one.scope == "math"]
    assert math.accuracy.difference.n_clusters == 6


def test_equal_prompts_keep_an_answer_each(tmp_path: Path) -> None:
    rows = [{"id": str(i), "prompt": "Heads or tails?", "correct": i % 2 == 0} for i in range(12)]
    one, other = (answers(tmp_path / f"{name}.jsonl", *rows) for name in ("a", "b"))
    result = result_of(one, other, tmp_path / "out")
    assert result.pooled.baseline.n == 12
    assert result.pooled.baseline.correct == 6
    assert result.pooled.accuracy.difference.n_clusters == 1


def test_weighed_choices_are_compared_by_their_scores(tmp_path: Path) -> None:
    def change(rows: list[Row], _: Row) -> None:
        for row in rows:
            row["filtered_resps"] = [["-1.5", "False"], ["-2.5", "False"]]
        rows[0]["acc"] = 1.0 - rows[0]["acc"]

    folder = lm_eval(tmp_path, change, "choice")
    result = result_of(FIXTURES / "lm_eval/choice", folder, tmp_path / "out")
    assert result.verdict.state is not VerdictState.INVALID
    assert result.pooled.flips.gained + result.pooled.flips.lost == 1
    assert result.pooled.candidate.flags == {}


def test_answers_without_scores_are_scored_by_the_taskset_that_was_asked(tmp_path: Path) -> None:
    from evalkit.tasksets.catalogue import load_taskset

    samples = load_taskset("math").samples
    for name, wrong in (("a", 3), ("b", 4)):
        rows = [
            {"id": s.id, "completion": f"{name}: The answer is {v if i % wrong else 'none'}."}
            for i, s in enumerate(samples)
            if (v := s.target.get("value"))
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    words = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    with pytest.raises(LogError, match="without a score"):
        result_of(*words, tmp_path / "out")
    result = result_of(*words, tmp_path / "out", tasks=["math"])
    assert [one.scope for one in result.families] == ["math"]
    assert 0.5 < result.pooled.baseline.accuracy.value < result.pooled.candidate.accuracy.value
    text = (tmp_path / "b.jsonl").read_text().replace('"completion"', '"prompt": "?", "completion"')
    (tmp_path / "b.jsonl").write_text(text)
    with pytest.raises(InvalidComparison, match="another prompt"):
        result_of(*words, tmp_path / "new", tasks=["math"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lm_eval/q8", "inspect/low.eval"], "do not pair"),
        (["lm_eval/q8", "q4"], "is an endpoint"),
        (["promptfoo/both.json", "promptfoo/both.json#low"], "holds 2 providers"),
        (["promptfoo/both.json#q8", "promptfoo/both.json#q9"], "no provider 'q9'"),
        (["lm_eval", "lm_eval/low"], "models"),
    ],
)
def test_what_does_not_pair_is_refused(tmp_path: Path, words: list[str], said: str) -> None:
    targets = [str(FIXTURES / word) if "/" in word or word == "lm_eval" else word for word in words]
    with pytest.raises(UsageError, match=said):
        compare(*targets, output=tmp_path)


def test_texts_of_a_log_are_not_redacted_afterwards(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too late"):
        result_of(FIXTURES / "lm_eval/q8", FIXTURES / "lm_eval/low", tmp_path, redact=True)
    assert not [*tmp_path.iterdir()]


def test_answers_that_evalkit_asked_for_are_not_overwritten(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "q8"
    run.mkdir(parents=True)
    (run / "header.json").write_text('{"endpoint": {"name": "q8"}}')
    with pytest.raises(StoreError, match="another --output"):
        result_of(FIXTURES / "lm_eval/q8", FIXTURES / "lm_eval/low", tmp_path)


def test_names_of_tasks_lead_nowhere(tmp_path: Path) -> None:
    inside = tmp_path / "deep" / "down"
    inside.mkdir(parents=True)
    evil = "../../../evil"
    words = [answers(inside / f"{name}.jsonl", task=evil) for name in ("a", "b")]
    result = result_of(*words, inside / "out")
    assert result.pooled.baseline.n == 12
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep"]
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["down"]


def test_no_error_shows_a_traceback_for_a_run_that_was_damaged_later(tmp_path: Path) -> None:
    words = FIXTURES / "lm_eval/q8", FIXTURES / "lm_eval/low"
    compare(*words, output=tmp_path / "out")
    recorded = tmp_path / "out/runs/q8/recorded.jsonl"
    recorded.write_bytes(recorded.read_bytes()[:300])
    with pytest.raises(EvalKitError) as caught:
        result_of(tmp_path / "out/runs/q8", tmp_path / "out/runs/low", tmp_path / "new")
    assert caught.value.exit_code == 2
