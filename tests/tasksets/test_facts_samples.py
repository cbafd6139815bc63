"""The facts taskset against its own scorer: the answer is right, a rival is not."""

import pytest

from evalkit.resources import resource_dir
from evalkit.scoring.facts import FactsScorer
from evalkit.tasksets.jsonl import load_folder
from evalkit.types import Outcome, Sample

TASKSET = load_folder(resource_dir("tasksets") / "facts")
SCORER = FactsScorer()
UNKNOWN = {"en": "I don't know.", "zh": "我不知道。"}


def _ids(sample: Sample) -> str:
    return sample.id


def test_ids_languages_and_size() -> None:
    ids = [sample.id for sample in TASKSET.samples]
    assert len(set(ids)) == len(ids)
    languages = [sample.language for sample in TASKSET.samples]
    assert languages.count("en") >= 24
    assert languages.count("zh") >= 16
    assert {sample.metadata["level"] for sample in TASKSET.samples} == {"easy", "medium", "hard"}


def test_where_there_is_no_answer_is_well_covered() -> None:
    unanswerable = [s for s in TASKSET.samples if s.target["kind"] == "unanswerable"]
    assert len(unanswerable) >= 8
    assert {sample.language for sample in unanswerable} == {"en", "zh"}


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_the_target_answer_is_correct(sample: Sample) -> None:
    target = sample.target
    right = {
        "answer": lambda: target["aliases"],
        "number": lambda: [target["value"], f"It is {target['value']}."],
        "unanswerable": lambda: [UNKNOWN[sample.language], *target.get("corrections", ())],
    }[target["kind"]]()
    for answer in right:
        assert SCORER(sample, answer).outcome is Outcome.CORRECT, answer


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_a_wrong_answer_is_a_hallucination(sample: Sample) -> None:
    target = sample.target
    wrong = {
        "answer": lambda: [*target.get("rivals", ()), "Zzyzx"],
        "number": lambda: [f"{int(target['value']) + 1000}"],
        "unanswerable": lambda: ["Zzyzx, 1876."],
    }[target["kind"]]()
    for answer in wrong:
        assert SCORER(sample, answer).outcome is Outcome.INCORRECT, answer


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_not_knowing_is_abstained_where_there_is_an_answer(sample: Sample) -> None:
    answerable = sample.target["kind"] != "unanswerable"
    expected = Outcome.ABSTAINED if answerable else Outcome.CORRECT
    assert SCORER(sample, UNKNOWN[sample.language]).outcome is expected
