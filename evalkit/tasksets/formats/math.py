r"""MATH (Hendrycks et al. 2021): `problem`, and `solution` with a last `\boxed{}`.

`answer` is taken where a copy has one (MATH-500), and `idx`, `unique_id` or `id` as id; rows
without any are numbered from 0.
"""

from __future__ import annotations

from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located

_HEAD = head(
    # `math` is evalkit's own taskset.
    name="hendrycks-math",
    family="math",
    description="Competition problems with LaTeX answers (MATH)",
    scorer="math",
    max_tokens=2048,
    template={"en": "{input}\n\nReason step by step, and put your final answer within \\boxed{}."},
)
_LEVELS = {"1": "easy", "2": "easy", "3": "medium", "4": "hard", "5": "hard"}


def last_boxed(text: str) -> str | None:
    r"""Return what the last `\boxed{}` or `\fbox{}` holds; also `\boxed 5`, without braces.

    >>> last_boxed(r"so $\boxed{\frac{1}{2}}$.")
    '\\frac{1}{2}'
    """
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        return None
    rest = text[start:].removeprefix("\\boxed").removeprefix("\\fbox")
    if not rest.startswith("{"):
        bare = rest.split("$")[0].strip().rstrip(".")
        return bare if rest[:1].isspace() and bare else None
    depth = 0
    for at, character in enumerate(rest):
        escaped = at > 0 and rest[at - 1] == "\\" and rest[at - 2 : at] != "\\\\"
        if not escaped:
            depth += (character == "{") - (character == "}")
        if depth == 0:
            return rest[1:at].strip()
    return None


def _row(located: Located) -> dict[str, Any]:
    answer = located.record.get("answer")
    value = str(answer) if answer not in (None, "") else last_boxed(located.text("solution"))
    if not value:
        raise TasksetError(f"{located.where}: 'solution' has no \\boxed{{}} answer.")
    level = str(located.record.get("level", ""))
    metadata = {"math_level": level} if level else {}
    grade = _LEVELS.get(level[-1:])
    return {
        "id": located.id("unique_id", "idx", "id"),
        "category": str(located.record.get("type") or located.record.get("subject") or "math"),
        "input": located.text("problem"),
        "target": {"expression": value},
        "metadata": metadata if grade is None else {**metadata, "level": grade},
    }


FORMATS.register("math")(Format(_HEAD, json_lines, _row))
