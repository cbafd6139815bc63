"""`review.jsonl`: what reviewers marked, in the comparison folder; lines are only ever added."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from evalkit.errors import StoreError, UsageError
from evalkit.reviews import Mark
from evalkit.stages.chain import HASH, TIME, Chain
from evalkit.types import Outcome

REVIEW: Final = "review.jsonl"
LONGEST: Final = {"reviewer": 200, "reason": 2_000}
_BROKEN: Final = "Marks cannot be trusted any more: move the file away and mark anew."
_TEXTS: Final = ("kind", "taskset", "sample_id", "arm", "outcome", "reason", "reviewer")
_FIELDS: Final = (*_TEXTS, "epoch", "answer_hash", "withdraws")
_OUTCOMES: Final = frozenset(outcome.value for outcome in Outcome)


def read_marks(folder: Path) -> tuple[Mark, ...]:
    """Return the marks of a comparison folder, the oldest first.

    Raises:
        StoreError: When the file cannot be read or was changed.
    """
    path = folder / REVIEW
    return tuple(_mark(entry, path) for entry in Chain.read(path, _BROKEN).entries)


def add_mark(folder: Path, said: Mapping[str, Any]) -> Mark:
    """Add one mark.

    Args:
        folder: Of the comparison.
        said: The fields of `Mark` but for its id and time, as a reviewer's browser sends them.

    Raises:
        UsageError: When something is missing, unknown or too long.
        StoreError: When the file cannot be written or was changed.
    """
    content = _checked(said)
    path = folder / REVIEW
    chain = Chain.append(path, _BROKEN, content, partial(_require_standing, content))
    return _mark(chain.entries[-1], path)


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(said) - set(_FIELDS))
    if unknown:
        raise UsageError(f"A mark has no {', '.join(map(repr, unknown))}.")
    made = {name: _text(said, name) for name in _TEXTS}
    made["epoch"] = epoch = said.get("epoch", 0)
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise UsageError("'epoch' of a mark is a whole number.")
    for name in ("answer_hash", "withdraws"):
        made[name] = _text(said, name)
    kind = made["kind"]
    needed = {
        "score": ("arm", "outcome", "answer_hash"),
        "prompt": (),
        "withdrawal": ("withdraws",),
    }.get(kind or "")
    if needed is None:
        raise UsageError("A mark is of the kind score, prompt or withdrawal.")
    for name in ("taskset", "sample_id", "reviewer", "reason", *needed):
        if not made[name]:
            raise UsageError(f"A mark of the kind {kind} needs {name.replace('_', ' ')}.")
    if kind == "score" and made["outcome"] not in _OUTCOMES:
        raise UsageError(f"An answer is {', '.join(sorted(_OUTCOMES))}; nothing else.")
    if kind != "score":
        made.update(arm=None, outcome=None, answer_hash=None)
    return made


def _text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UsageError(f"'{name}' of a mark is text.")
    # Lone surrogates could not be written, and would come from no keyboard.
    value = value.strip().encode("utf-8", "replace").decode("utf-8")
    if len(value) > LONGEST.get(name, 1_000):
        raise UsageError(f"'{name}' of a mark is at most {LONGEST.get(name, 1_000)} characters.")
    return value


def _require_standing(content: Mapping[str, Any], chain: Chain) -> None:
    if content["kind"] != "withdrawal":
        return
    standing = {entry[HASH] for entry in chain.entries if entry["kind"] != "withdrawal"}
    gone = {entry["withdraws"] for entry in chain.entries if entry["kind"] == "withdrawal"}
    if content["withdraws"] not in standing - gone:
        raise UsageError("There is no such mark to take back.")


def _mark(entry: Mapping[str, Any], path: Path) -> Mark:
    try:
        fields = {name: entry[name] for name in _FIELDS}
        return Mark(mark_id=entry[HASH], time=entry[TIME], **fields)
    except (KeyError, TypeError):
        raise StoreError(f"{path} holds a line that is no mark.", hint=_BROKEN) from None
