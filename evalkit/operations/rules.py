"""The alert rules of one endpoint, from what a probe measured of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from evalkit.alerts import AlertRule, LeftOut, RuleSet, Threshold, Watched
from evalkit.errors import UsageError
from evalkit.operations import expressions, thresholds
from evalkit.operations.engines import BUCKETS, LLAMA
from evalkit.operations.expressions import Scope
from evalkit.operations.telling import annotations_of
from evalkit.operations.thresholds import Settings
from evalkit.performance import SHARES, Performance, Point
from evalkit.results import ArmInfo

_VLLM_HISTOGRAMS: Mapping[Watched, str] = {
    "ttft": "vllm:time_to_first_token_seconds",
    "itl": "vllm:inter_token_latency_seconds",
}
_NAMES: Mapping[Watched, str] = {
    "ttft": "EvalkitTimeToFirstTokenHigh",
    "itl": "EvalkitInterTokenLatencyHigh",
    "decode": "EvalkitDecodeSpeedLow",
    "prefill": "EvalkitPrefillSpeedLow",
    "throughput": "EvalkitThroughputLow",
    "memory": "EvalkitMemoryHigh",
    "kv_cache": "EvalkitKvCacheFull",
    "preemptions": "EvalkitPreemptions",
    "errors": "EvalkitErrorsHigh",
    "restarts": "EvalkitServerRestarted",
    "acceptance": "EvalkitDraftAcceptanceLow",
}
_CRITICAL = ("errors", "memory", "restarts")
_NOT_IN_LLAMA: tuple[Watched, ...] = ("ttft", "itl", "kv_cache", "preemptions", "errors")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose rules are written.

    Attributes:
        found: What a probe measured; `None` when nothing was.
        source: Where the figures lie, for people.
        rollback: What to go back to, in a few words; empty where nothing is known.
        accepted: Share of drafted tokens that was accepted, the low end where it was worst, and
            how many were drafted; `None` where nobody measured it.
    """

    info: ArmInfo
    engine: str
    found: Performance | None
    source: str
    rollback: str
    accepted: tuple[float, float, int] | None = None


@dataclass(slots=True)
class _Maker:
    subject: Subject
    settings: Settings
    scope: Scope
    points: Sequence[Point]
    rules: list[AlertRule] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, limit: Threshold | None, write: Callable[[Threshold], str], key: Watched) -> None:
        """Add a rule, or say that nothing was measured for it."""
        if limit is None:
            self.left_out.append(LeftOut(key, "NOT_MEASURED"))
            return
        labels = {
            "severity": "critical" if key in _CRITICAL else "warning",
            "evidence": limit.evidence,
            "endpoint": self.subject.info.endpoint,
        }
        hold = "0s" if key == "restarts" else self.settings.hold
        told = annotations_of(limit, self.subject.source, self.subject.rollback, self.settings)
        self.rules.append(AlertRule(_NAMES[key], limit, write(limit), hold, labels, told))


def make_rules(subject: Subject, settings: Settings) -> RuleSet:
    """Return the rules that the figures of one endpoint allow, and what is left out, and why.

    Raises:
        UsageError: When a setting makes no sense, or the named point was not measured.
    """
    if settings.quantile not in SHARES:
        raise UsageError("The quantile must be one of 0.5, 0.9, 0.95 and 0.99.")
    arm = subject.info.endpoint
    points = [] if subject.found is None else thresholds.chosen_points(subject.found, arm, settings)
    maker = _Maker(subject, settings, _scope(subject, settings, points), points)
    _speed(maker)
    _load(maker)
    told = subject.info.identity.get("engine")
    return RuleSet(
        arm=arm,
        engine=subject.engine,
        quantile=settings.quantile,
        headroom=settings.headroom,
        window=settings.window,
        hold=settings.hold,
        rules=tuple(maker.rules),
        left_out=tuple(maker.left_out),
        measured_on=None if told is None else str(told),
    )


