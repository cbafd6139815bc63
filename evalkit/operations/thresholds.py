"""From a probe's figures to the limits of alerts.

A limit is the end of the 95% interval on the bad side (the figure itself, where there is no
such end), with head-room: it is not reached by what was measured.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalkit.alerts import Threshold, Watched
from evalkit.errors import UsageError
from evalkit.estimates import Estimate
from evalkit.performance import SHARES, Performance, Point
from evalkit.results import ArmInfo
from evalkit.stats.rates import upper_bound

_LOWER_IS_BAD = frozenset({"decode", "prefill", "throughput", "acceptance"})


@dataclass(frozen=True, slots=True)
class Settings:
    """How rules are made.

    Attributes:
        quantile: Of latencies: one of `SHARES`.
        headroom: A fraction.
        window: Over which rates are taken.
        hold: How long a rule must be true.
        least_requests: Fewer in a window raise nothing.
        selector: Label matchers of PromQL besides the model's name.
        acceptance: Share of drafted tokens that was accepted, as the user tells it.
        kv_limit: Share of the KV cache in use.
        runbook: An address for the people on call.
        point: Context and level of the one point that thresholds come from.
    """

    quantile: float = 0.95
    headroom: float = 0.3
    window: str = "5m"
    hold: str = "10m"
    least_requests: int = 20
    selector: str = ""
    acceptance: float | None = None
    kv_limit: float = 0.95
    runbook: str | None = None
    point: tuple[int, float] | None = None


def chosen_points(found: Performance, arm: str, settings: Settings) -> list[Point]:
    """Return the points whose figures count: those with requests in flight, or the named one.

    Raises:
        UsageError: When the named point was not measured.
    """
    points = [point for point in found.points if arm in point.arms]
    if settings.point is not None:
        context, level = settings.point
        named = [p for p in points if context in (p.context, p.asked) and p.load.level == level]
        if not named:
            known = ", ".join(f"{p.context}x{p.load.level:g}" for p in points)
            raise UsageError(
                f"--point {context}x{level:g} was not measured of '{arm}'.",
                hint=f"Measured: {known or 'nothing'}.",
            )
        return named
    closed = [point for point in points if point.load.mode == "closed"]
    return closed or points


def latency(
    watched: Watched,
    points: Sequence[Point],
    arm: str,
    metric: str,
    settings: Settings,
    share: float,
) -> Threshold | None:
    """Return the limit of a latency: of the point where it was longest."""
    place = SHARES.index(share)
    return _worst(
        watched, ((p, p.arms[arm].quantiles[metric][place]) for p in points), arm, settings
    )


def rate(
    watched: Watched, points: Sequence[Point], arm: str, metric: str, settings: Settings
) -> Threshold | None:
    """Return the limit of the median of a rate: of the point where it was lowest."""
    return _worst(watched, ((p, p.arms[arm].quantiles[metric][0]) for p in points), arm, settings)


def throughput(points: Sequence[Point], arm: str, settings: Settings) -> Threshold | None:
    """Return the limit of what comes out in all, where the most requests were in flight."""
    most = max((point.load.level for point in points), default=0.0)
    full = [point for point in points if point.load.level == most]
    return _worst("throughput", ((p, p.arms[arm].throughput) for p in full), arm, settings)


def errors(
    points: Sequence[Point], arm: str, info: ArmInfo | None, settings: Settings
) -> Threshold | None:
    """Return the limit of the share of failed requests: of all that this arm was ever asked.

    Exact one-sided 95% bound (Clopper & Pearson, Biometrika 26:404, 1934).
    """
    asked = sum(point.arms[arm].n_requests for point in points)
    answered = sum(point.arms[arm].n_answered for point in points)
    if info is not None:
        asked, answered = asked + info.n_requests, answered + info.n_answered
    if asked < 1:
        return None
    failed = max(0, asked - answered)
    bound = upper_bound(failed, asked).high or 1.0
    wanted = min(1.0, bound * (1 + settings.headroom))
    return Threshold("errors", "measured", failed / asked, bound, wanted, wanted, n=asked)


def memory(found: Performance, arm: str, settings: Settings) -> tuple[Threshold, str] | None:
    """Return the limit of memory, and how the peak was read; `None` where it was not."""
    for one in found.arms:
        if one.name == arm and one.memory:
            chosen = next((m for m in one.memory if m.source == "metrics"), one.memory[0])
            wanted = chosen.peak_bytes * (1 + settings.headroom)
            peak = float(chosen.peak_bytes)
            return Threshold("memory", "measured", peak, None, wanted, wanted), chosen.source
    return None


def acceptance(measured: tuple[float, float, int] | None, settings: Settings) -> Threshold | None:
    """Return the limit of accepted drafts: as the user gives it, else as it was measured."""
    room = 1 + settings.headroom
    if settings.acceptance is not None:
        limit = given("acceptance", settings.acceptance / room)
        return replace(limit, figure=settings.acceptance)
    if measured is None:
        return None
    share, low, drafted = measured
    return Threshold("acceptance", "measured", share, low, low / room, low / room, n=drafted)


def given(watched: Watched, limit: float) -> Threshold:
    """Return a limit that nobody measured."""
    return Threshold(watched, "given", None, None, limit, limit)


def at_bound(found: Threshold, bounds: Sequence[float]) -> Threshold | None:
    """Move a limit to the next bound of a histogram; `None` above the last one.

    Between two bounds a quantile is interpolated: a limit there may be passed by what is
    equal to the baseline, and only the bounds themselves tell for certain.
    """
    place = bisect_left(bounds, found.wanted)
    return replace(found, limit=bounds[place]) if place < len(bounds) else None


def _worst(
    watched: Watched, figures: Iterable[tuple[Point, Estimate]], arm: str, settings: Settings
) -> Threshold | None:
    lower = watched in _LOWER_IS_BAD
    worst: Threshold | None = None
    for point, figure in figures:
        if figure.value is None or figure.value <= 0:
            continue
        end = figure.low if lower else figure.high
        base = end if end is not None and end > 0 else figure.value
        room = 1 + settings.headroom
        wanted = base / room if lower else base * room
        n = point.arms[arm].n_answered
        level = point.load.level
        one = Threshold(
            watched, "measured", figure.value, end, wanted, wanted, n, point.context, level
        )
        if worst is None or (one.wanted < worst.wanted) == lower:
            worst = one
    return worst
