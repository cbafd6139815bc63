"""The generator `facts`: closed-book forms in turn, with a share that has no answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.tasksets.generators.base import GENERATORS, Draft

# Importing a module of forms adds its forms.
from evalkit.tasksets.generators.facts import culture, elements, places
from evalkit.tasksets.generators.facts.culture import poem
from evalkit.tasksets.generators.facts.forms import FORMS
from evalkit.tasksets.generators.facts.grounded import passages
from evalkit.tasksets.generators.facts.knowledge import Question
from evalkit.tasksets.generators.facts.missing import false_premise, impossible_date, invented
from evalkit.tasksets.generators.facts.reckoned import (
    conversion,
    days_of_a_month,
    roman_numeral,
)
from evalkit.types import Language

_MODULES = [module.__name__ for module in (elements, places, culture)]
# In an order of their own: whoever imports one of the modules first changes no stream.
_FORMS = sorted(FORMS, key=lambda entry: _MODULES.index(entry[0].__module__))
_RECKONED = (*[conversion] * 4, *[days_of_a_month] * 2, *[roman_numeral] * 2)


@GENERATORS.register("facts")
def generate(language: Language, seed: int, options: Mapping[str, Any]) -> Iterator[Draft]:
    """Make questions without end; there are no options.

    A round asks most closed-book forms once (those over short tables less often, so that two
    seeds share little; poems thrice, in Chinese only), eight questions by rule, and beside
    them six invented things, four false premises, one impossible date and four passages with
    two questions each.
    """
    rng = random.Random(f"facts/{language}/{seed}")
    while True:
        batch = [ask(rng, language) for ask, share in _FORMS if rng.random() < share]
        batch += [ask(rng, language) for ask in _RECKONED]
        batch += [invented(rng, language) for _ in range(6)]
        batch += [false_premise(rng, language) for _ in range(4)]
        batch.append(impossible_date(rng, language))
        batch += [question for _ in range(4) for question in passages(rng, language)]
        if language == "zh":
            batch += [poem(rng) for _ in range(3)]
        rng.shuffle(batch)
        yield from map(_draft, batch)


def _draft(question: Question) -> Draft:
    return Draft.ask(
        question.text,
        category=question.category,
        target=question.target,
        level=question.level,
        cluster=question.cluster,
    )
