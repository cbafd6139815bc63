"""The generator `instructions`: each kind in turn, with others that go with it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalkit.tasksets.generators.base import GENERATORS, Draft, Level

# Importing a module of kinds adds its kinds.
from evalkit.tasksets.generators.instructions import forms, framing, words  # noqa: F401
from evalkit.tasksets.generators.instructions.kinds import KINDS, Kind, Part, Scene, topics
from evalkit.types import Language

_TASKS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Write a short text about {t}.",
        "Tell a little story about {t}.",
        "Describe {t} to a child.",
        "Describe {t} for a travel magazine.",
        "Write a message to a friend about {t}.",
        "Explain to a newcomer what to know about {t}.",
        "Write an entry for a diary about {t}.",
        "Write a radio announcement about {t}.",
        "Give some advice on {t}.",
        "Write a few thoughts on {t}.",
        "Write a product review that mentions {t}.",
        "Write the opening of a novel about {t}.",
    ),
    "zh": (
        "写一段关于{t}的短文。",
        "讲一个关于{t}的小故事。",
        "向小朋友介绍{t}。",
        "为旅游杂志写一段关于{t}的文字。",
        "给朋友写一条关于{t}的消息。",
        "向新手说明{t}需要了解什么。",
        "写一篇关于{t}的日记。",
        "写一则关于{t}的广播稿。",
        "就{t}给出一些建议。",
        "谈谈你对{t}的看法。",
        "写一篇提到{t}的评论。",
        "为一部关于{t}的小说写开头。",
    ),
}
_LEVELS: tuple[tuple[Level, tuple[int, ...]], ...] = (
    ("easy", (1,)),
    ("medium", (2,)),
    ("hard", (3, 4)),
)
# What a text follows that was hardly told to: most easy prompts are of these, so that a very
# small model is not at zero.
_GENTLE = frozenset(
    {
        "keywords:existence",
        "keywords:forbidden_words",
        "keywords:letter_frequency",
        "keywords:word_order",
        "length_constraints:number_words",
        "length_constraints:number_characters",
        "length_constraints:number_sentences",
        "length_constraints:word_length",
        "punctuation:no_comma",
        "punctuation:no_digits",
        "punctuation:forbidden_marks",
    }
)
_CATEGORIES = {
    "keywords": "keywords",
    "length_constraints": "length",
    "detectable_format": "format",
    "detectable_content": "content",
    "combination": "combination",
    "startend": "start_end",
    "change_case": "case",
    "punctuation": "punctuation",
    "language": "language",
}


@dataclass(frozen=True, slots=True)
class Composed:
    """Instructions that go together, in the order in which they are written."""

    task: str
    kinds: tuple[Kind, ...]
    parts: tuple[Part, ...]


@GENERATORS.register("instructions")
def generate(language: Language, seed: int, options: Mapping[str, Any]) -> Iterator[Draft]:
    """Make requests without end; there are no options.

    A round leads with every kind once at the medium and the hard level, and as often at the
    easy one, there with more of the gentle kinds; in a new order each round. An easy prompt has
    one instruction, a medium one two, a hard one three or four.
    """
    rng = random.Random(f"instructions/{language}/{seed}")
    spoken = [kind for kind in KINDS if language in kind.languages]
    gentle = [kind for kind in spoken if kind.id in _GENTLE]
    while True:
        easy = rng.sample([*spoken, *gentle * 3], len(spoken))
        leads = [(kind, *_LEVELS[0]) for kind in easy]
        leads += [(kind, *level) for kind in spoken for level in _LEVELS[1:]]
        rng.shuffle(leads)
        for lead, level, sizes in leads:
            chosen = _companions(rng, lead, spoken, rng.choice(sizes))
            if len(chosen) in sizes:
                yield _draft(rng, language, _compose(rng, language, level, chosen), level, lead)


def _companions(
    rng: random.Random, lead: Kind, spoken: Sequence[Kind], size: int
) -> tuple[Kind, ...]:
    """Return the lead with others that go with it and with each other."""
    chosen = [lead]
    if "alone" in lead.claims:
        return (lead,)
    for kind in rng.sample(spoken, len(spoken)):
        if len(chosen) < size and "alone" not in kind.claims and kind.goes_with(chosen):
            chosen.append(kind)
    return tuple(chosen)


def _compose(
    rng: random.Random, language: Language, level: Level, kinds: Sequence[Kind]
) -> Composed:
    topic = rng.choice(topics(language))
    task = rng.choice(_TASKS[language]).format(t=topic.name)
    scene = Scene(rng, language, topic, level, task)
    order = sorted(kinds, key=lambda kind: kind.last)
    made: list[Part] = []
    for kind in order:
        needs = " ".join(part.needs for part in made).lower()
        made.append(kind.make(replace(scene, needs=needs)))
    tasks = [part.task for part in made if part.task]
    return Composed(tasks[0] if tasks else task, tuple(order), tuple(made))


def _draft(
    rng: random.Random, language: Language, composed: Composed, level: Level, lead: Kind
) -> Draft:
    pairs = list(zip(composed.kinds, composed.parts, strict=True))
    rng.shuffle(pairs)
    answer = next((p.answer_language for _, p in pairs if p.answer_language), language)
    return Draft.ask(
        _text(rng, language, composed.task, [part.text for _, part in pairs]),
        category=_CATEGORIES[lead.id.partition(":")[0]],
        target={
            "instructions": [{"id": kind.id, "kwargs": dict(part.kwargs)} for kind, part in pairs]
        },
        level=level,
        constraints=len(pairs),
        answer_language=answer,
    )


def _text(rng: random.Random, language: Language, task: str, texts: Sequence[str]) -> str:
    if len(texts) > 1 and rng.random() < 0.4:
        return "\n".join([task, *(f"- {text}" for text in texts)])
    if language == "zh":
        return task + "".join(texts)
    # A mark at the end of an instruction would run into the next one.
    ended = [text if text.endswith((".", '"', "!", "?")) else f"{text}\n" for text in texts]
    return " ".join([task, *ended]).replace("\n ", "\n").strip()
