"""The explorer's data: pairs in compressed chunks, and an index that is filtered without them.

Every block is base64 in a script element that no browser runs. `explorer.data.js` reads them:
a chunk is raw deflate (RFC 1951) of a JSON list of pairs, the index the same of columns. The
index lists pairs in the order in which they are shown; `place` says where each one lies.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from evalkit.report.text import cut, one_line
from evalkit.report.words import Words
from evalkit.results import AnswerView, SampleView

TRANSITIONS: Final = ("regression", "improvement", "missing", "both_wrong", "both_right")
CHUNK: Final = 256
_CHUNK_BYTES: Final = 400_000
# A small budget is used up in small steps.
_STEPS: Final = 8
# What one pair takes in the index, about, compressed and in base64.
_INDEX_BYTES: Final = 20
_HEAD: Final = 16_000
_TAIL: Final = 4_000
# Raw deflate: the browser's DecompressionStream calls it `deflate-raw`.
_RAW: Final = -15
_LEVEL: Final = 6
_ELEMENT: Final = b'<script type="application/octet-stream" id="explorer-%b">%b</script>\n'
_WORDS: Final = "explorer."


@dataclass(frozen=True, slots=True)
class ArmTime:
    """Seconds that an answer took, and those until its first token; `None`: not known."""

    total: float | None = None
    first_token: float | None = None


@dataclass(frozen=True, slots=True)
class ExplorerRow:
    """One pair of one candidate.

    Attributes:
        candidate: Its place in the comparison.
        length: Length bucket of the prompt.
        same_text: Whether both answered word for word alike.
        times: Of the baseline's answer and of the candidate's.
    """

    candidate: int
    sample: SampleView
    length: str
    same_text: bool
    times: tuple[ArmTime, ArmTime] = (ArmTime(), ArmTime())

    @property
    def place(self) -> tuple[int, int, str, str, int]:
        """Where it stands in the list."""
        one = self.sample
        order = TRANSITIONS.index(one.transition)
        return self.candidate, order, one.taskset, one.sample_id, one.epoch


@dataclass(frozen=True, slots=True)
class ArmRequests:
    """How an arm was asked, for a command that asks it again.

    Attributes:
        url: Where requests go; `None` when it is not a server that can be asked.
        bodies: The request of each taskset without its messages.
        more: Names of what else was sent, which is not kept.
    """

    url: str | None
    bodies: Mapping[str, Mapping[str, Any]]
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exploration:
    """What may be embedded.

    Attributes:
        names: The baseline, then the candidates.
        requests: How each of them was asked.
        totals: Pairs by transition, of each candidate.
        rows: The pairs, the most important first; made as they are taken.
    """

    names: tuple[str, ...]
    requests: tuple[ArmRequests, ...]
    totals: tuple[Mapping[str, int], ...]
    rows: Iterable[ExplorerRow]


@dataclass(frozen=True, slots=True)
class Embedded:
    """What is embedded: the index, the chunks, and how many pairs of each candidate.

    Attributes:
        index: A script element.
        chunks: Script elements, in UTF-8.
        names: The candidates.
        shown: Embedded pairs by transition, of each candidate.
        totals: All pairs by transition, of each candidate.
    """

    index: str
    chunks: tuple[bytes, ...]
    names: tuple[str, ...]
    shown: tuple[Mapping[str, int], ...]
    totals: tuple[Mapping[str, int], ...]


@dataclass(slots=True)
class _Column:
    """A column of few different values: a code for each pair."""

    groups: tuple[str, ...]
    known: dict[str, int] = field(default_factory=dict)

    def code(self, value: str) -> int:
        return self.known.setdefault(value, len(self.known))

    def described(self, words: Words, codes: Sequence[int]) -> dict[str, Any]:
        values = [one_line(value) for value in self.known]
        return {"values": values, "labels": [self._label(words, v) for v in values], "codes": codes}

    def _label(self, words: Words, value: str) -> str:
        known = (f"{group}.{value}" for group in self.groups)
        return next((words(key) for key in known if key in words), value)


def embed(exploration: Exploration, words: Words, budget: int | None) -> Embedded:
    """Compress pairs, the most important first, until the budget is used up.

    Args:
        exploration: What may be embedded.
        words: Of the page.
        budget: Bytes of all elements together; `None` for no limit.

    Raises:
        StoreError: When a pair cannot be read.
    """
    chunks: list[bytes] = []
    entries: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
    columns = {
        "transition": _Column(("transition",)),
        "taskset": _Column(()),
        "family": _Column(("scope",)),
        "cause": _Column(("cause",)),
        "language": _Column(("language",)),
        "length": _Column(("length",)),
    }
    states = _Column(("flag", "pair_state"))
    shown = [Counter[str]() for _ in exploration.totals]
    spent = 0
    size = _CHUNK_BYTES if budget is None else min(_CHUNK_BYTES, budget // _STEPS)
    for batch in _batches(exploration.rows, words, size):
        block = element(f"chunk-{len(chunks)}", b"[%b]" % b",".join(raw for _, raw in batch))
        spent += len(block) + _INDEX_BYTES * len(batch)
        if budget is not None and spent > budget:
            break
        for offset, (row, _) in enumerate(batch):
            codes = _codes(row, columns)
            place = len(chunks) * CHUNK + offset
            entries.append((row.place, (*codes, _states(row, states), place)))
            shown[row.candidate][row.sample.transition] += 1
        chunks.append(block)
    entries.sort(key=lambda entry: entry[0])
    index = _index(exploration, words, columns, states, entries)
    return Embedded(
        index=element("index", orjson.dumps(index)).decode("ascii"),
        chunks=tuple(chunks),
        names=tuple(one_line(name) for name in exploration.names[1:]),
        shown=tuple(dict(counts) for counts in shown),
        totals=exploration.totals,
    )


def element(name: str, content: bytes) -> bytes:
    """Return an inert script element that holds a content, compressed."""
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    packed = squeeze.compress(content) + squeeze.flush()
    return _ELEMENT % (name.encode(), base64.b64encode(packed))


def _batches(
    rows: Iterable[ExplorerRow], words: Words, most: int
) -> Iterator[list[tuple[ExplorerRow, bytes]]]:
    """Group pairs into chunks of about `most` bytes, similar ones side by side."""
    marker = words("cut", n="{n}")
    batch: list[tuple[ExplorerRow, bytes]] = []
    size = 0
    for row in rows:
        raw = _encoded(_plain(row, marker))
        batch.append((row, raw))
        size += len(raw)
        if len(batch) == CHUNK or size >= most:
            yield sorted(batch, key=lambda one: one[0].place)
            batch, size = [], 0
    if batch:
        yield sorted(batch, key=lambda one: one[0].place)


def _plain(row: ExplorerRow, marker: str) -> dict[str, Any]:
    one = row.sample
    prompt = [(str(m.get("role", "")), str(m.get("content", ""))) for m in one.prompt]
    whole = all(len(text) <= _HEAD + _TAIL for _, text in prompt)
    return {
        "category": one.category,
        "prompt": [(role, _cut(text, marker)) for role, text in prompt],
        "whole": whole,
        "target": _cut(one.target, marker),
        "hash": one.prompt_hash,
        "answers": [
            _answer(one.baseline, row.times[0], marker),
            _answer(one.candidate, row.times[1], marker),
        ],
    }


def _answer(answer: AnswerView, time: ArmTime, marker: str) -> dict[str, Any]:
    return {
        "text": _cut(answer.text, marker),
        "reasoning": _cut(answer.reasoning, marker),
        "answer": _cut(answer.answer, marker),
        "outcome": answer.outcome,
        "value": answer.value,
        "explanation": _cut(answer.explanation, marker),
        "flags": answer.flags,
        "finish": answer.finish_reason,
        "tokens": answer.completion_tokens,
        "seconds": time.total,
        "first": time.first_token,
        "error": _cut(answer.error, marker),
        "hash": answer.text_hash,
        "length": answer.text_length,
    }


def _cut(text: str | None, marker: str) -> str | None:
    return text if text is None or len(text) <= _HEAD else cut(text, _HEAD, _TAIL, marker)


def _encoded(plain: Mapping[str, Any]) -> bytes:
    """Return JSON; lone surrogates, which UTF-8 cannot hold, as escapes."""
    try:
        return orjson.dumps(plain)
    except orjson.JSONEncodeError:
        return json.dumps(plain).encode("ascii")


def _codes(row: ExplorerRow, columns: Mapping[str, _Column]) -> tuple[Any, ...]:
    one = row.sample
    # An answer that is right has no cause.
    cause = "" if one.transition == "both_right" else one.cause or ""
    values = (one.transition, one.taskset, one.family, cause, one.language, row.length)
    codes = (column.code(value) for column, value in zip(columns.values(), values, strict=True))
    return (row.candidate, one.sample_id, one.epoch, *codes)


def _states(row: ExplorerRow, states: _Column) -> int:
    """Return what is true of a pair as bits."""
    one = row.sample
    found = ["differs"] if not row.same_text else []
    for answer in (one.baseline, one.candidate):
        found += answer.flags
        if answer.error is not None:
            found.append("no_answer")
        elif answer.value is None:
            found.append("unscored")
    return sum(1 << states.code(name) for name in dict.fromkeys(found))


def _index(
    exploration: Exploration,
    words: Words,
    columns: Mapping[str, _Column],
    states: _Column,
    entries: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]],
) -> dict[str, Any]:
    rows = [entry for _, entry in entries]
    candidate, ids, epoch, *codes, state, place = (
        map(list, zip(*rows, strict=True)) if rows else ([] for _ in range(len(columns) + 5))
    )
    described = {
        name: column.described(words, values)
        for (name, column), values in zip(columns.items(), codes, strict=True)
    }
    return {
        "names": [one_line(name) for name in exploration.names],
        "requests": [
            {"url": one.url, "bodies": one.bodies, "more": one.more} for one in exploration.requests
        ],
        "chunk": CHUNK,
        "candidate": candidate,
        "id": [one_line(name) for name in ids],
        "epoch": epoch,
        "columns": {**described, "state": states.described(words, state)},
        "place": place,
        "words": words.group(_WORDS),
        "names_of": {name: words.group(f"{name}.") for name in ("outcome", "flag", "message_role")},
    }
