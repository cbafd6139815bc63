from __future__ import annotations

import re

import pytest

from evalkit.resources import resource_dir
from evalkit.scoring.sandbox import run_program
from evalkit.tasksets.jsonl import load_folder
from evalkit.types import Family, Sample

TASKSET = load_folder(resource_dir("tasksets") / "code")


def test_it_is_what_it_says() -> None:
    assert (TASKSET.family, TASKSET.scorer, TASKSET.code) == (Family.CODE, "code", True)
    assert not TASKSET.measures_hallucination
    languages = [sample.language for sample in TASKSET.samples]
    assert languages.count("en") >= 20
    assert languages.count("zh") >= 12


def test_no_function_is_asked_for_twice() -> None:
    names = [sample.target["entry_point"] for sample in TASKSET.samples]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("sample", TASKSET.samples, ids=lambda sample: sample.id)
def test_the_reference_passes_and_every_wrong_variant_fails(sample: Sample) -> None:
    target = sample.target
    name = target["entry_point"]
    assert run_program(target["reference"], target["tests"], entry_point=name).passed
    assert target["wrong"]
    for wrong in target["wrong"]:
        assert f"def {name}(" in wrong
        assert not run_program(wrong, target["tests"], entry_point=name).passed


@pytest.mark.parametrize("sample", TASKSET.samples, ids=lambda sample: sample.id)
def test_the_prompt_names_the_function_and_gives_nothing_away(sample: Sample) -> None:
    question = sample.messages[-1].content
    assert f"`{sample.target['entry_point']}(" in question
    body = sample.target["reference"].split("\n", 1)[1].strip()
    assert body not in "".join(message.content for message in sample.messages)
    assert bool(re.search("[\u4e00-\u9fff]", question)) == (sample.language == "zh")
