"""Made requests: enough of them, distinct, fresh, and never in conflict with themselves."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from evalkit.scoring.checks import CHECKS, follows
from evalkit.scoring.instructions import InstructionsScorer
from evalkit.scoring.judging import expected_language
from evalkit.tasksets.catalogue import Size, load_taskset
from evalkit.tasksets.generators.base import Made, take
from evalkit.tasksets.generators.instructions.kinds import KINDS, topics
from evalkit.types import Language, Outcome, Sample
from tests.scoring.test_instructions import IFEVAL
from tests.tasksets.generators.conforming import conforming, spoiled
from tests.tasksets.generators.reviewed import check_reviewed


@cache
def made(language: Language) -> tuple[Made, ...]:
    return take("instructions", language, 1, 2000 if language == "en" else 1000, {})


@cache
def samples(language: Language) -> tuple[Sample, ...]:
    return load_taskset("instructions-fresh", Size(400, 3, (language,))).samples


def used(language: Language) -> Counter[str]:
    return Counter(i["id"] for one in made(language) for i in one.draft.target["instructions"])


def test_all_kinds_of_ifeval_and_ten_more_are_asked_for() -> None:
    kinds = used("en") + used("zh")
    assert set(IFEVAL) <= set(kinds) == {kind.id for kind in KINDS} <= set(CHECKS)
    assert len(set(kinds) - set(IFEVAL)) >= 10
    assert len(used("zh")) >= 35


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_is_asked_for_often_enough_to_be_seen(language: Language) -> None:
    rare = {kind: n for kind, n in used(language).items() if n < len(made(language)) / 200}
    assert not rare


@pytest.mark.parametrize("language", ["en", "zh"])
def test_levels_are_as_frequent_as_each_other(language: Language) -> None:
    drafts = [one.draft for one in made(language)]
    levels = Counter(draft.level for draft in drafts)
    assert min(levels.values()) > 0.3 * len(drafts), levels
    sizes = {
        level: {d.metadata["constraints"] for d in drafts if d.level == level} for level in levels
    }
    assert sizes == {"easy": {1}, "medium": {2}, "hard": {3, 4}}
    assert all(len(d.target["instructions"]) == d.metadata["constraints"] for d in drafts)


@pytest.mark.parametrize(("language", "n"), [("en", 2000), ("zh", 1000)])
def test_two_seeds_share_almost_nothing(language: Language, n: int) -> None:
    ids = [{one.id for one in take("instructions", language, seed, n, {})} for seed in (11, 12)]
    assert len(ids[0] & ids[1]) <= 0.01 * n


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_answer_can_follow_all_instructions_of_a_prompt(language: Language) -> None:
    scorer = InstructionsScorer()
    for sample in samples(language):
        instructions = sample.target["instructions"]
        good = conforming(language, instructions)
        score = scorer(sample, good)
        assert score.outcome is Outcome.CORRECT, (sample.messages[-1].content, good, score)
        bad = [text for text in spoiled(language, instructions, good) if text.strip()]
        for one in instructions:
            assert any(not follows(one["id"], text, one["kwargs"]) for text in bad), one
        assert any(scorer(sample, text).outcome is Outcome.INCORRECT for text in bad)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_prompts_are_whole_and_in_their_language(language: Language) -> None:
    for sample in samples(language):
        text = sample.messages[-1].content
        assert not re.search(r"[{}]|  |\n\n|。。", text), text
        assert bool(re.search("[\u4e00-\u9fff]", text)) == (language == "zh"), text


def test_an_answer_in_another_language_is_expected_where_it_is_asked_for() -> None:
    for sample in (*samples("en"), *samples("zh")):
        asked = {i["id"]: i["kwargs"] for i in sample.target["instructions"]}
        expected = expected_language(sample)
        if "language:response_language" in asked:
            code = asked["language:response_language"]["language"]
            assert expected == (code if code in ("en", "zh") else None)
        elif "language:paragraph_languages" in asked:
            assert expected is None
        elif asked.keys() & {"change_case:english_capital", "change_case:english_lowercase"}:
            assert expected == "en"
        else:
            assert expected == sample.language


def test_topics_have_distinct_words_in_both_languages() -> None:
    for language in ("en", "zh"):
        for topic in topics(language):  # type: ignore[arg-type]
            assert len(set(topic.words)) == 8, topic
    assert len({topic.name for topic in topics("en")}) >= 50


def test_reviewed_samples_are_still_what_the_seed_makes() -> None:
    check_reviewed("instructions")
