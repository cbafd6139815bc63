"""What a soak found: five questions that share 5% of false alarms, and what is seen as it is.

Memory, latency, throughput, bursts of failures and changed answers are questions of statistics;
each has an equal part of `ALPHA`. Restarts, outages and the share of failed requests are facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalkit.estimates import Estimate
from evalkit.soak.plan import SoakPlan
from evalkit.soak.windows import Ask, Seen, burst_of, stretches
from evalkit.stability import (
    MEMORIES,
    Answers,
    Burst,
    Fact,
    StabilityTrend,
    StabilityWindow,
    TrendState,
)
from evalkit.stats.bursts import bursts
from evalkit.stats.changes import change_point
from evalkit.stats.rates import wilson
from evalkit.stats.trend import LEAST_POINTS, theil_sen, trend

ALPHA = 0.05
"""Chance of any false finding of all questions together."""
_QUESTIONS = 5
EACH = ALPHA / _QUESTIONS
# Both ends of an interval; only the upper direction is a finding.
_LEVEL = 1 - 2 * EACH
# Smaller changes over the whole time are no matter, whatever slope they make.
LEAST_RISE_BYTES = 1e6
LEAST_RISE_SHARE = {"latency": 0.05, "first_token": 0.1, "throughput": 0.1}
# Below this many requests nothing was measured.
_FEWEST = 10
_MINUTE, _HOUR = 60.0, 3600.0
_MOST_SHOWN = 200
# A request takes so many turns of a busy machine; such a part of a rise is blamed on it.
_WAKES, _BLAMED = 4, 0.5


def trends_of(seen: Seen, plan: SoakPlan) -> tuple[StabilityTrend, ...]:
    """Judge memory, latency and throughput, each over the longest time without a restart."""
    if not seen.windows:
        return ()
    begin, end = max(stretches(seen), key=lambda part: part[1] - part[0], default=(0, 0))
    windows = seen.windows[begin:end]
    sources = [s for s in MEMORIES if any(s in window.memory for window in seen.windows)]
    found = [_memory(source, windows, plan.max_leak, len(sources)) for source in sources]
    for name in ("latency", "first_token", "throughput"):
        values = [getattr(window, name) for window in windows]
        if any(value is not None for value in values):
            one = _pace(name, windows, values, plan.max_slowdown)
            found.append(replace(one, state="open") if _by_client(one, windows, seen) else one)
    return tuple(found)


def _memory(
    source: str, windows: Sequence[StabilityWindow], limit: float, among: int
) -> StabilityTrend:
    values = [window.memory.get(source, np.nan) for window in windows]
    times = [window.at for window in windows]
    found = trend(times, values, confidence_level=1 - 2 * EACH / among)
    slope = _scaled(found.slope, _MINUTE)
    rise = None if slope.value is None else slope.value * found.span / _MINUTE
    state = _state(slope, limit, rise, LEAST_RISE_BYTES, found.lasting, found.slowing)
    return StabilityTrend(
        f"memory.{source}", state, slope, limit, rise, found.level, found.settled, found.span,
        found.lasting,
    )  # fmt: skip


def _pace(
    name: str, windows: Sequence[StabilityWindow], values: Sequence[float | None], limit: float
) -> StabilityTrend:
    """Judge a share of its own level an hour; throughput is turned, so that up is bad."""
    sign = -1.0 if name == "throughput" else 1.0
    level = EACH / 2 if name != "throughput" else EACH
    turned = [np.nan if value is None else sign * value for value in values]
    found = trend([window.at for window in windows], turned, confidence_level=1 - 2 * level)
    slope, rise = found.slope, None
    if found.level:
        slope = _scaled(slope, _HOUR / abs(found.level))
    if slope.value is not None:
        rise = slope.value * found.span / _HOUR
    state = _state(slope, limit, rise, LEAST_RISE_SHARE[name], found.lasting, found.slowing)
    shown = None if found.level is None else sign * found.level
    return StabilityTrend(
        name, state, slope, limit, rise, shown, found.settled, found.span, found.lasting
    )


def _by_client(one: StabilityTrend, windows: Sequence[StabilityWindow], seen: Seen) -> bool:
    """Whether this machine, which grew busier, may have made what looks like the server's."""
    if one.state != "found" or one.rise is None:
        return False
    counted = [w for w in windows if w.at >= one.settled and w.lag is not None]
    if len(counted) < LEAST_POINTS:
        return False
    at = np.array([window.at for window in counted])
    slope = theil_sen(at, np.array([window.lag for window in counted], dtype=np.float64))
    usual = seen.usual.get(one.name, seen.usual.get("latency", 0.0))
    return slope * one.span * _WAKES >= _BLAMED * one.rise * usual


def _scaled(slope: Estimate, by: float) -> Estimate:
    if slope.value is None or slope.low is None or slope.high is None:
        return slope
    return replace(slope, value=slope.value * by, low=slope.low * by, high=slope.high * by)


