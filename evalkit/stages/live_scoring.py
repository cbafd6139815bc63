"""Scoring while an endpoint still answers, between two answers.

Only what rules score at once, and only answers of some length: the rest is scored at the end,
as all of it is without this. The journal stays what scores are made from; these are the same
ones, made before it is read, and forgotten with the process. Who needs every answer in memory
in the end, as a comparison does, has them held here: the journal is not read again for them.
"""

from __future__ import annotations

import asyncio
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from evalkit.collect.events import Completed, Event, Failed, Finished, Planned
from evalkit.collect.reader import first_answers
from evalkit.collect.records import decode, decode_score, encode
from evalkit.scoring.base import Scorer
from evalkit.types import Completion, Sample, Score, Taskset

OnEvent = Callable[[str, Event], None]
_QUICK: Final = frozenset({"facts", "choice", "instructions", "longform", "math", "references"})
_LONGEST_TEXT = 20_000
_WAITING = 512
_CHUNK = 256
_MOST_BYTES = 64 << 20
# Of those that wait, one in so many is scored in a turn of the event loop, as long as it takes
# no longer than this; longer, when many wait: then answers come as fast as this program takes
# them. A taskset whose answers take longer one by one is left to the end.
_SHARE, _TURN_SECONDS, _LONGEST_TURN, _MANY = 4, 0.002, 0.01, 128
_SLOW_SECONDS, _SLOW_TIMES, _SLOW_SHARE = 0.005, 5, 0.05


