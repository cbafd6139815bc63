"""How many pairs one metric needs: the same answer for the report, the plan and the calculator.

One family: Nam's formula (`stats.power`). Families pooled with equal weights: the chance that
the pooled lower limit which the gate reads (MOVER) clears the margin. The pooled difference is
taken as normal, the limit's reach is that of the counts at which it just clears it; a
simulation agrees to half a point of power (`tests/decision/test_sizes.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.stats.distributions import normal_cdf, normal_quantile
from evalkit.stats.engine import PairedSummary
from evalkit.stats.paired import tango_z
from evalkit.stats.pooling import mover_reach, mover_z
from evalkit.stats.power import n_floor, n_noninferiority
from evalkit.stats.roots import find_root

# Sizes beyond this are no plan, they are a sign to revisit the margin.
_CAP = 10**9
_ROUNDING = 1e-12
# Where the law of a pooled z is looked at; the boundaries of all plans lie between.
_KNOTS = (0.0, 0.6, 1.2, 1.9, 2.6, 3.6, 5.0)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One family's part of a metric.

    Attributes:
        n: Pairs.
        gained: Share of them that only the candidate has right.
        lost: Share of them that only the baseline has right.
        effective: Independent pairs that one pair is worth, in (0, 1].
    """

    n: int
    gained: float
    lost: float
    effective: float = 1.0

    @property
    def variance(self) -> float:
        """Variance of one difference."""
        return max(0.0, self.gained + self.lost - (self.gained - self.lost) ** 2)


def equal_arms(n: int, flip_rate: float, effective: float = 1.0) -> Stratum:
    """Return a family in which the arms are truly equal and a share of pairs flips."""
    return Stratum(n, flip_rate / 2, flip_rate / 2, effective)


def smoothed_flips(flips: float, n: float, share: float = 1.0) -> float:
    """Return a flip rate to plan with: none seen does not mean that there are none.

    One flip and two pairs are added to a metric as a whole; of several families each takes
    its share of them.

    >>> smoothed_flips(0, 98), smoothed_flips(5, 98)
    (0.01, 0.06)
    """
    return min(1.0, (flips + share) / (n + 2 * share))


@dataclass(frozen=True, slots=True)
class ScoreLaw:
    """How the gate's z is distributed: z as a growing function of a standard normal u.

    Attributes:
        u: Knots; between them and beyond the law is linear. One knot: z is certain.
        z: The value of z at each.
    """

    u: Floats
    z: Floats

    def deviate(self, z: ArrayLike) -> Floats:
        """Return the u of a z: the chance to reach z is that to exceed u."""
        wanted = np.asarray(z, dtype=np.float64)
        if self.u.size == 1:
            return np.where(self.z[0] >= wanted, -np.inf, np.inf)
        return _along(wanted, self.z, self.u)

    def at(self, u: ArrayLike) -> Floats:
        """Return the z of a u."""
        wanted = np.asarray(u, dtype=np.float64)
        if self.u.size == 1:
            return np.full_like(wanted, self.z[0])
        return _along(wanted, self.u, self.z)


def score_law(strata: Sequence[Stratum], *, margin: float, scale: float) -> ScoreLaw:
    """Return the law of the gate's z with families `scale` times as large.

    The normal of Nam 1997 for one family; for pooled families it bends a little.
    """
    knots = np.array(_KNOTS)
    if len(strata) == 1:
        mean, spread = _nam_law(strata[0], margin, scale)
        if spread > 0:
            return ScoreLaw((knots - mean) / spread, knots)
        return ScoreLaw(np.zeros(1), np.array([mean]))
    if not any(stratum.variance for stratum in strata):
        parts = [_expected(stratum, scale) for stratum in strata]
        return ScoreLaw(np.zeros(1), np.array([mover_z(parts, None, -margin)]))
    found = [(_deviate(strata, -margin, scale, z), z) for z in _KNOTS]
    # So few pairs that a large z is out of reach: the law ends where the knots do.
    u, z = np.array([knot for knot in found if math.isfinite(knot[0])]).T
    if u.size < 2:
        return ScoreLaw(np.zeros(1), np.array([-math.inf]))
    return ScoreLaw(u, z)


def chance(strata: Sequence[Stratum], *, margin: float, alpha: float, scale: float = 1.0) -> float:
    """Chance to show non-inferiority with families `scale` times as large.

    Where the true loss is beyond the margin: the chance to show that.
    """
    critical = -normal_quantile(alpha)
    if len(strata) == 1:
        mean, spread = _nam_law(strata[0], margin, scale)
        if spread == 0:
            return float(abs(mean) >= critical)
        return normal_cdf((abs(mean) - critical) / spread)
    strata, border = _facing(strata, margin)
    return normal_cdf(-_deviate(strata, border, scale, critical))


def size_for(strata: Sequence[Stratum], *, margin: float, alpha: float, power: float) -> int | None:
    """Return the pairs that give the wanted power, at the present shares of the families.

    Returns:
        Pairs of all families; `None` when the loss is the margin itself, so that no number
        decides, or when no sensible number is enough.

    >>> size_for([equal_arms(300, 0.06)], margin=0.02, alpha=0.05, power=0.8)
    982
    >>> size_for([equal_arms(60, 0.06)] * 5, margin=0.02, alpha=0.05, power=0.8)
    1058
    """
    if abs(_difference(strata) + margin) < _ROUNDING:
        return None
    if len(strata) == 1:
        (one,) = strata
        size = n_noninferiority(one.gained, one.lost, margin=margin, alpha=alpha, power=power)
        size /= one.effective
        return math.ceil(size) if size <= _CAP else None
    strata, border = _facing(strata, margin)
    critical, wanted = -normal_quantile(alpha), -normal_quantile(power)
    return size_where(
        lambda scale: _clearance(strata, border, scale, critical, wanted),
        sum(stratum.n for stratum in strata),
    )


