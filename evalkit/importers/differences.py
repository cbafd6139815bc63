"""What two logs do not share, in words with an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evalkit.errors import InvalidComparison
from evalkit.importers.base import Item

Key = tuple[str, int]
_LONG: Final = 120
_PARTING: Final = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """What two logs do not share.

    Attributes:
        code: `recorded_tasks`, `recorded_documents`, `recorded_prompts` or `recorded_settings`.
        message: One sentence with an example.
    """

    code: str
    message: str


def changed_ids(one: Mapping[Key, Item], other: Mapping[Key, Item], name: str) -> list[str]:
    """Return the prompts of which two logs hold different hashes."""
    found: dict[str, None] = {}
    for key, item in one.items():
        twin = other.get(key)
        if twin is None:
            continue
        hashes = getattr(item, name), getattr(twin, name)
        if None not in hashes and hashes[0] != hashes[1]:
            found[key[0]] = None
    return list(found)


def other_documents(
    name: str, changed: Sequence[str], one: Mapping[Key, Item], other: Mapping[Key, Item]
) -> InvalidComparison:
    """Return the error for documents of one number that are not the same, with an example."""
    id = changed[0]
    first = next(item for (key, _), item in one.items() if key == id)
    second = next(item for (key, _), item in other.items() if key == id)
    return InvalidComparison(
        f"{name}: {len(changed)} documents are not the same in both logs, e.g. document {id}: "
        f"{_excerpt(first)} and {_excerpt(second)}.",
        hint="Both must have run the same data set in the same order. --allow-confounded leaves "
        "these documents out.",
    )


def _excerpt(item: Item) -> str:
    text = item.messages[-1].content if item.messages else item.target
    text = _plain(text)
    shown = text if len(text) <= _LONG else f"…{text[-_LONG:]}"
    return f"'{shown}' (target '{_plain(item.target)[:40]}')"


def document_differences(
    name: str, one: Mapping[str, None], other: Mapping[str, None]
) -> Iterator[Difference]:
    """Say which documents of a task only one log holds."""
    for whose, extra in (
        ("the baseline", [id for id in one if id not in other]),
        ("the candidate", [id for id in other if id not in one]),
    ):
        if extra:
            message = (
                f"{name}: {len(extra)} of {len(one.keys() | other.keys())} documents were asked of "
                f"{whose} alone, e.g. {extra[0]}"
            )
            yield Difference("recorded_documents", message)


def prompt_differences(
    name: str, one: Mapping[Key, Item], other: Mapping[Key, Item]
) -> Iterator[Difference]:
    """Say how many prompts were rendered otherwise, and where the first one parts."""
    changed = changed_ids(one, other, "prompt_hash")
    if changed:
        both = len({id for id, _ in one.keys() & other.keys()})
        message = (
            f"{name}: {len(changed)} of {both} prompts are not the same text, e.g. of document "
            f"{changed[0]}{_parting(one, other, changed[0])}"
        )
        yield Difference("recorded_prompts", message)


def _parting(one: Mapping[Key, Item], other: Mapping[Key, Item], id: str) -> str:
    """Show where two prompts part, as far as the logs hold them."""
    key = next(key for key in one if key[0] == id and key in other)
    first, second = (
        " ".join(turn.content for turn in item.messages) for item in (one[key], other[key])
    )
    if not (first and second) or first == second:
        return ""
    pairs = enumerate(zip(first, second, strict=False))
    at = next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))
    shown = [_plain(text[at : at + _PARTING]) for text in (first, second)]
    return f", which go on with '{shown[0]}' and '{shown[1]}' after {at} characters"


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def settings_differences(
    name: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[Difference]:
    """Say in what two logs were asked otherwise.

    Args:
        name: Of the task.
        one: Settings of the baseline's log.
        other: Settings of the candidate's log.
    """
    for key in dict.fromkeys((*one, *other)):
        before, after = one.get(key), other.get(key)
        if before != after:
            told = [_told(value) for value in (before, after)]
            message = f"{name}: {key} is {told[0]} for the baseline, {told[1]} for the candidate"
            yield Difference("recorded_settings", message)


def _told(value: Any) -> str:
    text = " ".join(str(value).split())
    return "not set" if value is None else text[:_LONG]