def _state(
    slope: Estimate, limit: float, rise: float | None, least: float, lasting: bool, slowing: bool
) -> TrendState:
    if slope.value is None or slope.low is None or slope.high is None or rise is None:
        return "unknown"
    if slope.low > 0 and slope.value >= limit and rise >= least:
        if slowing:
            return "settling"
        if lasting:
            return "found"
    if slope.high < limit:
        return "steady"
    return "settling" if slowing and slope.value >= limit and rise >= least else "open"


def bursts_of(seen: Seen) -> tuple[Burst, ...]:
    """Find failures that came close together."""
    failed = [window.n_failed for window in seen.windows]
    asked = [window.n_requests for window in seen.windows]
    return tuple(
        burst_of(seen, one.first, one.last, one.pvalue) for one in bursts(failed, asked, alpha=EACH)
    )


def answers_of(seen: Seen, seed: int) -> tuple[Answers, ...]:
    """Judge whether answers to fixed prompts became others."""
    return tuple(_answers(name, asks, len(seen.asks), seed) for name, asks in seen.asks.items())


def _answers(name: str, asks: Sequence[Ask], among: int, seed: int) -> Answers:
    texts = [ask.text for ask in asks]
    test, place = change_point(texts, rng=np.random.default_rng(seed))
    pvalue = None if test.pvalue is None else min(1.0, test.pvalue * among)
    changed = place is not None and pvalue is not None and pvalue <= EACH
    return Answers(
        prompt=name,
        n=len(texts),
        n_texts=len(set(texts)),
        pvalue=pvalue,
        changed_at=asks[place].at if changed and place is not None else None,
        before=_telling(texts[:place], texts[place:]) if changed else None,
        after=_telling(texts[place:], texts[:place]) if changed else None,
    )


def _telling(here: Sequence[str], there: Sequence[str]) -> str:
    """Return the text that is here the most beyond what it is there."""
    others = Counter(there)
    shares = {text: n / len(here) - others[text] / len(there) for text, n in Counter(here).items()}
    return max(shares, key=shares.__getitem__)[:_MOST_SHOWN]


def failed_share(seen: Seen) -> Estimate:
    """Return the share of requests that failed, with its interval."""
    return wilson(seen.n_failed, seen.n_requests, confidence_level=_LEVEL)


def measured(seen: Seen) -> bool:
    """Whether there is anything to judge."""
    return seen.n_requests - seen.n_failed >= _FEWEST


def findings_of(
    seen: Seen,
    plan: SoakPlan,
    trends: Sequence[StabilityTrend],
    found_bursts: Sequence[Burst],
    answers: Sequence[Answers],
) -> Iterator[Fact]:
    """Yield what is wrong, the gravest first."""
    for outage in seen.outages:
        code = "DOWN" if outage.ended is None else "OUTAGE"
        yield Fact(code, {"began": _at(outage.began), "ended": _at(outage.ended)})
    for restart in seen.restarts:
        code = "CHANGED" if restart.signs == ("identity",) else "RESTART"
        yield Fact(
            code,
            {"at": _at(restart.at), "signs": ",".join(restart.signs),
             "detail": "; ".join(restart.details)},
        )  # fmt: skip
    for one in trends:
        if one.state == "found":
            source = one.name.partition(".")[2]
            code = "LEAK" if source else {"throughput": "FEWER"}.get(one.name, "SLOWER")
            yield Fact(code, {"name": one.name})
    share = failed_share(seen)
    if share.low is not None and share.low > plan.max_failed:
        yield Fact("FAILURES", {})
    for place, burst in enumerate(found_bursts):
        if not any(_within(burst, o.began, o.ended) for o in seen.outages):
            values = {"began": _at(burst.began), "ended": _at(burst.ended), "place": str(place)}
            yield Fact("BURST", values)
    for answer in answers:
        if answer.changed_at is not None:
            yield Fact("ANSWERS", {"prompt": answer.prompt, "at": _at(answer.changed_at)})


def _within(burst: Burst, began: float, ended: float | None) -> bool:
    """Whether a burst is an outage that is told already."""
    return burst.began <= (ended if ended is not None else burst.ended) and burst.ended >= began


def _at(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f}"


def remarks_of(
    seen: Seen, plan: SoakPlan, trends: Sequence[StabilityTrend], identity_kind: str
) -> Iterator[Fact]:
    """Yield what a reader must know of it."""
    yield from seen.remarks
    if not any(one.name.startswith("memory.") for one in trends):
        yield Fact("NO_MEMORY", {})
    if identity_kind == "local":
        yield Fact("SHARED_PROCESS", {})
    if seen.ran < plan.seconds * 0.98:
        yield Fact("SHORTER", {"ran": f"{seen.ran:.0f}", "asked": f"{plan.seconds:.0f}"})
    for one in trends:
        if one.state in ("open", "settling", "unknown"):
            yield Fact(one.state.upper(), {"name": one.name})
