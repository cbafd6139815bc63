r"""Numbers in many writings, made plain before they are read.

Full-width digits, vulgar and LaTeX fractions, superscripts, dashes as signs, separators of
thousands as Switzerland, India, the SI and programs write them, decimal commas before a unit,
3万5千, 4分之3, 2个半. Where a writing is also a list (`1,23`), it is left as it is. Every
pattern is linear.
"""

from __future__ import annotations

import re
from fractions import Fraction

from evalkit.scoring.numbers import SCALES
from evalkit.scoring.text import fold_width

_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
    "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8",
    "⅞": "7/8",
}  # fmt: skip
_FOLD = str.maketrans(
    {character: f" {plain} " for character, plain in _VULGAR.items()}
    | {"\u2212": "-", "\u2011": "-", "\u2044": "/", "\u202f": "\u00a0", "\u2009": "\u00a0"}
)
_SIGNED_VULGAR = re.compile(rf"(?<![\w)\]%])[-\u2212]([{''.join(_VULGAR)}])")
_LATEX_FRACTION = re.compile(
    r"(?P<sign>-[ ]?)?\\[cdt]?frac(?:"
    r"\s{0,3}\{\s{0,3}(?P<inner>-?)(?P<above>\d{1,40})\s{0,3}\}"
    r"\s{0,3}\{\s{0,3}(?P<below>\d{1,40})\s{0,3}\}"
    r"|\s?(?P<short>\d)\s?(?P<shorter>\d))"
)
_CHINESE_DIGIT_FRACTION = re.compile(r"(?P<below>\d{1,9}|百)分之(?P<above>\d{1,9}(?:\.\d{1,9})?)")
_LATEX_SEPARATOR = re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d)")

# Writings of large numbers that would else be several: Swiss and Indian separators, spaces, code.
_APOSTROPHES = re.compile(r"(?<![\w.,'’])(\d{1,3}(?:['’]\d{3})+)(?![\d'’])")
_UNDERSCORES = re.compile(r"(?<![\w.])(\d{1,3}(?:_\d{3})+)(?!\w)")
_INDIAN = re.compile(r"(?<![\d.,])(\d{1,2}(?:,\d{2})+,\d{3})(?![\d]|,\d)")
_SPACED = re.compile(
    r"(?<!\d )(?<![\w.,/])(\d{1,2}(?: \d{3}){2,4}|\d{1,3}(?: 000){1,4})(?![\d/]| \d|[.,]\d{3})"
)
_POINTS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3}){2,6})(?:,(\d{1,2}))?(?![\d.]\d|\d)")
_POINTS_AND_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}\.\d{3}),(\d{1,2})(?!\d|,\d)")
_COMMA_DECIMAL = re.compile(
    r"(?<![\d.,])(\d{1,9}),(\d{1,2})(?=[ \u00a0]?"
    r"(?:%|€|percent\b|euros?\b|(?:kg|km|cm|mm|ml|m|g|l)\b"
    r"|(?:kilo|milli|centi)?(?:grams?|met(?:er|re)s?|lit(?:er|re)s?)\b|hours?\b|minutes?\b))"
)
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_SUPERSCRIPT = re.compile(f"[{''.join(_SUPERSCRIPTS)}]{{1,4}}")
_UNDERLINED = re.compile(r"__(?=\S)([^_\n]{1,80})__(?!\w)")
_DASH_SIGN = re.compile(r"(?<![\w)\]%])(?<![\d)\]%] )[\u2013\u2014](?=\d)")
_LOOSE_SIGN = re.compile(
    r"(?P<before>\b(?:is|equals|be|was|are|of|to|at|by)|[=:(\u2248]|[是为])[ ]{0,2}"
    r"(?:-[ ]|\bminus[ ])(?=[$]?[\d.])"
)
_RUPEES = re.compile(r"\bRs\.(?=\d)")
_SCALED = r"\d{1,9}(?:\.\d{1,9})?(?:万亿|[亿万百十]|千(?![克米瓦卡帕赫焦]))"
_SCALED_SUM = re.compile(
    rf"(?:{_SCALED}){{2,6}}(?P<rest>\d{{1,4}}(?![\d.]))?|{_SCALED}(?P<tail>\d{{1,4}})(?![\d.])"
)
_SCALED_PART = re.compile(r"(\d+(?:\.\d+)?)(万亿|[亿万千百十])")
# Numerals as on a check (壹万贰仟) and of days (廿五); a single one is more often a name.
_FORMAL = str.maketrans("壹贰貳叁參肆伍陆陸柒捌玖拾佰仟萬億", "一二二三三四五六六七八九十百千万亿")
_FORMAL_NUMERAL = re.compile(
    r"(?=[^拾佰仟萬億万亿]{0,2}[拾佰仟萬億万亿])[壹贰貳叁參肆伍陆陸柒捌玖拾佰仟萬億零〇万亿]{2,24}"
    r"|(?<=[是为：:])\s?[壹贰貳叁參肆伍陆陸柒捌玖拾](?=$|[元个天人。，,.\s])"
)
_TENS = re.compile(r"[廿卅](?=[一二三四五六七八九]|[年日天岁个](?!\w))")
_MIXED_CHINESE = re.compile(r"(?<=\d)又[ ]?(?=\d{1,9}/\d)")
HALF_UNIT = "个|小时|天|年|斤|公斤|千克|米|公里|元|块|升|倍|平方米"
_DIGITS_AND_HALF = re.compile(rf"(?<![\d.])(\d{{1,9}})({HALF_UNIT})半(?![径数夜路途场])")


