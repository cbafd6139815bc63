"""The math taskset against its own scorer: the target is right, another number is not."""

import pytest

from evalkit.resources import resource_dir
from evalkit.scoring.math import MathScorer
from evalkit.scoring.numbers import parse_number
from evalkit.scoring.units import is_unit
from evalkit.tasksets.jsonl import load_folder
from evalkit.types import Outcome, Sample

TASKSET = load_folder(resource_dir("tasksets") / "math")
SCORER = MathScorer()
STATED = {"en": "The answer is {}.", "zh": "答案是 {}。"}


def _ids(sample: Sample) -> str:
    return sample.id


def test_ids_languages_and_kinds() -> None:
    ids = [sample.id for sample in TASKSET.samples]
    assert len(set(ids)) == len(ids)
    languages = [sample.language for sample in TASKSET.samples]
    assert languages.count("en") >= 24
    assert languages.count("zh") >= 16
    kinds = {"arithmetic", "integer", "decimal", "fraction", "percent", "units"}
    assert {sample.category for sample in TASKSET.samples} == kinds
    assert {sample.metadata["steps"] for sample in TASKSET.samples} == {1, 2, 3, 4}


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_the_target_is_correct_in_every_writing(sample: Sample) -> None:
    value, unit = sample.target["value"], sample.target.get("unit")
    stated = STATED[sample.language]
    assert unit is None or is_unit(unit)
    assert SCORER(sample, value).outcome is Outcome.CORRECT
    assert SCORER(sample, stated.format(value)).outcome is Outcome.CORRECT
    if unit is not None:
        assert SCORER(sample, stated.format(f"{value} {unit}")).outcome is Outcome.CORRECT
    if sample.target.get("percent"):
        assert SCORER(sample, stated.format(f"{value}%")).outcome is Outcome.CORRECT


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_another_number_is_incorrect(sample: Sample) -> None:
    value = parse_number(sample.target["value"])
    for wrong in (value + 1, value * 2, -value, value / 100):
        assert SCORER(sample, f"{wrong}").outcome is Outcome.INCORRECT, wrong


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_the_examples_do_not_give_the_question_away(sample: Sample) -> None:
    question = sample.messages[-1].content
    assert all(message.content != question for message in sample.messages[:-1])