def size_where(excess: Callable[[float], float], n: int) -> int | None:
    """Return the pairs at which a growing function of the scale turns positive.

    Args:
        excess: Of the factor on the present size.
        n: The present size.
    """
    low, high = math.log(1 / n), math.log(_CAP / n)
    if excess(math.exp(high)) < 0:
        return None
    root = find_root(lambda log_scale: excess(math.exp(log_scale)), low, high)
    # A size that is whole but for rounding must not be rounded up to the next.
    return math.ceil(n * math.exp(root) - 1e-6)


def floor_of(strata: Sequence[Stratum], *, margin: float, alpha: float) -> int:
    """Return the pairs below which even zero flips prove nothing, at the present shares.

    >>> floor_of([equal_arms(40, 0.0)], margin=0.02, alpha=0.05)
    133
    """
    if len(strata) == 1:
        return math.ceil(n_floor(margin, alpha) / strata[0].effective)
    n = sum(stratum.n for stratum in strata)
    z2 = normal_quantile(alpha) ** 2
    weight = 1 / len(strata)

    def excess(total: float) -> float:
        # Tango's limit of n pairs without a flip is z² / (n + z²).
        limits = (z2 / (total * s.n / n * s.effective + z2) for s in strata)
        return margin - math.sqrt(math.fsum((weight * limit) ** 2 for limit in limits))

    if excess(0.0) >= 0:
        return 0
    high = 1.0
    while excess(high) < 0:
        high *= 2
    return math.ceil(find_root(excess, 0.0, high) - 1e-6)


def _facing(strata: Sequence[Stratum], margin: float) -> tuple[Sequence[Stratum], float]:
    """Return families and the border that their pooled lower limit must clear."""
    if _difference(strata) >= -margin:
        return strata, -margin
    # A proven loss is a proven gain of the other arm.
    return [replace(s, gained=s.lost, lost=s.gained) for s in strata], margin


def _difference(strata: Sequence[Stratum]) -> float:
    return math.fsum(stratum.gained - stratum.lost for stratum in strata) / len(strata)


def _nam_law(stratum: Stratum, margin: float, scale: float) -> tuple[float, float]:
    """The z of the expected counts, and how far the flips let it vary.

    The inverse of the mean is the standard error that the test assumes at the margin; the
    true one is that of the flips.
    """
    mean = tango_z(*_expected(stratum, scale).counts, -margin)
    distance = stratum.gained - stratum.lost + margin
    if abs(distance) < _ROUNDING:
        return 0.0, 1.0
    pairs = stratum.n * stratum.effective * scale
    return mean, mean * math.sqrt(stratum.variance / pairs) / distance


def _deviate(strata: Sequence[Stratum], border: float, scale: float, critical: float) -> float:
    """How many standard deviations above its mean the pooled difference must lie to pass.

    It passes when its lower limit at the critical value is above the border.
    """
    mean, deviation = _difference(strata), math.sqrt(_variance(strata, scale))
    if deviation == 0:
        return -math.inf if _clearance(strata, border, scale, critical, 0.0) >= 0 else math.inf
    low, high = (border - mean) / deviation, (1 - mean) / deviation
    if _clearance(strata, border, scale, critical, high) < 0:
        return math.inf
    return find_root(lambda u: _clearance(strata, border, scale, critical, u), low, high)


def _clearance(
    strata: Sequence[Stratum], border: float, scale: float, critical: float, deviations: float
) -> float:
    """How far above the border the pooled lower limit lies, so many deviations from the mean.

    The families share the deviation as they share the variance.
    """
    weight = 1 / len(strata)
    total = _variance(strata, scale)
    # Of variance v a family takes v / total of the whole shift, and has it at its weight.
    unit = deviations / (math.sqrt(total) * weight) if total else 0.0
    parts = [_expected(_moved(s, unit * weight**2 * _own(s, scale)), scale) for s in strata]
    value = math.fsum(weight * part.difference for part in parts)
    return value - mover_reach(parts, [weight] * len(parts), critical, 0) - border


def _variance(strata: Sequence[Stratum], scale: float) -> float:
    return math.fsum(_own(stratum, scale) for stratum in strata) / len(strata) ** 2


def _own(stratum: Stratum, scale: float) -> float:
    """Variance of a family's mean difference."""
    return stratum.variance / (stratum.n * stratum.effective * scale)


def _along(x: Floats, xs: Floats, ys: Floats) -> Floats:
    """Interpolate, and go straight on beyond the ends."""
    first, last = (ys[1] - ys[0]) / (xs[1] - xs[0]), (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])
    low, high = ys[0] + first * (x - xs[0]), ys[-1] + last * (x - xs[-1])
    inside = np.interp(x, xs, ys)
    return np.where(x < xs[0], low, np.where(x > xs[-1], high, inside))


def _moved(stratum: Stratum, shift: float) -> Stratum:
    """Return a family whose flips lean so that its difference is another."""
    difference = max(-1.0, min(1.0, stratum.gained - stratum.lost + shift))
    flips = max(stratum.gained + stratum.lost, abs(difference))
    return replace(stratum, gained=(flips + difference) / 2, lost=(flips - difference) / 2)


def _expected(stratum: Stratum, scale: float) -> PairedSummary:
    """Return the counts that these rates are expected to give, `scale` times as many."""
    gains, losses = stratum.n * stratum.gained, stratum.n * stratum.lost
    factor = scale * stratum.effective
    return PairedSummary(gains, losses, stratum.n, stratum.n, factor, False, round(gains + losses))