def fold_numbers(text: str) -> str:
    """Return the text with full-width digits, vulgar and LaTeX fractions made plain."""
    text = _SIGNED_VULGAR.sub(lambda match: f" -{_VULGAR[match[1]]} ", fold_width(text))
    folded = text.translate(_FOLD).replace("\\%", "%").replace("\\$", "$")
    folded = _LATEX_FRACTION.sub(_plain_fraction, _LATEX_SEPARATOR.sub(",", folded))
    folded = _RUPEES.sub("Rs. ", _UNDERLINED.sub(r"**\1**", folded))
    folded = _LOOSE_SIGN.sub(r"\g<before> -", _DASH_SIGN.sub("-", folded))
    if not folded.isascii():
        folded = _fold_chinese(folded)
    return _fold_separators(folded)


def _fold_chinese(text: str) -> str:
    """Make superscripts and the sums of 3万5千 plain."""
    text = _SUPERSCRIPT.sub(
        lambda match: "^" + "".join(_SUPERSCRIPTS[character] for character in match.group()), text
    )
    text = _FORMAL_NUMERAL.sub(lambda match: match.group().translate(_FORMAL), text)
    text = _TENS.sub(lambda match: "二十" if match.group() == "廿" else "三十", text)
    text = _DIGITS_AND_HALF.sub(r"\1.5\2", _SCALED_SUM.sub(_scaled_sum, text))
    text = _CHINESE_DIGIT_FRACTION.sub(_plain_chinese_fraction, text)
    return _MIXED_CHINESE.sub(" ", text)


def _fold_separators(text: str) -> str:
    """Take out separators of thousands other than one comma each three digits."""

    def joined(match: re.Match[str]) -> str:
        return re.sub(r"\D", "", match[1])

    for pattern in (_APOSTROPHES, _UNDERSCORES, _INDIAN, _SPACED):
        text = pattern.sub(joined, text)
    for pattern in (_POINTS, _POINTS_AND_COMMA):
        text = pattern.sub(lambda match: joined(match) + (f".{match[2]}" if match[2] else ""), text)
    return _COMMA_DECIMAL.sub(r"\1.\2", text)


def _scaled_sum(match: re.Match[str]) -> str:
    """Return 3万5千 as 35000; a single digit at the end counts tenths: 3万5."""
    written = match.group()
    value, scale, past = Fraction(0), 0, 0
    for part in _SCALED_PART.finditer(written):
        unit = SCALES[part[2]]
        if scale and unit > scale:
            # 2千万: what stands before counts in the larger unit.
            value = (value + Fraction(part[1])) * unit
        else:
            value += Fraction(part[1]) * unit
        scale, past = unit, part.end()
    rest = written[past:]
    if rest:
        value += int(rest) * (scale // 10 if len(rest) == 1 else 1)
    return str(value) if value.denominator == 1 else written


def _plain_fraction(match: re.Match[str]) -> str:
    above, below = match["above"] or match["short"], match["below"] or match["shorter"]
    negative = (match["sign"] is not None) != bool(match["inner"])
    return f"{'-' if negative else ' '}{above}/{below} "


def _plain_chinese_fraction(match: re.Match[str]) -> str:
    if match["below"] == "百":
        return f" {match['above']}% "
    # A numerator with decimals makes no plain fraction.
    return f" {match['above']}/{match['below']} " if match["above"].isdigit() else match.group()