class LiveScores:
    """The scores of one run, as far as they were made while it went on.

    Args:
        tasksets: What is asked.
        samples: By taskset name and sample id.
        hold: Whether to hold the answers too.
    """

    def __init__(
        self,
        tasksets: tuple[Taskset, ...],
        samples: Mapping[tuple[str, str], Sample],
        *,
        hold: bool = False,
    ):
        self._samples = samples
        self._held: list[Completion] | None = [] if hold else None
        self._scorers = {t.name: t.scorer for t in tasksets if t.scorer in _QUICK}
        self._judge: Callable[[Completion], Score] | None = None
        self._waiting: deque[Completion] = deque()
        self._scores: list[Score] = []
        self._packed: list[bytes | list[Score]] = []
        self._bytes = 0
        self._scored: Counter[str] = Counter()
        self._slow: Counter[str] = Counter()
        self._loading = self._running = False
        self.n = 0

    def load(self) -> None:
        """Import scorers, which takes long: beside the event loop."""
        self._loading = True
        from evalkit.scoring.base import SCORERS
        from evalkit.scoring.judging import judge

        scorers = {name: SCORERS.get(scorer) for name, scorer in self._scorers.items()}

        def score(completion: Completion) -> Score:
            key = (completion.taskset, completion.sample_id)
            return judge(self._samples[key], completion, scorers[completion.taskset])

        self._judge = score

    def hear(self, event: Event) -> None:
        """Hold and score what comes."""
        if isinstance(event, Completed):
            self._hold(event.completion)
            self.take(event.completion)
        elif isinstance(event, Failed):
            self._hold(event.completion)
        elif isinstance(event, Finished) and self._held is None:
            # Where answers are held, scoring goes on while the next endpoint is asked.
            self.end()
        elif isinstance(event, Planned) and event.reused:
            # What was answered before is in the journal alone.
            self._held = None

    def take(self, completion: Completion) -> None:
        """Score an answer soon, on the event loop; or not at all, when there is no time.

        Answers must come in the order in which they are journaled.
        """
        if not self._loading:
            # At the first answer: a key that is refused costs none of this.
            self._loading = True
            threading.Thread(target=self.load, name="evalkit-load").start()
        if not self._fit(completion):
            return
        self._waiting.append(completion)
        if not self._running and self._judge is not None:
            self._running = True
            asyncio.get_running_loop().call_soon(self._step)

    def end(self) -> None:
        """Leave what still waits to who reads the scores."""
        self._waiting.clear()
        self._pack()
        self._samples = {}

    def scores(self, deciding: Mapping[str, Scorer]) -> Iterator[Score]:
        """Yield the scores in the order of the answers.

        Args:
            deciding: The scorer of each taskset. Where it is another one than the taskset's
                own, a judge, what rules said does not count.
        """
        valid = self._decided(deciding)
        return (score for score in self._all() if score.taskset in valid)

    def count(self, deciding: Mapping[str, Scorer]) -> int:
        """Return how many those are."""
        return sum(self._scored[name] for name in self._decided(deciding))

    def _decided(self, deciding: Mapping[str, Scorer]) -> set[str]:
        own = self._scorers
        return {name for name, one in deciding.items() if own.get(name) == one.name}

    def _all(self) -> Iterator[Score]:
        for packed in self._packed:
            if isinstance(packed, list):
                yield from packed
                continue
            for data in orjson.loads(zlib.decompress(packed)):
                yield decode_score(data)

    def completions(self) -> Iterator[Completion] | None:
        """Yield one record for each request, as the journal would; `None` if they are not held."""
        held = self._held
        if held is None:
            return None
        found = first_answers(enumerate(held), None, lambda places: (held[n] for n in places))
        return (completion for _, completion in found)

    def _hold(self, completion: Completion) -> None:
        if self._held is not None:
            self._held.append(_as_written(completion))

    def _fit(self, completion: Completion) -> bool:
        text, taskset = completion.text or "", completion.taskset
        if taskset not in self._scorers or self._too_slow(taskset):
            return False
        # A formula is compared in a process of its own, which may take its time.
        sample = self._samples[taskset, completion.sample_id]
        if "expression" in sample.target:
            return False
        if self._held is None and len(self._waiting) >= _WAITING:
            return False
        fits = len(text) <= _LONGEST_TEXT and self._bytes < _MOST_BYTES
        return fits and _is_unicode(text)

    def _too_slow(self, taskset: str) -> bool:
        # A few are slow because the machine did something else.
        slow = self._slow[taskset]
        return slow >= _SLOW_TIMES and slow > _SLOW_SHARE * self._scored[taskset]

    def _step(self) -> None:
        """Score some answers, and come back after whatever else the loop has to do.

        One where the loop has time, more the more of them wait: where it has none, they come
        as quickly as they are scored.
        """
        if not self._waiting or self._judge is None:
            self._running = False
            return
        longest = min(_LONGEST_TURN, _TURN_SECONDS * (1 + len(self._waiting) // _MANY))
        begun = clock = time.perf_counter()
        for _ in range(1 + len(self._waiting) // _SHARE):
            completion = self._waiting.popleft()
            self._scores.append(self._judge(completion))
            now = time.perf_counter()
            self._scored[completion.taskset] += 1
            self._slow[completion.taskset] += now - clock > _SLOW_SECONDS
            clock = now
            if now - begun > longest:
                break
        if len(self._scores) >= _CHUNK:
            self._pack()
        asyncio.get_running_loop().call_soon(self._step)

    def _pack(self) -> None:
        self.n += len(self._scores)
        if self._held is not None:
            self._packed.append(self._scores)
        else:
            packed = zlib.compress(orjson.dumps(self._scores), 1)
            self._packed.append(packed)
            self._bytes += len(packed)
        self._scores = []


def _as_written(completion: Completion) -> Completion:
    """Return what the journal gives back of a record."""
    error = completion.error
    said = (
        completion.text,
        completion.reasoning,
        completion.finish_reason,
        None if error is None else error.message,
    )
    # JSON has no lone surrogate and no infinity; all else comes back as it is.
    if completion.logprobs is None and all(text is None or _is_unicode(text) for text in said):
        return completion
    return decode(encode(completion))


def _is_unicode(text: str) -> bool:
    """Whether the journal holds this text as it is: it can hold no lone surrogate."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def hearing(tell: Callable[[Event], None], live: LiveScores | None) -> Callable[[Event], None]:
    """Return who is told of events, so that answers are scored too where there is time."""
    if live is None:
        return tell

    def hear(event: Event) -> None:
        tell(event)
        live.hear(event)

    return hear


def loading(tell: OnEvent, load: Callable[[], None]) -> OnEvent:
    """Return who is told of events, so that something is loaded after the first answer.

    Imports take as long as some comparisons: an endpoint that answers leaves the time.
    """
    begun = False

    def hear(arm: str, event: Event) -> None:
        nonlocal begun
        tell(arm, event)
        if not begun and isinstance(event, Completed):
            begun = True
            threading.Thread(target=load, name="evalkit-load").start()

    return hear


Key = tuple[Any, ...]


def joined(
    completions: Iterator[Completion], scores: Iterator[Score]
) -> Iterator[tuple[Completion, Score | None]]:
    """Yield each completion with its score, where there is one among these.

    Args:
        completions: In the order of the journal.
        scores: Of some of them, in the same order but for a few.
    """
    ahead: dict[Key, Score] = {}
    for completion in completions:
        while len(ahead) < _WAITING and (score := next(scores, None)) is not None:
            ahead[_key(score)] = score
        yield completion, ahead.pop(_key(completion), None)


def _key(of: Completion | Score) -> Key:
    return of.fingerprint, of.taskset, of.sample_id, of.epoch
