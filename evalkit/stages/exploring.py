"""From the runs of a comparison to the pairs that its page may embed.

The journals are read twice, as streams: first to note where each answer lies and how it
scored, then to fetch the pairs that the page takes, the most important first. Memory holds
places and scores, and the texts of one chunk. A comparison that has just been made has all
answers in memory: nothing is read again.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Protocol

from evalkit.collect.awaited import Awaited
from evalkit.collect.header import identity_of
from evalkit.collect.journal import RunFolder
from evalkit.collect.redaction import Redaction, read_secret
from evalkit.decision.attribution import Transition, moved
from evalkit.decision.pairing import Answer, Key, Pair
from evalkit.decision.samples import sample_view
from evalkit.endpoints.wire import chat_payload
from evalkit.report.explorer import CHUNK, ArmRequests, ArmTime, Exploration, ExplorerRow
from evalkit.results import Comparison
from evalkit.scoring.store import read_scores
from evalkit.stages.comparing import GradedRun
from evalkit.stages.embedding import Embedding, Seal, What
from evalkit.stages.plan import Plan, recorded_plan
from evalkit.types import (
    REPEAT_EPOCH,
    Completion,
    Flag,
    Sample,
    Score,
    ScoreStatus,
)

_BROKEN: Final = frozenset({Flag.TRUNCATED, Flag.LOOP, Flag.EMPTY, Flag.GARBLED})


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where an answer lies, and how it scored."""

    start: int
    prompt_hash: str
    value: float | None
    score: Score


class _Arm(Protocol):
    """One arm's answers."""

    @property
    def header(self) -> Mapping[str, Any]:
        """Of its run."""

    @property
    def seats(self) -> Mapping[Key, _Seat | Answer]:
        """Every answer but for its text."""

    def answers(self, keys: Sequence[Key]) -> Iterator[tuple[Completion, Score]]:
        """Fetch some answers."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One arm's run, read once."""

    run: RunFolder
    header: Mapping[str, Any]
    seats: Mapping[Key, _Seat]

    @classmethod
    def read(cls, run: RunFolder) -> _Read:
        scores = {s.fingerprint: s for s in read_scores(run.path) if s.epoch != REPEAT_EPOCH}
        seats: dict[Key, _Seat] = {}
        for start, completion in run.located(Awaited(scores, len(scores))):
            score = scores[completion.fingerprint]
            key = (completion.taskset, completion.sample_id, completion.epoch)
            value = Answer(completion, score).value
            seats[key] = _Seat(start, completion.prompt_hash, value, score)
        return cls(run, run.read_header() or {}, seats)

    def answers(self, keys: Sequence[Key]) -> Iterator[tuple[Completion, Score]]:
        seats = [self.seats[key] for key in keys]
        found = self.run.at(seat.start for seat in seats)
        return ((c, seat.score) for c, seat in zip(found, seats, strict=True))


@dataclass(frozen=True, slots=True)
class _Held:
    """One arm whose answers are in memory."""

    header: Mapping[str, Any]
    seats: Mapping[Key, Answer]

    def answers(self, keys: Sequence[Key]) -> Iterator[tuple[Completion, Score]]:
        return ((one.completion, one.score) for one in map(self.seats.__getitem__, keys))


class _Entry(NamedTuple):
    """A pair that may be shown."""

    candidate: int
    key: Key
    moved: Transition
    troubled: bool


