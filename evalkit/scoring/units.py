"""Units of measure that answers are written in, with exact factors within a dimension."""

from __future__ import annotations

import re
from fractions import Fraction

_DIMENSIONS: dict[str, dict[str, str]] = {
    "length": {
        "1/1000": "mm millimeter millimetre 毫米",
        "1/100": "cm centimeter centimetre 厘米",
        "1": "m meter metre 米",
        "1000": "km kilometer kilometre 千米 公里",
        "127/5000": "inch inches 英寸",
        "381/1250": "ft foot feet 英尺",
        "1143/1250": "yd yard 码",
        "201168/125": "mile mi 英里",
    },
    "mass": {
        "1": "g gram 克",
        "500": "斤",
        "1000": "kg kilogram 千克 公斤",
        "1000000": "tonne ton 吨",
        "45359237/1600000": "oz ounce 盎司",
        "45359237/100000": "lb lbs pound 磅",
    },
    "time": {
        "1": "s sec second 秒",
        "60": "min minute 分钟",
        "3600": "h hr hour 小时",
        "86400": "day 天",
        "604800": "week 周 星期",
    },
    "money": {"1": "cent 分", "10": "角", "100": "dollar usd yuan 元 块"},
    "volume": {"1": "ml milliliter millilitre 毫升", "1000": "l liter litre 升"},
}
_UNITS: dict[str, tuple[str, Fraction]] = {
    name: (dimension, Fraction(factor))
    for dimension, scale in _DIMENSIONS.items()
    for factor, names in scale.items()
    for name in names.split()
}
_CHINESE_UNIT = "|".join(
    sorted((name for name in _UNITS if not name.isascii()), key=len, reverse=True)
)
_UNIT = re.compile(rf"[ ]?(?:\\text\{{[ ]?)?(?P<unit>[A-Za-z]{{1,12}}\b|{_CHINESE_UNIT})", re.ASCII)


def unit_at(text: str, at: int) -> str | None:
    """Return the known unit that is written at a position of a text, in the singular."""
    match = _UNIT.match(text, at)
    if match is None:
        return None
    written = match["unit"]
    for name in (written, written.lower(), written.lower().removesuffix("s")):
        if name in _UNITS:
            return name
    return None


def conversion(source: str, target: str) -> Fraction | None:
    """Return what one `source` is in `target`s; `None` when they measure different things.

    Raises:
        KeyError: When one of them is no known unit.
    """
    source_dimension, source_factor = _UNITS[source]
    target_dimension, target_factor = _UNITS[target]
    return source_factor / target_factor if source_dimension == target_dimension else None


def is_unit(name: str) -> bool:
    """Say whether a name is a known unit."""
    return name in _UNITS
