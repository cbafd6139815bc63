"""Made questions of fact: enough of them, mostly fresh, and their oracles are right."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from evalkit.scoring.aliases import alias
from evalkit.scoring.facts import FactsScorer
from evalkit.scoring.text import normalise
from evalkit.tasksets.catalogue import Size, load_taskset
from evalkit.tasksets.generators.base import take
from evalkit.tasksets.generators.facts.knowledge import names, table
from evalkit.tasksets.generators.facts.missing import impossible_date
from evalkit.tasksets.generators.facts.places import currency
from evalkit.types import Language, Outcome, Sample
from tests.tasksets.generators.reviewed import check_reviewed

TABLES = (
    "countries",
    "elements",
    "works",
    "discoveries",
    "poems",
    "chinese_works",
    "dynasties",
    "geography",
)


def samples(language: Language, n: int) -> tuple[Sample, ...]:
    return load_taskset("facts-fresh", Size(n, 3, (language,))).samples


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_whole(name: str) -> None:
    for row in table(name):
        assert None not in row.values(), row
        blank = {key for key, cell in row.items() if not cell}
        assert blank <= {"year", "dynasty"}, row
        assert all(cell == cell.strip() for cell in row.values()), row


def test_names_that_stand_for_one_thing_stand_once() -> None:
    for name, column in (("countries", "en"), ("countries", "capital_zh"), ("elements", "symbol")):
        counted = Counter(names(row[column])[0] for row in table(name))
        assert counted.most_common(1)[0][1] == 1, counted.most_common(2)


@pytest.mark.parametrize(("language", "n"), [("en", 2000), ("zh", 1000)])
def test_there_are_enough_and_two_seeds_share_little(language: Language, n: int) -> None:
    ids = [{made.id for made in take("facts", language, seed, n, {})} for seed in (11, 12)]
    assert len(ids[0]) == n
    assert len(ids[0] & ids[1]) <= 0.12 * n


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_part_and_level_is_there(language: Language) -> None:
    made = samples(language, 900)
    levels = Counter(sample.metadata["level"] for sample in made)
    assert min(levels.values()) >= 0.1 * len(made)
    kinds = Counter(sample.target["kind"] for sample in made)
    assert 0.3 < kinds["unanswerable"] / len(made) < 0.6
    passages = Counter(sample.cluster for sample in made if sample.cluster)
    assert set(passages.values()) <= {1, 2}


def test_the_oracle_accepts_right_answers_and_refuses_wrong_ones() -> None:
    scorer = FactsScorer()
    for sample in samples("en", 700):
        target = sample.target
        if target["kind"] == "answer":
            right = [f"It is {alias}." for alias in target["aliases"]]
            wrong = [f"It is {rival}." for rival in target["rivals"]]
        elif target["kind"] == "number":
            right = [f"The answer is {target['value']}."]
            wrong = [f"The answer is {int(target['value']) + 3571}."]
        else:
            right = ["I don't know.", "There is no such thing, as far as I know."]
            right += [f"In fact it is {one}." for one in target["corrections"]]
            wrong = ["It is Springfield, and that was in 1444."]
        for text in right:
            assert scorer(sample, text).outcome is Outcome.CORRECT, (sample, text)
        for text in wrong:
            assert scorer(sample, text).outcome is Outcome.INCORRECT, (sample, text)


def test_the_oracle_reads_chinese() -> None:
    scorer = FactsScorer()
    for sample in samples("zh", 600):
        target = sample.target
        if target["kind"] == "answer":
            right = [f"是{alias}。" for alias in target["aliases"]]
            wrong = [f"是{rival}。" for rival in target["rivals"]]
        elif target["kind"] == "number":
            right = [f"答案是{target['value']}。"]
            wrong = [f"答案是{int(target['value']) + 3571}。"]
        else:
            right = ["我不知道。"] + [f"其实是{one}。" for one in target["corrections"]]
            wrong = ["是春田市，那是在1444年。"]
        for text in right:
            assert scorer(sample, text).outcome is Outcome.CORRECT, (sample, text)
        for text in wrong:
            assert scorer(sample, text).outcome is Outcome.INCORRECT, (sample, text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_declining_is_an_abstention_where_there_is_an_answer(language: Language) -> None:
    scorer = FactsScorer()
    declined = {"en": "I don't know.", "zh": "我不知道。"}[language]
    for sample in samples(language, 200):
        if sample.target["kind"] != "unanswerable":
            assert scorer(sample, declined).outcome is Outcome.ABSTAINED


def test_reviewed_samples_are_still_what_the_seed_makes() -> None:
    check_reviewed("facts")


@pytest.mark.parametrize(
    ("rows", "key", "name", "column", "written"),
    [
        ("countries", "en", "Turkey", "en", "Türkiye"),
        ("countries", "en", "Russia", "en", "the Russian Federation"),
        ("countries", "en", "Mongolia", "zh", "蒙古"),
        ("countries", "en", "South Korea", "zh", "大韩民国"),
        ("countries", "en", "Saudi Arabia", "zh", "沙特"),
        ("countries", "en", "Denmark", "currency_en", "Danish kroner"),
        ("countries", "en", "Namibia", "currency_en", "Namibia dollar"),
        ("dynasties", "zh", "唐朝", "capital_en", "Xi'an"),
        ("dynasties", "zh", "东晋", "capital_zh", "南京"),
        ("works", "en", "Death of a Salesman", "author_zh", "亚瑟·米勒"),
        ("works", "en", "The Little Prince", "author_zh", "圣埃克絮佩里"),
    ],
)
def test_usual_other_names_are_right(
    rows: str, key: str, name: str, column: str, written: str
) -> None:
    (row,) = [row for row in table(rows) if names(row[key])[0] == name]
    assert any(alias(one).mentions(normalise(written)) for one in names(row[column]))


def test_a_currency_of_the_same_bare_name_is_another_one() -> None:
    rng = random.Random(5)
    questions = [currency(rng, "en") for _ in range(2000)]
    asked = [question for question in questions if "Denmark" in question.text]
    assert asked
    assert all("Norwegian krone" in question.target["rivals"] for question in asked)


def test_what_has_not_come_yet_is_not_corrected_by_a_number_of_days() -> None:
    rng = random.Random(5)
    for question in [
        impossible_date(rng, language) for language in ("en", "zh") for _ in range(99)
    ]:
        later = re.search(r"2[1-3]\d\d|20[7-9]\d", question.text)
        assert bool(question.target["corrections"]) == (later is None), question


@pytest.mark.parametrize("name", TABLES)
def test_every_row_says_where_it_can_be_looked_up(name: str) -> None:
    assert all(row["source"] for row in table(name))
