"""The generator `longform`: texts, continuations, documents and dialogues in a fixed mixture."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.tasksets.generators.base import GENERATORS, Draft
from evalkit.tasksets.generators.longform.dialogues import dialogue
from evalkit.tasksets.generators.longform.documents import document, recall, summarize
from evalkit.tasksets.generators.longform.texts import continuation, write
from evalkit.types import Language

# Of twenty prompts: texts, continuations, summaries, recall at two lengths, dialogues.
_MIXTURE = (
    *["write"] * 6,
    *["continue"] * 4,
    *["summarize"] * 2,
    *["recall"] * 3,
    *["recall_4k", "summarize_4k"],
    *["dialogue"] * 3,
)
_SHORT, _LONG = 1_024, 4_096


@GENERATORS.register("longform")
def generate(language: Language, seed: int, options: Mapping[str, Any]) -> Iterator[Draft]:
    """Make prompts without end.

    Options:
        context: Only documents, which fill a context of so many tokens.
        prompts: With `context`: prompts on each document, the last one a summary.
    """
    rng = random.Random(f"longform/{language}/{seed}/{options.get('context', '')}")
    if "context" in options:
        yield from _documents(rng, language, int(options["context"]), int(options["prompts"]))
    parts = list(_MIXTURE)
    while True:
        rng.shuffle(parts)
        for part in parts:
            yield _draft(rng, language, part)


def _draft(rng: random.Random, language: Language, part: str) -> Draft:
    if part == "write":
        return write(rng, language)
    if part == "continue":
        return continuation(rng, language)
    if part == "dialogue":
        return dialogue(rng, language)
    context = _LONG if part.endswith("4k") else _SHORT
    if part.startswith("summarize"):
        return summarize(rng, language, context)
    return recall(rng, language, context)


def _documents(
    rng: random.Random, language: Language, context: int, prompts: int
) -> Iterator[Draft]:
    while True:
        made = document(rng, language, context)
        for _ in range(prompts - 1):
            yield recall(rng, language, context, made)
        yield summarize(rng, language, context, made)
