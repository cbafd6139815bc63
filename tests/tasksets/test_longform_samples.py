"""The longform taskset against its own scorer: the sheet itself is right, a changed one is not."""

import pytest

from evalkit.resources import resource_dir
from evalkit.scoring.longform import LongformScorer
from evalkit.tasksets.jsonl import load_folder
from evalkit.types import Outcome, Sample

TASKSET = load_folder(resource_dir("tasksets") / "longform")
SCORER = LongformScorer()


def _ids(sample: Sample) -> str:
    return sample.id


def _sheet(sample: Sample) -> str:
    """Return the facts of the prompt, word by word, without the instruction."""
    return sample.messages[-1].content


def test_ids_languages_and_kinds() -> None:
    ids = [sample.id for sample in TASKSET.samples]
    assert len(set(ids)) == len(ids)
    languages = [sample.language for sample in TASKSET.samples]
    assert languages.count("en") >= 20
    assert languages.count("zh") >= 16
    assert {sample.category for sample in TASKSET.samples} == {"write", "continue", "recall"}


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_targets_are_well_formed(sample: Sample) -> None:
    facts = sample.target["facts"]
    names = [fact["name"] for fact in facts]
    assert len(set(names)) == len(names)
    assert all(fact["values"] for fact in facts)
    assert 2 <= sample.target["required"] <= len(facts)


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_the_sheet_itself_keeps_every_fact_and_contradicts_none(sample: Sample) -> None:
    judgement = SCORER(sample, _sheet(sample))
    assert judgement.outcome is Outcome.CORRECT, judgement.explanation
    assert "dropped" not in judgement.explanation


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_every_listed_contradiction_is_caught(sample: Sample) -> None:
    sheet = _sheet(sample)
    wrong = ["9876"]
    for fact in sample.target["facts"]:
        wrong += fact.get("rivals", [])
        wrong += fact.get("contradictions", [])
        wrong += [f"77 {cue}" for cue in fact.get("before", ())]
        wrong += [f"{cue} 77" for cue in fact.get("after", ())]
        if "person" in fact:
            wrong.append(f"{fact['person']} Zzyzx")
    for phrase in wrong:
        judgement = SCORER(sample, f"{sheet}\n{phrase}.")
        assert judgement.outcome is Outcome.INCORRECT, phrase


@pytest.mark.parametrize("sample", TASKSET.samples, ids=_ids)
def test_saying_nothing_is_abstained(sample: Sample) -> None:
    answer = {"en": "It is what it is.", "zh": "就是这样。"}[sample.language]
    assert SCORER(sample, answer).outcome is Outcome.ABSTAINED
