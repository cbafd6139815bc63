"""Made long texts, documents and dialogues: enough, distinct, fresh, and their oracles right."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from evalkit.scoring.base import Judgement
from evalkit.scoring.longform import LongformScorer
from evalkit.scoring.longform_text import measure
from evalkit.tasksets.catalogue import Size, load_taskset
from evalkit.tasksets.generators.base import take
from evalkit.tasksets.generators.longform.documents import document
from evalkit.types import Flag, Language, Outcome, Sample
from tests.tasksets.generators.reviewed import check_reviewed

SCORER = LongformScorer()


@pytest.fixture(scope="module", params=["en", "zh"])
def samples(request: pytest.FixtureRequest) -> tuple[Sample, ...]:
    return load_taskset("longform-fresh", Size(400, 3, (request.param,))).samples


@pytest.mark.parametrize(("language", "n"), [("en", 2000), ("zh", 1000)])
def test_there_are_enough_and_two_seeds_share_nothing(language: Language, n: int) -> None:
    ids = [{made.id for made in take("longform", language, seed, n, {})} for seed in (11, 12)]
    assert len(ids[0]) == n
    assert not ids[0] & ids[1]
    assert {made.id for made in take("longform", language, 11, n, {})} == ids[0]


def test_every_part_and_level_is_there(samples: tuple[Sample, ...]) -> None:
    parts = Counter(sample.category for sample in samples)
    assert set(parts) == {"write", "continue", "summarize", "recall", "dialogue"}
    assert min(parts.values()) >= 0.1 * len(samples)
    levels = Counter(sample.metadata["level"] for sample in samples)
    assert min(levels.values()) >= 0.12 * len(samples), levels
    assert {sample.metadata.get("context") for sample in samples} == {None, 1024, 4096}
    assert {sample.metadata.get("depth") for sample in samples} >= {"early", "middle", "late"}
    assert all(sample.messages[-1].role == "user" for sample in samples)
    long = [s.target["length"] for s in samples if s.category == "write"]
    assert min(one["least"] for one in long) == 25
    assert max(one["most"] for one in long) == 2000


def prompt(sample: Sample) -> str:
    return sample.messages[-1].content


def faithful(sample: Sample) -> str:
    """Return a text that keeps to the sheet: the sheet itself, or what the document says."""
    text = prompt(sample)
    stop = "." if sample.language == "en" else "。"
    if sample.category == "write":
        body = "\n".join(re.findall(r"^- (.*)$", text, re.MULTILINE)).replace("\n", f"{stop}\n")
    else:
        name = sample.target["facts"][0]["values"][0]
        asked = [fact["values"][0] for fact in sample.target["facts"]]
        body = next(p for p in text.split("\n\n") if name in p and all(one in p for one in asked))
    filler = {"en": "And nobody hurries there at all. ", "zh": "那里没有人着急。"}[sample.language]
    body = f"{body}{stop}\n"
    while measure(body, sample.language) < sample.target["length"]["least"]:
        body += filler
    return body


def falsehoods(fact: Mapping[str, Any], language: Language) -> Iterator[str]:
    """Yield sentences that contradict a fact, at each of its cues."""
    gap = " " if language == "en" else ""
    if "number" in fact:
        wrong = str(int(fact["number"]) + 7)
        if "before" in fact:
            yield f"{wrong}{gap}{fact['before'][0]}"
    else:
        wrong = next(iter(fact.get("others", ())), "")
        if wrong and "before" in fact:
            yield f"{wrong}{gap}{fact['before'][0]}"
    if wrong and "after" in fact:
        yield f"{fact['after'][0]}{gap}{wrong}"


def test_what_the_sheet_says_passes_and_each_contradiction_fails(
    samples: tuple[Sample, ...],
) -> None:
    tried = 0
    for sample in [one for one in samples if one.target["kind"] == "sheet"][:70]:
        good = faithful(sample)
        judgement = SCORER(sample, good)
        assert judgement.outcome is Outcome.CORRECT, (judgement.explanation, good)
        assert judgement.value is not None
        assert judgement.value > 0.6
        for fact in sample.target["facts"]:
            for wrong in falsehoods(fact, sample.language):
                tried += 1
                lead = {"en": "One hears", "zh": "听说"}[sample.language]
                bad = SCORER(sample, f"{good}\n{lead}: {wrong}, {lead}")
                assert bad.outcome is Outcome.INCORRECT, (wrong, fact)
                assert bad.value is not None
                assert bad.value < 0.5
                assert Flag.HALLUCINATED in bad.flags
                assert "late, at" in bad.explanation
    assert tried > 500


def answered(sample: Sample, choose: str) -> Judgement:
    lines = []
    unstated = {"en": "not stated", "zh": "未提及"}[sample.language]
    for at, question in enumerate(sample.target["questions"], 1):
        if choose == "none" or (choose == "right" and question.get("unknown")):
            said = unstated
        elif choose == "right":
            said = question["values"][0]
        elif "number" in question:
            said = str(int(question["number"]) + 1)
        else:
            said = next(iter(question.get("rivals", ())), "Springfield" if at else "")
        lines.append(f"{at}. {said}" if len(sample.target["questions"]) > 1 else said)
    return SCORER(sample, "\n".join(lines))


def test_right_answers_pass_and_near_ones_fail(samples: tuple[Sample, ...]) -> None:
    tried = 0
    for sample in samples:
        if sample.target["kind"] != "answers":
            continue
        tried += 1
        right = answered(sample, "right")
        assert (right.outcome, right.value) == (Outcome.CORRECT, 1.0), (right, sample.target)
        wrong = answered(sample, "wrong")
        assert (wrong.outcome, wrong.value) == (Outcome.INCORRECT, 0.0), (wrong, sample.target)
        unknown = sum(bool(one.get("unknown")) for one in sample.target["questions"])
        none = answered(sample, "none")
        share = unknown / len(sample.target["questions"])
        assert none.value == (1.0 if share == 1 else share / 2)
        assert none.outcome is (Outcome.CORRECT if share == 1 else Outcome.ABSTAINED)
    assert tried > 100


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["longform-16k", "longform-64k"])
def test_long_documents_are_shared_by_five_prompts(name: str, language: Language) -> None:
    made = load_taskset(name, Size(10, 5, (language,))).samples
    assert sorted(Counter(sample.cluster for sample in made).values()) == [5, 5]
    assert Counter(sample.category for sample in made) == {"recall": 8, "summarize": 2}
    context = made[0].metadata["context"]
    per_token = {"en": 3.9, "zh": 1.25}[language]
    assert all(0.8 < len(prompt(s)) / per_token / context < 0.95 for s in made)
    assert made[0].length_bucket == "long"


def test_every_question_has_one_answer_in_its_document() -> None:
    made = document(random.Random(4), "en", 65536)
    assert len({place.bare for place in made.places}) == len(made.places) > 300
    for place in made.places:
        paragraph = next(p for p in made.text.split("\n\n") if place.name in p)
        assert all(value in paragraph for value in place.facts.values())
        assert made.text.count(place.bare) == 1


def test_reviewed_samples_are_still_what_the_seed_makes() -> None:
    check_reviewed("longform")
