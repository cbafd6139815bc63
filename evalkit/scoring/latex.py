r"""Mathematical expressions in LaTeX: found in a text, and made comparable as they stand.

Enough to decide most pairs exactly without computer algebra: two expressions whose writing
differs only in what has no meaning are equal, and two rational numbers are compared as
fractions. What is left undecided is for math-verify (`latex_pool`).
"""

from __future__ import annotations

import re
from fractions import Fraction

from evalkit.scoring.numbers import MAX_DIGITS, parse_number
from evalkit.scoring.text import fold_width

MAX_EXPRESSION = 2_000
MAX_DEPTH = 40
_MATH = re.compile(
    r"\$\$([^$]{1,2000})\$\$|(?<![\\\d])\$([^$\n]{1,1000})\$"
    r"|\\\((.{1,1000}?)\\\)|\\\[(.{1,2000}?)\\\]",
    re.DOTALL,
)
_SIGNS = str.maketrans(
    {"π": "\\pi ", "∞": "\\infty ", "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∪": "\\cup "}
    | {"∩": "\\cap ", "∅": "\\emptyset ", "θ": "\\theta ", "±": "\\pm ", "\u2212": "-"}
)
_ROOT = re.compile(r"√\s?(?:\(([^()\n]{1,80})\)|(\d{1,40}(?:\.\d{1,40})?|[a-z]))")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,6}")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_DELIMITED = re.compile(r"[$]|\\[(\[]")
_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|textrm|mbox|mathrm|mathbf|mathit|mathsf|boxed|fbox|operatorname)"
    r"\s?\{([^{}]{0,400})\}"
)
_NO_MEANING = re.compile(
    r"\\(?:left|right|bigg?[lr]?|Bigg?[lr]?|displaystyle|limits|qquad|quad)(?![A-Za-z])"
    r"|\\[!,;: $]|[$~]|\s+|\.$"
)
_DEGREES = re.compile(r"\^\{?\\circ\}?")
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_SHORT_FRACTION = re.compile(r"\\frac(\d)(\d)")
_NAME = re.compile(r"^(?:[A-Za-z]|\\[A-Za-z]{1,8})(?:\([a-z]\))?=(?=.)")
_THOUSANDS = re.compile(r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"-?\d{1,40},(?:\d{1,2}|\d{4,40})", re.ASCII)
_CONSTANT = re.compile(r"\\mathrm\s?\{\s?([ei])\s?\}")
_RATIONAL = re.compile(
    rf"(?P<sign>-?)(?:\\frac\{{(?P<inner>-?)(?P<above>\d{{1,{MAX_DIGITS}}})\}}"
    rf"\{{(?P<below>\d{{1,{MAX_DIGITS}}})\}}"
    rf"|(?P<plain>\d{{0,{MAX_DIGITS}}}(?:\.\d{{1,{MAX_DIGITS}}})?(?:/\d{{1,{MAX_DIGITS}}})?))"
    r"(?P<percent>\\?%)?",
    re.ASCII,
)


def latex_of(text: str) -> str:
    r"""Return a text with mathematical signs of Unicode as LaTeX: 2π is `2\\pi`, √3 `\\sqrt{3}`."""
    if text.isascii():
        return text
    plain = _ROOT.sub(lambda match: f"\\sqrt{{{match[1] or match[2]}}}", text)
    plain = _RAISED.sub(lambda match: f"^{{{match.group().translate(_LOWERED)}}}", plain)
    return plain.translate(_SIGNS)


def find_math(text: str) -> list[str]:
    r"""Return what stands between `$`, `$$`, `\(\)` and `\[\]`, in its order."""
    return [next(group for group in match.groups() if group) for match in _MATH.finditer(text)]


def is_comparable(expression: str) -> bool:
    """Say whether an expression is short and shallow enough to be an answer."""
    depth = deepest = 0
    for character in expression:
        depth += (character in "{([") - (character in "})]")
        deepest = max(deepest, depth)
    return len(expression) <= MAX_EXPRESSION and deepest <= MAX_DEPTH


def normalise_latex(expression: str) -> str:
    r"""Return an expression without what has no meaning in it.

    Spacing, `\left` and `\right`, fonts, `\dfrac` for `\frac`, the degree sign, separators of
    thousands, and the name in front of an answer (`x = 5`).
    """
    plain = _FRACTION.sub(r"\\frac", fold_width(expression)).replace("\u2212", "-")
    plain = _WRAPPED.sub(r"\1", _WRAPPED.sub(r"\1", plain))
    plain = _DEGREES.sub("", _NO_MEANING.sub("", _DEGREES.sub("", plain)))
    plain = _NAME.sub("", _THOUSANDS.sub("", plain))
    return _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", plain)


def rational(normalised: str) -> Fraction | None:
    """Return the value of a rational number written plainly; `None` for anything else.

    A percentage is none: whether 50% answers 0.5 depends on the question.
    """
    match = _RATIONAL.fullmatch(normalised)
    if match is None or match["percent"] is not None:
        return None
    try:
        if match["above"] is not None:
            value = Fraction(int(match["above"]), int(match["below"]))
            return -value if (match["sign"] or "") != (match["inner"] or "") else value
        value = parse_number(match["plain"])
    except (ValueError, ZeroDivisionError):
        return None
    return -value if match["sign"] else value


def decide(gold: str, answer: str) -> bool | None:
    """Say whether two expressions are equal as they stand; `None` when that is not plain."""
    one, other = normalise_latex(gold), normalise_latex(answer)
    if one and one == other:
        return True
    values = rational(one), rational(other)
    if None not in values:
        return values[0] == values[1]
    # "1,22" may be a list; beside a decimal that it equals it is one, with a decimal comma.
    for comma, point in ((one, other), (other, one)):
        if _DECIMAL_COMMA.fullmatch(comma) and comma.replace(",", ".") == point:
            return True
    return None


def delimit(expression: str) -> str:
    r"""Return an expression as math-verify finds it: in a box between `$`, unless it has `$`.

    `\mathrm{e}` becomes `e`, because math-verify 0.9.0 reads `1 - \frac{1}{\mathrm{e}}` as 1.
    """
    plain = _CONSTANT.sub(r" \1", expression)
    if _DELIMITED.search(plain):
        return plain
    return f"${plain}$" if "\\boxed" in plain else f"$\\boxed{{{plain}}}$"
