"""Scoring as a stream, in worker processes where that pays; the scores are the same.

The first answers are scored here, and timed. When the rest would take longer than workers
need to start, it goes through them in chunks, a few at a time, and comes back in order.
A worker is `python -m evalkit.scoring.worker` that reads pickles from its standard input:
it ends when this process does, and needs nothing of the program that called us, which a
fork or a spawned copy of `__main__` would.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

from evalkit.errors import ScoringError
from evalkit.scoring.base import Scorer
from evalkit.scoring.judging import judge_all
from evalkit.stages.live_scoring import LiveScores, joined
from evalkit.types import Completion, Sample, Score

Scored = tuple[Completion, Score]
Begun = tuple[Completion, Score | None]
_FIRST = 100
_CHUNK = 64
_AHEAD = 2
_WORTH_SECONDS = 2.0


def score_all(
    samples: Mapping[tuple[str, str], Sample],
    completions: Iterable[Completion],
    scorers: Mapping[str, Scorer],
    *,
    total: int,
    processes: int | None = None,
    live: LiveScores | None = None,
) -> Iterator[Scored]:
    """Score completions in their order; memory holds a few chunks.

    Args:
        samples: By taskset name and sample id.
        completions: Any number.
        scorers: By the name of a taskset.
        total: About how many there are.
        processes: At most so many score at once; by default one a processor. With 1 nothing
            is started.
        live: Scores that were made already.

    Raises:
        ScoringError: For a completion of a sample that is not among `samples`, or when a
            worker dies.
    """
    processes = processes or len(os.sched_getaffinity(0))
    stream = joined(iter(completions), iter(()) if live is None else live.scores(scorers))
    left = total - (0 if live is None else live.count(scorers))
    if processes > 1 and all(map(_ours, scorers.values())):
        spent, done = 0.0, 0
        for completion, known in stream:
            clock = time.monotonic()
            score = known or _score(samples, [completion], scorers)[0]
            if known is None:
                spent, done = spent + time.monotonic() - clock, done + 1
            yield completion, score
            if done == _FIRST:
                break
        if spent / max(1, done) * (left - done) > _WORTH_SECONDS:
            yield from _in_workers(samples, stream, scorers, processes)
            return
    for completion, known in stream:
        yield completion, known or _score(samples, [completion], scorers)[0]


def _ours(scorer: Scorer) -> bool:
    """Whether a worker can import it: one that a script has made, it cannot."""
    return type(scorer).__module__.startswith("evalkit.")


def _score(
    samples: Mapping[tuple[str, str], Sample],
    completions: Iterable[Completion],
    scorers: Mapping[str, Scorer],
) -> list[Score]:
    return list(judge_all(samples, completions, scorers.__getitem__))


def _in_workers(
    samples: Mapping[tuple[str, str], Sample],
    stream: Iterator[Begun],
    scorers: Mapping[str, Scorer],
    processes: int,
) -> Iterator[Scored]:
    waiting: deque[tuple[list[Begun], Future[list[Score]] | None]] = deque()
    with _workers(scorers, processes) as submit:
        while chunk := list(islice(stream, _CHUNK)):
            unknown = [completion for completion, known in chunk if known is None]
            work = submit(_with_samples(samples, unknown)) if unknown else None
            waiting.append((chunk, work))
            if len(waiting) > processes * _AHEAD:
                yield from _finished(waiting)
        while waiting:
            yield from _finished(waiting)


def _finished(waiting: deque[tuple[list[Begun], Future[list[Score]] | None]]) -> Iterator[Scored]:
    chunk, future = waiting.popleft()
    made = iter(() if future is None else future.result())
    return ((completion, known or next(made)) for completion, known in chunk)


def _with_samples(
    samples: Mapping[tuple[str, str], Sample], chunk: list[Completion]
) -> tuple[dict[tuple[str, str], Sample], list[Completion]]:
    keys = {(completion.taskset, completion.sample_id) for completion in chunk}
    return {key: samples[key] for key in keys if key in samples}, chunk


Work = tuple[dict[tuple[str, str], Sample], list[Completion]]


@contextmanager
def _workers(
    scorers: Mapping[str, Scorer], processes: int
) -> Iterator[Callable[[Work], Future[list[Score]]]]:
    """Start workers, each with a thread of its own that speaks to it; end them all."""
    mine = threading.local()
    started: list[subprocess.Popen[bytes]] = []
    starting, over = threading.Lock(), threading.Event()

    def start() -> None:
        # A session of its own: Ctrl-C on the terminal is for the one who scores.
        with starting:
            if over.is_set():
                return
            mine.worker = subprocess.Popen(
                [sys.executable, "-m", "evalkit.scoring.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            started.append(mine.worker)
            pickle.dump(dict(scorers), mine.worker.stdin)

    def ask(work: Work) -> list[Score]:
        try:
            pickle.dump(work, mine.worker.stdin)
            mine.worker.stdin.flush()
            answer = pickle.load(mine.worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise ScoringError(
                "A scoring process died.", hint="Was memory short? Try again with --processes 1."
            ) from None
        if isinstance(answer, ScoringError):
            raise answer
        scores: list[Score] = answer
        return scores

    with ThreadPoolExecutor(processes, "evalkit-score", initializer=start) as pool:
        try:
            yield lambda work: pool.submit(ask, work)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            with starting:
                over.set()
            for worker in started:
                worker.kill()
                worker.communicate()
