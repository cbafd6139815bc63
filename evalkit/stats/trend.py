"""Does a series over time grow for good? A robust slope, and what waves and caches look like.

The slope is the median of all slopes between two points (Theil 1950; Sen, JASA 63:1379, 1968).
Its error takes the residuals as an autoregression of first order, with the downward bias of
the estimated coefficient under a fitted line put right (Marriott and Pope, Biometrika 41:390,
1954), and Student's t with as many degrees of freedom as there are independent points (as
Hamed and Rao, J. Hydrology 204:182, 1998, correct Kendall's test by an effective n).

A slope alone would call a wave, or a saw whose last tooth is cut, growth. What grows for good
never comes back: the lowest value that is still to come must rise in each third of the time.
What fills and then rests (a cache) is fitted as an exponential and taken away; where it is not
over by the end, nothing is said.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate
from evalkit.stats.distributions import critical_value

LEAST_POINTS = 12
"""Fewer say nothing of a trend."""

_METHOD = "Theil-Sen slope, AR(1) error"
_TO_SIGMA = 1.4826
_FAR = 3.0
# Of a normal median of slopes against least squares (Sen 1968).
_EFFICIENCY = math.sqrt(math.pi / 3)
_MOST_RHO = 0.97
_FEWEST_FREE = 3.0
# Warm-up: a tenth at least; half at most.
_FIRST_CUT, _STEP, _LAST_CUT = 0.1, 0.1, 0.5
_LASTS = 0.25
_SMOOTH = 3
# Of a rise that levels off: its time constants, as shares of the whole, and what it must explain.
_TAUS = tuple(0.02 * 1.3**k for k in range(14))
_EXPLAINS = 1.3
# More than so many times the noise from point to point: it is no exponential.
_MISFIT = 3.0
_NOT_OVER = 0.25
_FINER = 1.3 ** (np.arange(-8, 9) / 8)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trend:
    """How a series goes on after its warm-up.

    Attributes:
        slope: A unit of time, with its interval.
        settled: Time from which it counts.
        level: Of the fitted line at that time; `None` without a slope.
        span: Time that counts.
        lasting: Whether what was gained was kept in each third of it.
        slowing: Whether it still grows more slowly than before, even in its second half: a
            cache that fills looks so.
    """

    slope: Estimate
    settled: float
    level: float | None
    span: float
    lasting: bool
    slowing: bool


def trend(times: ArrayLike, values: ArrayLike, *, confidence_level: float = 0.95) -> Trend:
    """Tell the slope of a series after its warm-up, and whether it grows for good.

    Args:
        times: Ascending, shape (n,).
        values: One each; NaN is no value.
        confidence_level: Of the two-sided interval.

    >>> t = np.arange(40.0)
    >>> found = trend(t, 100 + 2 * t)
    >>> found.slope.value, found.lasting, found.slowing
    (2.0, True, False)
    >>> trend(t, 100 - 50 * np.exp(-t / 3)).slope.low < 1e-3
    True
    """
    t, y = (np.asarray(side, dtype=np.float64) for side in (times, values))
    if t.shape != y.shape or t.ndim != 1:
        raise ValueError(f"needs a value for each time, got shapes {t.shape} and {y.shape}")
    known = np.isfinite(y)
    t, y = t[known], y[known]
    if t.size < LEAST_POINTS:
        nothing = Estimate(
            None, None, None, _METHOD, int(t.size), confidence_level, warnings=("few_points",)
        )
        return Trend(nothing, float(t[0]) if t.size else 0.0, None, 0.0, False, False)
    first, filling = _warm_up(t, y)
    t, y = t[first:], y[first:] - filling.curve
    slope = theil_sen(t, y)
    error, free = _slope_error(t, y, slope)
    error *= filling.blur
    half = critical_value(confidence_level, free) * error
    n = int(t.size)
    found = Estimate(slope, slope - half, slope + half, _METHOD, n, confidence_level)
    level = float(np.median(y - slope * (t - t[0])))
    span = float(t[-1] - t[0])
    return Trend(found, float(t[0]), level, span, _lasts(t, y, slope), filling.not_over)


def theil_sen(t: Floats, y: Floats) -> float:
    """Return the median slope of all pairs of points.

    >>> theil_sen(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 50.0, 3.0]))
    1.0
    """
    early, late = np.triu_indices(t.size, 1)
    apart = t[late] - t[early]
    return float(np.median((y[late] - y[early])[apart > 0] / apart[apart > 0]))


@dataclass(frozen=True, slots=True)
class _Filling:
    """A rise that levels off: how far below its end each point lies.

    `blur` is how much wider the slope's error is because it was fitted too.
    """

    curve: Floats
    blur: float = 1.0
    not_over: bool = False
    fits: bool = True


def _filling(t: Floats, y: Floats) -> _Filling:
    nothing = _Filling(np.zeros_like(y))
    span = t[-1] - t[0]
    share = (t - t[0]) / span
    flat = np.column_stack((np.ones_like(share), share))
    least = _squares(flat, y)

    def fit(tau: float) -> tuple[float, float, Floats]:
        design = np.column_stack((flat, -np.exp(-share / tau)))
        found = np.linalg.lstsq(design, y, rcond=None)[0]
        curve = float(found[2]) * design[:, 2]
        return float(np.sum((y - design @ found) ** 2)), tau, curve

    rough = min((fit(tau) for tau in _TAUS), key=lambda found: found[0])
    squares, tau, curve = min((fit(rough[1] * by) for by in _FINER), key=lambda found: found[0])
    if curve[0] >= 0 or squares * _EXPLAINS >= least:
        return nothing
    slopes = np.column_stack((flat, curve, share * curve))
    blur = _slope_width(slopes) / _slope_width(flat)
    misfit = math.sqrt(squares / t.size) > _MISFIT * _noise(y)
    return _Filling(curve, max(blur, 1.0), tau > _NOT_OVER or misfit, not misfit)


def _noise(y: Floats) -> float:
    """Standard deviation from point to point, whatever they follow."""
    steps = np.diff(y)
    return _TO_SIGMA * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)


def _squares(design: Floats, y: Floats) -> float:
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(np.sum((y - fitted) ** 2))


def _slope_width(design: Floats) -> float:
    return float(np.linalg.norm(np.linalg.pinv(design)[1]))


def _warm_up(t: Floats, y: Floats) -> tuple[int, _Filling]:
    """Find the first point that counts, and what still fills from there on.

    A tenth is left out; then tenths, until what is left rises along a line, or along a line
    and one exponential.
    """
    for cut in np.arange(_FIRST_CUT, _LAST_CUT + _STEP / 2, _STEP):
        first = min(int(np.searchsorted(t, t[0] + cut * (t[-1] - t[0]))), t.size // 2)
        filling = _filling(t[first:], y[first:])
        if filling.fits:
            break
    return first, filling


def _slope_error(t: Floats, y: Floats, slope: float) -> tuple[float, float]:
    """Return the slope's standard error and its degrees of freedom."""
    n = t.size
    residuals = y - slope * t
    residuals = residuals - np.median(residuals)
    far = _FAR * _TO_SIGMA * float(np.median(np.abs(residuals)))
    if far > 0:
        residuals = np.clip(residuals, -far, far)
    power = float(residuals[:-1] @ residuals[:-1])
    if power <= (1e-12 * float(np.max(np.abs(y)))) ** 2:
        return 0.0, n - 2.0
    rho = float(residuals[1:] @ residuals[:-1]) / power
    # Under a fitted line the estimate is low by (2 + 4 rho) / n.
    rho = min(max((n * rho + 2) / (n - 4), 0.0), _MOST_RHO)
    steps = residuals[1:] - rho * residuals[:-1]
    variance = float(steps @ steps) / (n - 3)
    weights = t - t.mean()
    weights /= weights @ weights
    places = np.arange(n)
    joint = rho ** np.abs(places[:, None] - places[None, :]) / (1 - rho**2)
    error = math.sqrt(variance * float(weights @ joint @ weights)) * _EFFICIENCY
    free = max(n * (1 - rho) / (1 + rho) - 2, _FEWEST_FREE)
    return error, free


def _lasts(t: Floats, y: Floats, slope: float) -> bool:
    """Whether the lowest value still to come rises in each third of the time."""
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(y, _SMOOTH), axis=1)
    held = np.minimum.accumulate(smooth[::-1])[::-1]
    n = held.size
    marks = [*(held[round(share * n)] for share in (0, 1 / 3, 2 / 3)), np.median(held[-n // 8 :])]
    least = _LASTS * slope * (t[-1] - t[0]) / 3
    return slope > 0 and all(b - a >= least for a, b in itertools.pairwise(marks))
