"""From a journal of any length to windows, in two passes that hold one window at a time.

The first finds how long it was and what is usual for so many tokens; the second takes each
request as a ratio to that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from evalkit.soak.usual import Usual
from evalkit.stability import Burst, Fact, Outage, Restart, StabilityWindow
from evalkit.stats.trend import LEAST_POINTS

Line = Mapping[str, Any]
Lines = Callable[[], Iterable[Line]]

MOST_WINDOWS = 60
_SAMPLES_EACH, _ANSWERS_EACH = 2, 3
# Signs of one restart show within so many seconds of each other.
_TOGETHER = 15.0
_MEMORY = ("processes", "growth", "gpu", "metrics")
# Failures in a row without any answer between them, for so long, are an outage: few where
# nobody was there, more where somebody said no.
_OUTAGE_NOBODY, _OUTAGE_ANY, _OUTAGE_SECONDS = 3, 20, 1.0
_NOBODY = ("ConnectError", "CutBody", "LaunchError", "Timeout", "Unanswered")
_SIGNS = ("process", "launch", "start_time", "counters", "identity")
_MOST_ASKS = 5000
_MOST_RESTARTS = 1000


@dataclass(frozen=True, slots=True)
class Ask:
    """One answer to a fixed prompt."""

    at: float
    text: str


@dataclass(slots=True)
class Seen:
    """All that is kept of a journal: windows, events, and the few answers to fixed prompts.

    `usual` has the mean seconds of `latency` and `first_token`.
    """

    ran: float = 0.0
    usual: dict[str, float] = field(default_factory=dict)
    n_requests: int = 0
    n_failed: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    windows: list[StabilityWindow] = field(default_factory=list)
    kinds: list[Counter[str]] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    restarts: list[Restart] = field(default_factory=list)
    asks: dict[str, list[Ask]] = field(default_factory=dict)
    remarks: list[Fact] = field(default_factory=list)


def summed_up(lines: Lines) -> Seen:
    """Read a journal twice, and return what is kept of it.

    Args:
        lines: Gives the lines anew, each time from the first.
    """
    first = _First()
    for line in lines():
        first.take(line)
    second = _Second(first)
    for line in lines():
        second.take(line)
    return second.close()


@dataclass(slots=True)
class _First:
    """The first pass: how long, how many, what is usual."""

    ran: float = 0.0
    answered: int = 0
    samples: int = 0
    seconds: float = 0.0
    firsts: tuple[float, int] = (0.0, 0)
    whole: Usual = field(default_factory=lambda: Usual(3))
    begin: Usual = field(default_factory=lambda: Usual(2))

    def take(self, line: Line) -> None:
        self.ran = max(self.ran, float(line.get("t", 0.0)))
        self.samples += line["k"] == "m"
        if line["k"] != "r" or "x" in line:
            return
        self.answered += 1
        self.seconds += line["e"]
        prompt, output = _lengths(line)
        if line["e"] > 0:
            self.whole.add((1.0, prompt, output), line["e"])
        if first := _first(line):
            self.begin.add((1.0, prompt), first)
            self.firsts = self.firsts[0] + first, self.firsts[1] + 1

    def means(self) -> dict[str, float]:
        """Mean seconds to the end, and to the first token."""
        sums = {"latency": (self.seconds, self.answered), "first_token": self.firsts}
        return {name: total / n for name, (total, n) in sums.items() if n}

    @property
    def n_windows(self) -> int:
        most = max(self.answered // _ANSWERS_EACH, self.samples // _SAMPLES_EACH)
        return min(max(most, LEAST_POINTS + 3), MOST_WINDOWS)


@dataclass(slots=True)
class _Window:
    n_requests: int = 0
    tokens: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    whole: list[float] = field(default_factory=list)
    begin: list[float] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)
    lag: list[float] = field(default_factory=list)


class _Second:
    """The second pass. Lines come in the order of time."""

    def __init__(self, first: _First) -> None:
        self._first = first
        first.whole.fit()
        first.begin.fit()
        self._size = first.ran / first.n_windows or 1.0
        self._place = 0
        self._window = _Window()
        self._seen = Seen(ran=first.ran, usual=first.means())
        self._streak: tuple[float, int, int] | None = None
        self._last_answer = 0.0

    def take(self, line: Line) -> None:
        kind, at = line["k"], float(line.get("t", 0.0))
        while at >= (self._place + 1) * self._size and self._place < self._first.n_windows - 1:
            self._next()
        if kind == "r":
            self._request(line, at)
        elif kind == "m":
            if isinstance(line.get("lag"), (int, float)):
                self._window.lag.append(float(line["lag"]))
            held = self._window.memory
            for source in _MEMORY:
                value = line.get(source)
                if isinstance(value, (int, float)) and value > 0:
                    held[source] = min(held.get(source, float(value)), float(value))
        elif kind == "c":
            asks = self._seen.asks.setdefault(line["n"], [])
            if len(asks) < _MOST_ASKS:
                asks.append(Ask(at, line["x"]))
        elif kind == "x":
            self._event(line["s"], line["d"], at)
        elif kind == "s" and at > 0:
            self._seen.remarks.append(Fact("RESUMED", {"at": f"{at:.0f}"}))

    def close(self) -> Seen:
        while len(self._seen.windows) < self._first.n_windows:
            self._next()
        if self._streak is not None:
            self._outage(None)
        return self._seen

    def _request(self, line: Line, at: float) -> None:
        window, seen = self._window, self._seen
        seen.n_requests += 1
        window.n_requests += 1
        error = line.get("x")
        if error is not None:
            seen.n_failed += 1
            seen.failures[str(error)] += 1
            window.failures[str(error)] += 1
            began, n, nobody = self._streak or (max(at - line["e"], self._last_answer), 0, 0)
            self._streak = began, n + 1, nobody + (error in _NOBODY)
            return
        if self._streak is not None:
            self._outage(at - line["e"])
        self._last_answer = at
        prompt, output = _lengths(line)
        window.tokens += output
        ratio = self._first.whole.ratio((1.0, prompt, output), line["e"])
        if ratio is not None:
            window.whole.append(ratio)
        first = _first(line)
        if first and (ratio := self._first.begin.ratio((1.0, prompt), first)) is not None:
            window.begin.append(ratio)

    def _outage(self, answered: float | None) -> None:
        assert self._streak is not None
        began, n, nobody = self._streak
        ended = self._first.ran if answered is None else max(answered, began)
        many = nobody >= _OUTAGE_NOBODY or n >= _OUTAGE_ANY
        room = answered is None or len(self._seen.outages) < _MOST_RESTARTS
        if many and room and ended - began >= _OUTAGE_SECONDS:
            self._seen.outages.append(Outage(began, None if answered is None else ended, n))
        self._streak = None

    def _event(self, sign: str, detail: str, at: float) -> None:
        if sign == "skipped":
            self._seen.remarks.append(Fact("SKIPPED", {"n": detail}))
        if sign not in _SIGNS:
            return
        restarts = self._seen.restarts
        if restarts and at - restarts[-1].at <= _TOGETHER and sign not in restarts[-1].signs:
            last = restarts[-1]
            restarts[-1] = Restart(last.at, (*last.signs, sign), (*last.details, detail))
        elif len(restarts) < _MOST_RESTARTS:
            restarts.append(Restart(at, (sign,), (detail,)))

    def _next(self) -> None:
        window = self._window
        begin = self._place * self._size
        self._seen.windows.append(
            StabilityWindow(
                at=begin + self._size / 2,
                n_requests=window.n_requests,
                n_failed=window.failures.total(),
                latency=median(window.whole) if window.whole else None,
                first_token=median(window.begin) if window.begin else None,
                throughput=window.tokens / self._size if window.n_requests else None,
                memory=window.memory,
                lag=median(window.lag) if window.lag else None,
            )
        )
        self._seen.kinds.append(window.failures)
        self._place += 1
        self._window = _Window()


def burst_of(seen: Seen, first: int, last: int, pvalue: float) -> Burst:
    """Tell of neighbouring windows as a burst."""
    size = seen.ran / len(seen.windows)
    part = seen.windows[first : last + 1]
    kinds: Counter[str] = Counter()
    for counted in seen.kinds[first : last + 1]:
        kinds += counted
    return Burst(
        began=first * size,
        ended=(last + 1) * size,
        n_failed=sum(window.n_failed for window in part),
        n_requests=sum(window.n_requests for window in part),
        pvalue=pvalue,
        kinds=dict(kinds),
    )


def _lengths(line: Line) -> tuple[float, float]:
    return float(line.get("p") or 1), float(line.get("o") or 1)


def _first(line: Line) -> float | None:
    value = line.get("f")
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def stretches(seen: Seen) -> Iterator[tuple[int, int]]:
    """Yield the windows between restarts, as places of the first and after the last."""
    size = seen.ran / len(seen.windows)
    # An identity that reads otherwise is not a process that began anew.
    cuts = [one.at for one in seen.restarts if set(one.signs) - {"identity"}]
    begin = 0
    for at in cuts:
        end = min(int(at / size), len(seen.windows))
        if end > begin:
            yield begin, end
        # The window of the restart holds both.
        begin = max(begin, end + 1)
    if begin < len(seen.windows):
        yield begin, len(seen.windows)
