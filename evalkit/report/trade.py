"""What a candidate buys and at what price, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evalkit.capacities import Footprint
from evalkit.estimates import Estimate
from evalkit.report import numbers
from evalkit.report.capacity_store import Fits
from evalkit.report.estimates import as_difference
from evalkit.report.performance_numbers import estimate, times
from evalkit.report.pieces import GainRow
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import CandidateResult

# Sizes that lie nearer to each other are called the same.
_SAME = 0.02
_DIGITS = 2
# Whose growth is good; of all else, less is better.
_MORE_IS_BETTER = ("decode", "throughput")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the candidate has more or less of.

    Attributes:
        kind: `gain`, `loss`, or `same` where the figures do not tell the two apart.
    """

    kind: Literal["gain", "loss", "same"]
    text: str


def ratio_fact(words: Words, key: str, ratio: Estimate, where: str) -> Fact | None:
    """Return what a ratio with an interval says; `None` without a ratio."""
    if ratio.value is None:
        return None
    text = words(f"perf.bought.{key}", ratio=estimate(ratio, times), where=where)
    # As they are written: an end that reads 1.00 does not leave 1 out.
    ends = [None if end is None else round(end, _DIGITS) for end in (ratio.low, ratio.high)]
    low, high = ends
    if low is None or high is None or low <= 1.0 <= high:
        return Fact("same", text)
    return Fact("gain" if (low > 1.0) == (key in _MORE_IS_BETTER) else "loss", text)


def size_fact(words: Words, key: str, before: float, after: float) -> Fact:
    """Return what two sizes say, of which less is better."""
    ratio = after / before
    text = words(f"perf.bought.{key}", ratio=times(ratio))
    if abs(ratio - 1) <= _SAME:
        return Fact("same", text)
    return Fact("gain" if ratio < 1 else "loss", text)


def fit_facts(words: Words, fits: Fits, baseline: str, candidate: str) -> Iterator[Fact]:
    """Yield what a capacity plan says of a candidate beside the baseline."""
    before, after = fits.arms.get(baseline), fits.arms.get(candidate)
    if after is None:
        return
    facts = _plan_facts(fits)
    if after.fits is None:
        if before is not None:
            yield size_fact(words, "needed", before.needed, after.needed)
    elif before is None:
        key = "yes" if after.fits else "no"
        yield Fact("same" if after.fits else "loss", words(f"fits.alone.{key}", **facts))
    elif after.fits == before.fits:
        key = "both" if after.fits else "neither"
        needed = size_fact(words, "needed", before.needed, after.needed)
        yield Fact(needed.kind, words(f"fits.{key}", needed=needed.text, **facts))
    else:
        key, kind = ("gained", "gain") if after.fits else ("lost", "loss")
        yield Fact("gain" if kind == "gain" else "loss", words(f"fits.{key}", **facts))


def fit_rows(words: Words, fits: Fits, baseline: str, candidate: str) -> Iterator[GainRow]:
    """Yield the memory that both need, and whether a device that is named holds it."""
    before, after = fits.arms.get(baseline), fits.arms.get(candidate)
    if after is None:
        return
    facts = _plan_facts(fits)
    sizes = [numbers.DASH if one is None else numbers.size(one.needed) for one in (before, after)]
    change = numbers.DASH if before is None else numbers.change(before.needed, after.needed)
    yield GainRow(words("fits.row", **facts), sizes[0], sizes[1], change)
    if after.fits is not None:
        held = [_held(words, one) for one in (before, after)]
        yield GainRow(words("fits.row.device", **facts), held[0], held[1], numbers.DASH)


def unfit(words: Words, fits: Fits | None, arm: str) -> str:
    """Say at the verdict that an arm does not fit; nothing where it does, or nobody knows."""
    found = None if fits is None else fits.arms.get(arm)
    if fits is None or found is None or found.fits is not False:
        return ""
    needed = numbers.size(found.needed)
    return words("fits.not", endpoint=one_line(arm), needed=needed, **_plan_facts(fits))


def trade_sentence(words: Words, result: CandidateResult, facts: Sequence[Fact]) -> str:
    """Return what is bought and at what price; accuracy is always part of the price.

    Empty without facts.
    """
    if not facts:
        return ""
    join = words("perf.join")
    gains = [fact.text for fact in facts if fact.kind == "gain"]
    price = [fact.text for fact in facts if fact.kind == "loss"]
    same = [fact.text for fact in facts if fact.kind == "same"]
    accuracy = as_difference(words, result.pooled.accuracy.difference)
    if accuracy.value is not None:
        told = words("perf.price", difference=accuracy.text, interval=accuracy.interval)
        price.insert(0, told)
    facts_of = {"candidate": one_line(result.endpoint)}
    facts_of["same"] = words("perf.same", facts=join.join(same)) if same else ""
    if gains:
        facts_of["gains"] = join.join(gains)
    if price:
        facts_of["price"] = join.join(price)
    return words("perf.trade" if gains else "perf.trade.nothing", **facts_of)


def needed_text(words: Words, found: Footprint) -> str:
    """Write what a footprint needs, with sign and word where a device is named."""
    size = numbers.size(found.needed)
    return size if found.fits is None else f"{size} {_held(words, found)}"


def _held(words: Words, found: Footprint | None) -> str:
    if found is None or found.fits is None:
        return numbers.DASH
    return words("fits.yes" if found.fits else "fits.no")


def _plan_facts(fits: Fits) -> dict[str, str]:
    plan = fits.plan
    return {
        "device": numbers.size(plan.device),
        "context": numbers.count(plan.context),
        "concurrency": numbers.count(plan.concurrency),
    }
