"""Made word problems: enough of them, distinct, fresh, and right."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from evalkit.scoring.math import MathScorer
from evalkit.tasksets.catalogue import Size, load_taskset
from evalkit.tasksets.generators.base import Made, take
from evalkit.tasksets.generators.math.problem import written
from evalkit.tasksets.generators.math.stream import TEMPLATES
from evalkit.types import Language, Outcome
from tests.tasksets.generators.reviewed import check_reviewed


@pytest.fixture(scope="module")
def english() -> tuple[Made, ...]:
    return take("math", "en", 1, 2000, {})


@pytest.fixture(scope="module")
def chinese() -> tuple[Made, ...]:
    return take("math", "zh", 1, 1000, {})


def test_there_are_enough_templates_in_every_category() -> None:
    assert len(TEMPLATES) >= 60
    assert min(Counter(t.category for t in TEMPLATES.values()).values()) >= 4


@pytest.mark.parametrize(("language", "n"), [("en", 2000), ("zh", 1000)])
def test_two_seeds_share_almost_nothing(language: Language, n: int) -> None:
    ids = [{made.id for made in take("math", language, seed, n, {})} for seed in (11, 12)]
    assert len(ids[0] & ids[1]) <= 0.02 * n


def test_every_level_step_and_template_is_there(english: tuple[Made, ...]) -> None:
    levels = Counter(made.draft.level for made in english)
    assert min(levels.values()) >= 0.12 * len(english), levels
    assert {made.draft.metadata["steps"] for made in english} >= set(range(1, 9))
    assert {made.draft.metadata["template"] for made in english} == set(TEMPLATES)
    distracted = sum(made.draft.metadata["distractor"] for made in english)
    assert 0.25 < distracted / len(english) < 0.35


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_right_answer_is_right_and_a_near_one_wrong(language: Language) -> None:
    scorer = MathScorer()
    lead = {"en": "Let us see. 3 + 4 = 7.\nThe answer is", "zh": "先算3+4=7。\n答案是"}[language]
    samples = load_taskset("math-fresh", Size(900, 3, (language,))).samples
    for sample in samples:
        target = sample.target
        value, unit = Fraction(target["value"]), target.get("unit", "")
        mark = "%" if target.get("percent") else f" {unit}"
        good = scorer(sample, f"{lead} {target['value']}{mark}.")
        assert good.outcome is Outcome.CORRECT, (sample.messages[-1].content, good)
        bad = scorer(sample, f"{lead} {written(value + 1)}{mark}.")
        assert bad.outcome is Outcome.INCORRECT, (sample.messages[-1].content, bad)


def test_answers_are_numbers_that_people_write(
    english: tuple[Made, ...], chinese: tuple[Made, ...]
) -> None:
    for made in (*english, *chinese):
        value = str(made.draft.target["value"])
        assert Fraction(value) >= 0
        assert len(value.partition(".")[2]) <= 3, value


def test_texts_are_whole(english: tuple[Made, ...], chinese: tuple[Made, ...]) -> None:
    for made in english:
        text = made.draft.messages[0].content
        assert text[0].isupper() or text[0].isdigit(), text
        assert text.endswith(("?", ".")), text
        assert not any(slip in text for slip in ("  ", " 1 hours")), text
        assert text.isascii(), text
    for made in chinese:
        text = made.draft.messages[0].content
        assert text.endswith(("？", "。")), text
        assert " " not in text, text


def test_reviewed_samples_are_still_what_the_seed_makes() -> None:
    check_reviewed("math")