class Unexplored(Exception):
    """There are no pairs to show. `reason` is a word of the catalogue."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def explore(
    runs: Sequence[RunFolder],
    comparison: Comparison,
    what: What,
    *,
    sample: int | None = None,
    seal: Seal | None = None,
) -> Exploration:
    """Prepare the pairs that a page may embed.

    Args:
        runs: Of the baseline, then of each candidate.
        comparison: What was made of them.
        what: `most`: flips, then answers that are missing or broken, then the rest by chance;
            `all`: the same; `flips`: nothing but flips.
        sample: How many pairs of all candidates are enough, when there are not more flips;
            `None` for all pairs.
        seal: Takes the texts out, where the runs hold more than the page may show.

    Raises:
        Unexplored: When the runs say something else than the comparison.
        EvalKitError: When they cannot be read, or a taskset has changed.
    """
    arms = [_Read.read(run) for run in runs]
    plan = recorded_plan(arms[0].header, runs[0].path, allow_code=True)
    redaction = _redaction(comparison, plan, seal)
    return _explored(arms, plan, comparison, what, sample, seal, redaction)


def explore_held(
    arms: Sequence[GradedRun], plan: Plan, comparison: Comparison
) -> Exploration | None:
    """Prepare what `explore` prepares by default, from what was compared just now.

    The texts of these pairs stay in memory with it. `None` where texts are redacted: which of
    them may be shown is for `explore` to say.

    Args:
        arms: The baseline, then each candidate.
        plan: What was asked of all of them.
        comparison: What was made of them.
    """
    if comparison.redacted:
        return None
    held = [_Held(arm.run.folder.read_header() or {}, arm.answers) for arm in arms]
    wanted = Embedding()
    found = _explored(held, plan, comparison, wanted.what, wanted.sample, None, None)
    return replace(found, rows=tuple(found.rows))


def _explored(
    arms: Sequence[_Arm],
    plan: Plan,
    comparison: Comparison,
    what: What,
    sample: int | None,
    seal: Seal | None,
    redaction: Redaction | None,
) -> Exploration:
    baseline, *candidates = arms
    samples = plan.samples()
    entries: list[_Entry] = []
    totals: list[Mapping[str, int]] = []
    for place, arm in enumerate(candidates):
        found = list(_entries(place, baseline, arm, samples))
        counts = Counter(entry.moved for entry in found)
        cells = comparison.results[place].pooled.flips
        told = (cells.both, cells.gained, cells.lost, cells.neither)
        moves: tuple[Transition, ...] = ("both_right", "improvement", "regression", "both_wrong")
        if told != tuple(counts[move] for move in moves):
            raise Unexplored("changed")
        totals.append({str(move): n for move, n in counts.items()})
        entries += found
    reader = _Reader(
        baseline,
        candidates,
        samples,
        judged=_judged(comparison),
        redaction=redaction,
        seal=seal,
    )
    ordered = _ordered(entries, what, plan.seed, sample)
    return Exploration(
        names=(comparison.baseline.endpoint, *(r.endpoint for r in comparison.results)),
        requests=tuple(_requests(arm, plan) for arm in (baseline, *candidates)),
        totals=tuple(totals),
        rows=reader.rows(ordered),
    )


def _judged(comparison: Comparison) -> frozenset[str]:
    by_name = {taskset.name for taskset in comparison.tasksets if taskset.scorer == "judge"}
    return frozenset(by_name | set(comparison.policy.get("judges") or ()))


def _entries(
    place: int, baseline: _Arm, arm: _Arm, samples: Mapping[tuple[str, str], Sample]
) -> Iterator[_Entry]:
    for key in sorted(baseline.seats.keys() & arm.seats.keys()):
        one, other = baseline.seats[key], arm.seats[key]
        if one.prompt_hash == other.prompt_hash and key[:2] in samples:
            troubled = _troubled(one.score) or _troubled(other.score)
            yield _Entry(place, key, moved(one.value, other.value), troubled)


def _troubled(score: Score) -> bool:
    return score.status is not ScoreStatus.SCORED or not _BROKEN.isdisjoint(score.flags)


def _ordered(entries: Sequence[_Entry], what: What, seed: int, sample: int | None) -> list[_Entry]:
    """Put the most important first, in each group by chance: wherever one stops is a sample."""
    groups: defaultdict[int, list[_Entry]] = defaultdict(list)
    for entry in entries:
        rank = {"regression": 0, "improvement": 1, "missing": 2}.get(entry.moved)
        if rank is None:
            rank = 2 if entry.troubled else 3
        if what != "flips" or rank < 2:
            groups[rank].append(entry)
    rng = random.Random(seed)
    for rank in sorted(groups):
        rng.shuffle(groups[rank])
    flips = len(groups[0]) + len(groups[1])
    ordered = [entry for rank in sorted(groups) for entry in groups[rank]]
    return ordered if sample is None else ordered[: max(sample, flips)]


def _redaction(comparison: Comparison, plan: Plan, seal: Seal | None) -> Redaction | None:
    if not comparison.redacted or seal is not None:
        return None
    return Redaction.of(plan.tasksets, read_secret())


@dataclass(frozen=True, slots=True)
class _Reader:
    """Fetches pairs from the journals."""

    baseline: _Arm
    candidates: Sequence[_Arm]
    samples: Mapping[tuple[str, str], Sample] = field(repr=False)
    judged: frozenset[str]
    redaction: Redaction | None
    seal: Seal | None

    def rows(self, entries: Sequence[_Entry]) -> Iterator[ExplorerRow]:
        for start in range(0, len(entries), CHUNK):
            batch = entries[start : start + CHUNK]
            others = [
                arm.answers([entry.key for entry in batch if entry.candidate == place])
                for place, arm in enumerate(self.candidates)
            ]
            ones = self.baseline.answers([entry.key for entry in batch])
            for entry, one in zip(batch, ones, strict=True):
                other = next(others[entry.candidate])
                yield self._row(entry, self._answer(*one), self._answer(*other))

    def _answer(self, completion: Completion, score: Score) -> Answer:
        if self.redaction is not None and completion.redacted is None:
            completion = self.redaction.plain_completion(completion, score)
            assert completion.redacted is not None
            score = completion.redacted.score
        return Answer(completion, score)

    def _row(self, entry: _Entry, baseline: Answer, candidate: Answer) -> ExplorerRow:
        sample = self.samples[entry.key[:2]]
        pair = Pair(sample, entry.key[2], baseline, candidate)
        view = sample_view(pair, entry.moved, self.judged)
        return ExplorerRow(
            candidate=entry.candidate,
            sample=view if self.seal is None else self.seal(view),
            length=sample.length_bucket,
            same_text=pair.same_text,
            times=(_time(baseline.completion), _time(candidate.completion)),
        )


def _time(completion: Completion) -> ArmTime:
    if completion.error is not None or not completion.timing.total:
        return ArmTime()
    return ArmTime(completion.timing.total, completion.timing.first_token)


def _requests(arm: _Arm, plan: Plan) -> ArmRequests:
    if arm.header.get("recorded"):
        # Another tool sent them, and nobody knows how.
        return ArmRequests(url=None, bodies={}, more=())
    identity = identity_of(arm.header)
    omit = {str(name) for name in arm.header.get("omitted", ())}
    bodies = {
        taskset.name: chat_payload(
            identity.model, (), plan.sampling_for(taskset), extra={}, omit=omit
        )
        for taskset in plan.tasksets
    }
    urls = (identity.base_url or "").split()
    more = identity.details.get("request")
    return ArmRequests(
        url=f"{urls[0]}/chat/completions" if urls else None,
        bodies=bodies,
        more=tuple(sorted(more)) if isinstance(more, Mapping) else (),
    )
