"""Texts that keep to a sheet must not be flagged, and what breaks it must be found and placed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evalkit.scoring.base import Judgement
from evalkit.scoring.longform import LongformScorer
from evalkit.tasksets.generators.longform.subject import Subject
from evalkit.tasksets.generators.longform.words import words
from evalkit.types import Family, Flag, Language, Outcome
from tests.scoring.samples import make_sample

SCORER = LongformScorer()
SHEETS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("longform_texts.yaml").read_text())
GOOD = [(name, text) for name, sheet in SHEETS.items() for text in sheet["good"]]
BAD = [(name, *case) for name, sheet in SHEETS.items() for case in sheet["bad"]]


def target(name: str) -> dict[str, Any]:
    sheet = SHEETS[name]
    language: Language = sheet["language"]
    kind = words(language)["kinds"][{"museum": 0, "hotel_zh": 1}[name]]
    place = Subject(language, "the Blue Heron Museum", "", "", sheet["facts"], kind)
    return {
        "kind": "sheet",
        "facts": [place.fact(key) for key in place.facts],
        "required": 0,
        "names": True,
    }


def judge(name: str, text: str) -> Judgement:
    sheet = SHEETS[name]
    sample = make_sample(Family.LONGFORM, target(name), sheet["prompt"], sheet["language"])
    return SCORER(sample, text)


@pytest.mark.parametrize(("name", "text"), GOOD)
def test_a_faithful_text_is_not_flagged(name: str, text: str) -> None:
    judgement = judge(name, text)
    assert judgement.outcome is Outcome.CORRECT, judgement.explanation


@pytest.mark.parametrize(("name", "text", "named"), BAD)
def test_a_false_statement_is_found_and_placed(name: str, text: str, named: str) -> None:
    lead = {"en": "It is a fine house. ", "zh": "这是一座好房子。"}[SHEETS[name]["language"]]
    judgement = judge(name, lead + text)
    assert judgement.outcome is Outcome.INCORRECT, judgement.explanation
    assert judgement.flags == (Flag.HALLUCINATED,)
    assert named in judgement.explanation


def test_there_are_as_many_as_the_readme_says() -> None:
    assert len(GOOD) == 75
    assert len(BAD) == 92
