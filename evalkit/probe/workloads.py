"""Prompts by kind of work, on which speculative decoding is measured; they ship as YAML."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field, TypeAdapter

from evalkit.errors import ContextLengthError
from evalkit.probe.prompts import Count
from evalkit.resources import resource_dir
from evalkit.speculation import WORKLOADS
from evalkit.types import Language, Message
from evalkit.yamlfile import Checked, read_yaml

FILE = "speculation.yaml"
# Beyond these the pieces of a long input repeat nothing new.
_ALL = "all"
_PLACE = "{material}"
# Of the template around a prompt that nobody counts.
_SPARE = 64
# Of one that is refused without a count.
_HALF = 0.5


class _Workload(Checked):
    material: str | None = None
    en: tuple[str, ...]
    zh: tuple[str, ...]


class _File(Checked):
    version: int
    materials: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    workloads: dict[str, _Workload]


@dataclass(frozen=True, slots=True)
class WorkPrompt:
    """One prompt.

    Attributes:
        key: Unique: kind of work, language and place.
        pieces: For a long input: what its place is filled with, as far as it fits.
    """

    key: str
    workload: str
    text: str
    pieces: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is sent."""
        text = self.text.replace(_PLACE, "\n\n".join(self.pieces).strip())
        return (Message("user", text),)


def load_workloads(languages: Sequence[Language], prompts: int) -> tuple[WorkPrompt, ...]:
    """Return the prompts that ship.

    Args:
        languages: `en`, `zh`.
        prompts: Of each kind of work in each language.

    Raises:
        ConfigError: When the file that ships was damaged.
    """
    raw = read_yaml(resource_dir("workloads") / FILE)
    file = TypeAdapter(_File).validate_python(raw)
    found = []
    for name in WORKLOADS:
        work = file.workloads[name]
        for language in languages:
            for place, text in enumerate(getattr(work, language)[:prompts]):
                pieces = _pieces(file.materials, work.material, place)
                found.append(WorkPrompt(f"{name}/{language}/{place}", name, text, pieces))
    return tuple(found)


def _pieces(
    materials: Mapping[str, Sequence[str]], name: str | None, place: int
) -> tuple[str, ...]:
    if name is None:
        return ()
    if name != _ALL:
        return (materials[name][place % len(materials[name])],)
    pieces = [piece for one in materials.values() for piece in one]
    # Another one first each time, so that no prefix is shared.
    return tuple(pieces[place:] + pieces[:place])


async def fitted(prompts: Sequence[WorkPrompt], count: Count, most: int) -> tuple[WorkPrompt, ...]:
    """Take pieces away from long inputs until they fit, by the endpoint's own count.

    Args:
        prompts: As they ship.
        count: Tells how many tokens a prompt has.
        most: Tokens that a prompt may have.

    Raises:
        EndpointError: When the endpoint does not answer.
    """
    found = []
    for prompt in prompts:
        while len(prompt.pieces) > 1 and _may_exceed(prompt, most):
            share = await _fitting(prompt, count, most)
            if share is None:
                break
            fewer = min(len(prompt.pieces) - 1, int(len(prompt.pieces) * share))
            prompt = replace(prompt, pieces=prompt.pieces[: max(1, fewer)])
        found.append(prompt)
    return tuple(found)


async def _fitting(prompt: WorkPrompt, count: Count, most: int) -> float | None:
    """Return the share of a prompt that may fit; `None` when all of it does, or nobody counts."""
    try:
        tokens = await count(marked(prompt, "fit"))
    except ContextLengthError:
        return _HALF
    return None if tokens is None or tokens <= most else (most - _SPARE) / tokens


def _may_exceed(prompt: WorkPrompt, most: int) -> bool:
    # No tokenizer makes more tokens than there are bytes.
    return len(prompt.messages[0].content.encode()) + _SPARE > most


def marked(prompt: WorkPrompt, mark: str) -> tuple[Message, ...]:
    """Return what is sent, with another beginning: no prefix cache knows it, or learns of it."""
    (message,) = prompt.messages
    return (Message("user", f"({mark}) {message.content}"),)


class MixedPrompts:
    """Makes prompts of rounds from all kinds of work, each with a beginning of its own."""

    def __init__(self, prompts: Sequence[WorkPrompt], seed: int) -> None:
        self._prompts = [*prompts]
        self._seed = seed
        random.Random(f"{seed}:mix").shuffle(self._prompts)

    def make(self, tokens: int, *key: object) -> tuple[Message, ...]:
        """Return the prompt of a place in a round; the number of tokens is not chosen.

        Args:
            tokens: Not used.
            key: What tells it from every other; its last two are the round and the place.
        """
        number, place = key[-2:]
        at = (int(str(number)) * _STRIDE + int(str(place))) % len(self._prompts)
        mark = hashlib.sha256(f"{self._seed}:{tokens}:{key}".encode()).hexdigest()[:8]
        return marked(self._prompts[at], mark)


# Rounds begin at places that are far from each other: 7 has no divisor in common with 72.
_STRIDE = 7
