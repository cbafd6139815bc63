"""What a generator is, and how a prompt set is taken from its stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalkit.errors import TasksetError
from evalkit.fingerprint import digest
from evalkit.registry import Registry
from evalkit.types import Language, Message

Level = Literal["easy", "medium", "hard"]
# A stream that brings nothing new for so long has nothing new to bring.
_PATIENCE = 2000


@dataclass(frozen=True, slots=True)
class Draft:
    """One prompt of a generator, before it has a name.

    Attributes:
        category: A finer cut within the family, for slices.
        messages: The prompt without the taskset's system message.
        target: What the family's scorer needs to know.
        level: How hard it is meant to be; slices read it as the difficulty.
        cluster: Drafts that share it are not independent (same passage, same entity).
        metadata: Anything else, for slices and for readers.
    """

    category: str
    messages: tuple[Message, ...]
    target: Mapping[str, Any]
    level: Level
    cluster: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def ask(
        cls,
        text: str,
        *,
        category: str,
        target: Mapping[str, Any],
        level: Level,
        cluster: str | None = None,
        **metadata: Any,
    ) -> Draft:
        """Make a draft whose prompt is one message of the user."""
        return cls(category, (Message("user", text),), target, level, cluster, metadata)


Generator = Callable[[Language, int, Mapping[str, Any]], Iterator[Draft]]
"""From a language, a seed and the recipe's options to an endless or very long stream.

Equal arguments give the equal stream; the first n drafts do not depend on n.
"""

GENERATORS: Registry[Generator] = Registry(
    "generator",
    {
        "code": "evalkit.tasksets.generators.code.stream",
        "facts": "evalkit.tasksets.generators.facts.stream",
        "instructions": "evalkit.tasksets.generators.instructions.stream",
        "longform": "evalkit.tasksets.generators.longform.stream",
        "math": "evalkit.tasksets.generators.math.stream",
    },
)


@dataclass(frozen=True, slots=True)
class Made:
    """A draft with its name: stable, and equal for equal prompts whatever the seed."""

    id: str
    language: Language
    draft: Draft


def take(
    generator: str, language: Language, seed: int, n: int, options: Mapping[str, Any]
) -> tuple[Made, ...]:
    """Take the first `n` distinct prompts of a generator's stream.

    Raises:
        UnknownNameError: For a generator that is not known.
        TasksetError: When it cannot make so many distinct prompts.
    """
    made: dict[str, Made] = {}
    idle = 0
    if n <= 0:
        return ()
    for draft in GENERATORS.get(generator)(language, seed, options):
        name = f"{generator}-{language}-{_mark(draft)}"
        if name in made:
            idle += 1
            if idle > _PATIENCE:
                break
            continue
        idle = 0
        made[name] = Made(name, language, draft)
        if len(made) == n:
            return tuple(made.values())
    raise TasksetError(
        f"Generator '{generator}' makes {len(made)} distinct prompts in '{language}', not {n}.",
        hint="Ask for fewer: a smaller --suite or --limit.",
    )


def _mark(draft: Draft) -> str:
    return digest([[message.role, message.content] for message in draft.messages])[:12]