def _scope(subject: Subject, settings: Settings, points: Sequence[Point]) -> Scope:
    lengths = [
        tokens
        for point in points
        if (tokens := point.arms[subject.info.endpoint].completion_tokens) is not None
    ]
    tokens = round(settings.least_requests * (median(lengths) if lengths else 1))
    model = subject.info.identity.get("model")
    return Scope(
        engine=subject.engine,
        model=str(model) if model else None,
        selector=settings.selector,
        window=settings.window,
        least_requests=settings.least_requests,
        tokens=max(1, tokens),
    )


def _speed(maker: _Maker) -> None:
    scope, settings, points = maker.scope, maker.settings, maker.points
    arm = maker.subject.info.endpoint
    if scope.engine == LLAMA:
        maker.left_out += [LeftOut(key, "NOT_EXPORTED") for key in _NOT_IN_LLAMA]
        found = thresholds.rate("prefill", points, arm, "prefill", settings)
        maker.add(found, lambda limit: expressions.prefill(scope, limit), "prefill")
    else:
        for key, name in _VLLM_HISTOGRAMS.items():
            _latency(maker, key, name)
    slowest = thresholds.latency("itl", points, arm, "tpot", settings, SHARES[0])
    found = None if slowest is None else _as_rate(slowest)
    maker.add(found, lambda limit: expressions.decode(scope, limit), "decode")
    maker.add(
        thresholds.throughput(points, arm, settings),
        lambda limit: expressions.throughput(scope, limit),
        "throughput",
    )


def _latency(maker: _Maker, key: Watched, name: str) -> None:
    scope, share = maker.scope, maker.settings.quantile
    arm = maker.subject.info.endpoint
    wanted = thresholds.latency(key, maker.points, arm, key, maker.settings, share)
    limit = None if wanted is None else thresholds.at_bound(wanted, BUCKETS[key])
    if wanted is not None and limit is None:
        facts = {"wanted": f"{wanted.wanted:.6g} s", "last": f"{BUCKETS[key][-1]:g} s"}
        maker.left_out.append(LeftOut(key, "BEYOND_BUCKETS", facts))
        return
    maker.add(limit, lambda found: expressions.latency(scope, name, share, found), key)


def _as_rate(time: Threshold) -> Threshold:
    """Turn the limit of the time of a token into that of tokens a second."""

    def turned(value: float | None) -> float | None:
        return 1 / value if value else None

    return replace(
        time,
        watched="decode",
        figure=turned(time.figure),
        end=turned(time.end),
        wanted=1 / time.wanted,
        limit=1 / time.limit,
    )


def _load(maker: _Maker) -> None:
    scope, settings = maker.scope, maker.settings
    _memory(maker)
    if scope.engine != LLAMA:
        kv = thresholds.given("kv_cache", settings.kv_limit)
        maker.add(kv, lambda limit: expressions.kv_cache(scope, limit), "kv_cache")
        none = thresholds.given("preemptions", 0.0)
        maker.add(none, lambda _: expressions.preemptions(scope), "preemptions")
        info = maker.subject.info
        failed = thresholds.errors(maker.points, info.endpoint, info, settings)
        if failed is not None and failed.wanted >= 1:
            maker.left_out.append(LeftOut("errors", "TOO_MANY_FAILED"))
        else:
            maker.add(failed, lambda limit: expressions.errors(scope, limit), "errors")
    restart = thresholds.given("restarts", 0.0)
    maker.add(restart, lambda _: expressions.restarts(scope), "restarts")
    accepted = thresholds.acceptance(maker.subject.accepted, settings)
    maker.add(accepted, lambda limit: expressions.acceptance(scope, limit), "acceptance")


def _memory(maker: _Maker) -> None:
    scope, found = maker.scope, maker.subject.found
    arm = maker.subject.info.endpoint
    held = None if found is None else thresholds.memory(found, arm, maker.settings)
    if held is not None and held[1] != "metrics":
        facts = {"source": held[1], "wanted": f"{held[0].wanted:.0f}"}
        maker.left_out.append(LeftOut("memory", "READ_ELSEWHERE", facts))
        return
    limit = None if held is None else held[0]
    maker.add(limit, lambda one: expressions.memory(scope, one), "memory")
