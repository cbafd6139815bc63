"""How numbers are written: true minus, points with sign, percents, separators, a dash for none.

Every function takes fractions (0.02 is two points) and returns the finished text.
"""

from __future__ import annotations

import math

DASH = "–"
_MINUS = "−"
_GLUE = "\u00a0"
_FINE_N = 1000


def digits_for(n: int) -> int:
    """Return how many decimals a percentage from `n` pairs deserves."""
    return 2 if n >= _FINE_N else 1


def count(value: int | float | None) -> str:
    """Write a count with thousands separators."""
    if value is None:
        return DASH
    return f"{value:,.0f}".replace("-", _MINUS)


def points(value: float | None, digits: int = 1) -> str:
    """Write a difference in percentage points, always with its sign."""
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "+∞" if value > 0 else f"{_MINUS}∞"
    text = f"{abs(value) * 100:.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else _MINUS}{text}"


def size_in_points(value: float) -> str:
    """Write an unsigned amount of points, e.g. a margin, without useless zeros past one."""
    text = f"{abs(value) * 100:.2f}"
    return text[:-1] if text.endswith("0") else text


def percent(value: float | None, digits: int = 1) -> str:
    """Write a rate or a ratio in percent, with its sign."""
    body = bare_percent(value, digits)
    return body if body == DASH else f"{body}%"


def bare_percent(value: float | None, digits: int = 1) -> str:
    """Write a rate in percent without the percent sign, for intervals."""
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞"
    return f"{value * 100:.{digits}f}".replace("-", _MINUS)


def interval(low: str, high: str) -> str:
    """Write an interval from its finished ends; nothing when both are missing."""
    return "" if low == DASH and high == DASH else f"[{low}, {high}]"


def pvalue(value: float | None) -> str:
    """Write a p-value, e.g. `p = 0.034` or `p < 0.001`, unbreakable."""
    if value is None or math.isnan(value):
        return f"p{_GLUE}={_GLUE}{DASH}"
    if value < 0.001:
        return f"p{_GLUE}<{_GLUE}0.001"
    return f"p{_GLUE}={_GLUE}{value:.3f}"


def bare_pvalue(value: float) -> str:
    """Write a p-value as a detail of a finding, with three digits that say something."""
    return f"{value:.3g}"


def significant(value: float) -> str:
    """Write any other number with three digits that say something."""
    return f"{value:,.3g}"


def score(value: float) -> str:
    """Write a graded score between 0 and 1."""
    return f"{value:.2f}"


def bits(value: float) -> str:
    """Write bits per weight."""
    return f"{value:.2f}"


def change(baseline: float | None, candidate: float | None) -> str:
    """Write a relative change, e.g. `−46%`."""
    if not baseline or candidate is None:
        return DASH
    ratio = candidate / baseline - 1
    text = f"{abs(ratio) * 100:,.0f}"
    sign = "" if text == "0" else ("+" if ratio > 0 else _MINUS)
    return f"{sign}{text}%"


def size(value: float | None) -> str:
    """Write a number of bytes in decimal units."""
    if value is None:
        return DASH
    amount, unit = float(value), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def seconds(value: float | None) -> str:
    """Write a duration."""
    if value is None:
        return DASH
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"


def elapsed(value: float) -> str:
    """Write a time since a beginning.

    >>> elapsed(45), elapsed(750), elapsed(28800)
    ('45 s', '12.5 min', '8.0 h')
    """
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


def rate_per_second(value: float | None) -> str:
    """Write a rate per second."""
    if value is None:
        return DASH
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
