"""Numbers with their units, and those of several parts: 2 hours 30 minutes, 5元3角, 5 feet 6."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from evalkit.scoring.numbers import Number
from evalkit.scoring.units import conversion, unit_at

# What stands between two parts: the unit of the first, and at most an "and".
_BETWEEN = re.compile(
    r"[ ]?(?:[A-Za-z]{1,12}\.?|[\u4e00-\u9fff]{1,2}?)[ ]{0,2}(?:[,，、][ ]?)?(?:and[ ]|又|零)?"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Attributes:
        number: Exact, in `unit`; of several parts, their sum.
        unit: The known unit behind it (of the first part), if one is written.
        smaller: The same in the unit of the last part, where there are several.
    """

    number: Number
    unit: str | None
    smaller: Fraction | None = None


def quantity_of(text: str, numbers: Sequence[Number], chosen: Number) -> Quantity:
    """Return the quantity that a number of a text is, or is a part of.

    Args:
        text: In which the numbers stand.
        numbers: All of them, in their order.
        chosen: One of them.
    """
    first = numbers.index(chosen)
    while first > 0 and _factor(text, numbers[first - 1], numbers[first]) is not None:
        first -= 1
    unit = unit_at(text, numbers[first].end)
    total, scale, last = numbers[first].value, Fraction(1), first
    for one, other in pairwise(numbers[first:]):
        factor = _factor(text, one, other)
        if factor is None:
            break
        scale *= factor
        total += other.value * scale
        last += 1
    if first == last:
        return Quantity(chosen, unit)
    start, end = numbers[first].start, numbers[last].end
    whole = replace(chosen, value=total, text=text[start:end], start=start, end=end)
    return Quantity(whole, unit, total / scale)


def _factor(text: str, one: Number, other: Number) -> Fraction | None:
    """Return what the second's unit is in the first's, where both are parts of one quantity."""
    if other.start - one.end > 20 or not _BETWEEN.fullmatch(text[one.end : other.start]):
        return None
    larger, smaller = unit_at(text, one.end), unit_at(text, other.end)
    if larger is None or smaller is None or one.value < 0 or other.value < 0:
        return None
    if smaller == "分":
        # A cent, or a minute beside hours.
        smaller = "分钟" if conversion("分钟", larger) is not None else smaller
    factor = conversion(smaller, larger)
    return factor if factor is not None and factor < 1 and other.value * factor < 1 else None
