"""The go-live checklist: canary, watch list and way back, with the figures of one comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evalkit import __version__
from evalkit.alerts import CanarySize, RuleSet
from evalkit.releases import Snapshot
from evalkit.report import numbers, verdicts
from evalkit.report.capacity_store import Fits
from evalkit.report.estimates import as_difference, scope_label
from evalkit.report.facts import detail
from evalkit.report.flat import date, identity_value
from evalkit.report.golive_model import CheckItem, CheckSection, GoLiveView
from evalkit.report.performance_numbers import figure
from evalkit.report.pieces import Table
from evalkit.report.slices import slices_of
from evalkit.report.soak import open_names
from evalkit.report.text import one_line
from evalkit.report.trade import unfit
from evalkit.report.words import Words
from evalkit.results import ArmInfo, CandidateResult, Comparison, VerdictState
from evalkit.stability import Stability

HOURS: Final = 24
_STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
_SHOWN: Final = 3
_IDENTITY: Final = (
    "model",
    "engine",
    "engine_version",
    "quantization",
    "weights_hash",
    "template_hash",
    "context_length",
)
_LONGEST: Final = 90
_ASKED: Final = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
_LOWER: Final = ("decode", "prefill", "throughput", "acceptance")


@dataclass(frozen=True, slots=True)
class GoLive:
    """What a checklist is made of.

    Attributes:
        rules: What is watched; `None` where nothing was measured.
        no_rules: Why there are none, as a sentence.
        traffic: Requests an hour that can be graded; `None` where nobody told.
        earlier: Whether the way back leads to an earlier release.
        soaked: What hours of load found; `None` where nobody measured that.
        other_engine: Whether the rules read metrics of another engine than was measured.
    """

    comparison: Comparison
    info: ArmInfo
    result: CandidateResult
    rules: RuleSet | None
    no_rules: str
    canary: CanarySize | None
    fits: Fits | None
    rollback: Snapshot | None
    earlier: bool
    traffic: float | None
    soaked: Stability | None
    other_engine: bool = False


def build_golive(found: GoLive, lang: str = "en") -> GoLiveView:
    """Return the checklist; what was not measured stands in it as something to do.

    Raises:
        UnknownNameError: For a language without a catalogue.
    """
    words = Words(lang)
    verdict = found.result.verdict
    names = verdicts.names_of(found.comparison, found.result)
    state = words(f"state.{verdict.state.value}")
    warning = []
    if verdict.state != VerdictState.SHIP:
        warning.append(words("golive.draft", state=state))
    warning.append(unfit(words, found.fits, found.info.endpoint))
    return GoLiveView(
        lang=lang,
        html_lang=words.html_lang,
        title=words("golive.title", candidate=names.candidate, baseline=names.baseline),
        gate=verdicts.gate(words, verdict.state, verdict.exit_code),
        sentence=verdicts.verdict_sentence(words, names, found.result),
        warning=" ".join(text for text in warning if text),
        sections=(
            CheckSection(words("golive.before"), tuple(_before(words, found))),
            CheckSection(words("golive.canary"), tuple(_canary(words, found))),
            CheckSection(
                words("golive.watch"), tuple(_watch(words, found)), _limits(words, found.rules)
            ),
            CheckSection(words("golive.back"), tuple(_back(words, found))),
        ),
        footer=words("golive.footer", version=__version__, date=date(found.comparison.created)),
        ui=words.ui(),
    )


def _before(words: Words, found: GoLive) -> Iterator[CheckItem]:
    told = [
        f"{words.name('fact', key)} {identity_value(key, value)}"
        for key in _IDENTITY
        if (value := found.info.identity.get(key)) not in (None, "")
    ]
    identity = words("capacity.join").join(told)
    name = one_line(found.info.endpoint)
    yield CheckItem("do", words("golive.serve", endpoint=name, identity=identity))
    asked = {key: found.comparison.sampling.get(key) for key in _ASKED}
    sampling = detail({key: value for key, value in asked.items() if value is not None})
    if sampling:
        yield CheckItem("do", words("golive.sampling", sampling=sampling))
    fits = found.fits.arms.get(found.info.endpoint) if found.fits is not None else None
    if found.fits is None or fits is None or fits.fits is None:
        yield CheckItem("missing", words("golive.no_capacity"))
    else:
        plan = found.fits.plan
        yield CheckItem(
            "do",
            words(
                "golive.fits" if fits.fits else "golive.fits_not",
                needed=numbers.size(fits.needed),
                device=numbers.size(plan.device),
                context=numbers.count(plan.context),
                concurrency=numbers.count(plan.concurrency),
            ),
        )
    yield _soaked(words, found.soaked)


def _soaked(words: Words, soak: Stability | None) -> CheckItem:
    if soak is None:
        return CheckItem("missing", words("golive.no_soak"))
    ran = numbers.elapsed(soak.ran)
    if soak.state != "stable":
        return CheckItem("do", words("golive.soak.bad", ran=ran))
    if names := open_names(words, soak):
        return CheckItem("missing", words("golive.soak.open", ran=ran, names=names))
    return CheckItem("do", words("golive.soak", ran=ran))


def _canary(words: Words, found: GoLive) -> Iterator[CheckItem]:
    size = found.canary
    if size is None:
        yield CheckItem("missing", words("golive.no_canary"))
        return
    facts = {
        "margin": numbers.size_in_points(size.margin),
        "n": numbers.count(size.split),
        "accuracy": numbers.percent(size.accuracy),
    }
    yield CheckItem("do", words("golive.split", **facts))
    if size.mirrored is not None:
        yield CheckItem("do", words("golive.mirrored", pairs=numbers.count(size.mirrored)))
    if found.traffic is None:
        yield CheckItem("missing", words("golive.no_traffic", n=facts["n"], hours=str(HOURS)))
        return
    part = canary_share(size.split, found.traffic)
    # The other side needs as many, so that half of the traffic is the most of use.
    hours = max(float(HOURS), size.split / (found.traffic * part))
    facts |= {
        "share": numbers.percent(part, 0),
        "traffic": numbers.count(found.traffic),
        "hours": numbers.count(math.ceil(hours)),
    }
    if size.worst_loss is not None:
        lost = math.ceil(found.traffic * part * hours * size.worst_loss)
        facts["wrong"] = numbers.count(lost)
        facts["loss"] = numbers.size_in_points(size.worst_loss)
    yield CheckItem("do", words("golive.share", **facts))


def canary_share(wanted: int, traffic: float) -> float:
    """Return the smallest usual share of the traffic that brings so many requests in a day.

    >>> canary_share(1000, 1000.0), canary_share(10**6, 10.0)
    (0.05, 0.5)
    """
    return next((step for step in _STEPS if traffic * HOURS * step >= wanted), _STEPS[-1])


def _watch(words: Words, found: GoLive) -> Iterator[CheckItem]:
    if found.rules is None:
        yield CheckItem("missing", words("golive.no_rules", why=one_line(found.no_rules)))
    else:
        yield CheckItem("do", words("golive.rules"))
        if found.other_engine:
            engines = {"engine": found.rules.engine}
            if found.rules.measured_on is not None:
                engines["measured"] = one_line(found.rules.measured_on)
            yield CheckItem("do", words("golive.other_engine", **engines))
        for one in found.rules.left_out:
            if one.code == "NOT_MEASURED":
                what = words(f"golive.of.{one.watched}")
                yield CheckItem("missing", words(f"golive.left.{_remedy(one.watched)}", what=what))
            elif one.code == "READ_ELSEWHERE":
                limit = numbers.size(float(one.values["wanted"]))
                yield CheckItem("do", words("golive.left.elsewhere", limit=limit))
    families = [
        (scope, ends.high - ends.low)
        for scope in found.result.families
        if (ends := scope.accuracy.difference).low is not None and ends.high is not None
    ]
    families.sort(key=lambda pair: -pair[1])
    if families:
        told = words("perf.join").join(
            words(
                "golive.family",
                family=scope_label(words, scope.scope),
                difference=as_difference(words, scope.accuracy.difference).told,
                n=numbers.count(scope.flips.n),
            )
            for scope, _ in families[:_SHOWN]
        )
        yield CheckItem("do", words("golive.widest", families=told))
    causes: dict[str, int] = {}
    for by_cause in found.result.causes.values():
        for cause, count in by_cause.items():
            causes[cause] = causes.get(cause, 0) + count
    most = sorted(causes.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]
    if most:
        told = words("capacity.join").join(
            f"{words.name('cause', one_line(cause))} {numbers.count(count)}"
            for cause, count in most
        )
        yield CheckItem("do", words("golive.causes", causes=told))
    flagged = [row.text for row in slices_of(words, found.result).rows if row.flagged]
    if flagged:
        told = words("perf.join").join(flagged[:_SHOWN])
        yield CheckItem("do", words("golive.slices", slices=told))


def _remedy(watched: str) -> str:
    return "acceptance" if watched == "acceptance" else "probe"


def _limits(words: Words, rules: RuleSet | None) -> Table | None:
    if rules is None or not rules.rules:
        return None
    rows = []
    for rule in rules.rules:
        one = rule.threshold
        share = f"p{rules.quantile * 100:g}" if one.watched in ("ttft", "itl") else ""
        name = " ".join(part for part in (words(f"golive.of.{one.watched}"), share) if part)
        measured = numbers.DASH if one.figure is None else figure(one.watched, one.figure)
        sign = "<" if one.watched in _LOWER else ">"
        at = words(f"golive.from.{one.evidence}")
        if one.context is not None and one.level is not None:
            at = words("golive.at", context=numbers.count(one.context), level=f"{one.level:g}")
        rows.append((name, measured, f"{sign} {figure(one.watched, one.limit)}", rule.hold, at))
    keys = ("what", "measured", "limit", "hold", "from")
    columns = tuple(words(f"golive.col.{key}") for key in keys)
    caption = words("golive.limits", headroom=numbers.percent(rules.headroom, 0))
    return Table(caption, columns, tuple(rows), words=(4,))


def _broken(words: Words, size: CanarySize) -> Iterator[CheckItem]:
    most, seen, limit = size.degenerate_most, size.degenerate, size.degenerate_limit
    if most is None or seen is None or limit is None:
        return
    facts = {
        "most": numbers.count(most),
        "limit": numbers.percent(limit, 2),
        "seen": numbers.percent(seen, 2),
        "n": numbers.count(size.split),
    }
    yield CheckItem("do", words("golive.degenerate", **facts))


def _back(words: Words, found: GoLive) -> Iterator[CheckItem]:
    target = found.rollback
    if target is None:
        yield CheckItem("missing", words("golive.no_target"))
    else:
        told = [
            f"{words.name('fact', key)} {identity_value(key, value)[:_LONGEST]}"
            for key in ("model", "engine", "engine_version", "quantization", "weights_hash")
            if (value := target.identity.get(key)) not in (None, "")
        ]
        facts = {
            "endpoint": one_line(target.endpoint),
            "identity": words("capacity.join").join(told) or one_line(target.label),
            "date": date(target.created),
            "folder": one_line(target.folder),
        }
        key = "golive.target.earlier" if found.earlier else "golive.target.baseline"
        yield CheckItem("do", words(key, **facts))
    size = found.canary
    if size is not None:
        yield CheckItem(
            "do",
            words(
                "golive.trigger",
                n=numbers.count(size.split),
                points=numbers.size_in_points(size.step_back),
            ),
        )
        yield from _broken(words, size)
    critical = (
        []
        if found.rules is None
        else [
            f"{words(f'golive.of.{rule.threshold.watched}')} > "
            f"{figure(rule.threshold.watched, rule.threshold.limit)}"
            for rule in found.rules.rules
            if rule.labels.get("severity") == "critical" and rule.threshold.evidence == "measured"
        ]
    )
    if critical:
        listed = words("perf.join").join(critical)
        yield CheckItem("do", words("golive.critical", rules=listed))
    yield CheckItem("do", words("golive.rehearse"))
