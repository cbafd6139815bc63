from __future__ import annotations

import re

import pytest

from evalkit.resources import resource_dir
from evalkit.scoring.checks import CHECKS, follows
from evalkit.scoring.instructions import InstructionsScorer
from evalkit.tasksets.jsonl import load_folder
from evalkit.types import Family, Outcome, Sample

TASKSET = load_folder(resource_dir("tasksets") / "instructions")


def test_it_is_what_it_says() -> None:
    assert (TASKSET.family, TASKSET.scorer) == (Family.INSTRUCTIONS, "instructions")
    assert not TASKSET.code
    assert not TASKSET.measures_hallucination
    languages = [sample.language for sample in TASKSET.samples]
    assert languages.count("en") >= 20
    assert languages.count("zh") >= 12


def test_no_prompt_is_asked_twice() -> None:
    prompts = [sample.messages[-1].content for sample in TASKSET.samples]
    assert len(set(prompts)) == len(prompts)


@pytest.mark.parametrize("sample", TASKSET.samples, ids=lambda sample: sample.id)
def test_every_instruction_is_known_and_has_its_arguments(sample: Sample) -> None:
    for instruction in sample.target["instructions"]:
        assert set(instruction) == {"id", "kwargs"}
        assert instruction["id"] in CHECKS
        follows(instruction["id"], "Some answer. 一个回答。", instruction["kwargs"])


@pytest.mark.parametrize("sample", TASKSET.samples, ids=lambda sample: sample.id)
def test_a_good_answer_is_correct_and_a_bad_one_is_not(sample: Sample) -> None:
    score = InstructionsScorer()
    good, bad = sample.target["good"], sample.target["bad"]
    assert score(sample, good).outcome is Outcome.CORRECT
    assert score(sample, bad).outcome is Outcome.INCORRECT


@pytest.mark.parametrize("sample", TASKSET.samples, ids=lambda sample: sample.id)
def test_prompts_are_in_their_language(sample: Sample) -> None:
    question = sample.messages[-1].content
    assert bool(re.search("[\u4e00-\u9fff]", question)) == (sample.language == "zh")


@pytest.mark.parametrize(
    "sample",
    [sample for sample in TASKSET.samples if len(sample.messages) > 2],
    ids=lambda sample: sample.id,
)
def test_copying_the_example_is_not_enough_to_follow_a_keyword(sample: Sample) -> None:
    example = sample.messages[-2].content
    keywords = [
        instruction
        for instruction in sample.target["instructions"]
        if instruction["id"] == "keywords:existence"
    ]
    for instruction in keywords:
        assert not follows(instruction["id"], example, instruction["kwargs"])
