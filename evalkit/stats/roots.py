"""Root of a scalar function between two ends of opposite sign."""

from __future__ import annotations

from collections.abc import Callable


def find_root(function: Callable[[float], float], first: float, second: float) -> float:
    """Find x between two ends, in any order, with function(x) = 0 (Chandrupatla 1997).

    It brackets like bisection and converges like inverse quadratic interpolation: some
    nine evaluations where bisection needs fifty. Ends without a change of sign give the
    end whose value is nearer to zero, and the first of two equal ones, so a limit that
    lies on the border is returned as such.

    scipy has the same method, behind an import that costs more than every root of a run.

    >>> round(find_root(lambda x: x * x - 2, 0, 2), 12)
    1.414213562373
    """
    a, b = second, first
    fa, fb = function(a), function(b)
    if fa == 0 or fb == 0 or (fa > 0) == (fb > 0):
        return a if abs(fa) < abs(fb) else b
    step = 0.5
    while True:
        x = a + step * (b - a)
        fx = function(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        best = a if abs(fa) < abs(fb) else b
        tolerance = 2 * (2.3e-16 * abs(best) + 1e-17)
        limit = tolerance / abs(b - c) if b != c else 1.0
        if limit > 0.5 or fa == 0 or fb == 0:
            return best
        step = _next_step(a, b, c, fa, fb, fc)
        step = min(1 - limit, max(limit, step))


def _next_step(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    xi = (a - b) / (c - b)
    phi = (fa - fb) / (fc - fb)
    if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5
