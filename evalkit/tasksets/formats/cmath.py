"""CMATH (Wei et al. 2023): Chinese school problems: `question`, and `golden` or `answer`.

Rows have no ids: they are numbered from 0.
"""

from __future__ import annotations

from typing import Any

from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located

_HEAD = head(
    name="cmath",
    family="math",
    description="Chinese elementary-school word problems by grade (CMATH)",
    scorer="math",
    max_tokens=1024,
    template={"zh": "{input}\n\n请一步一步推理，最后以“#### ”加上数字结束，不写单位。"},
)


def _row(located: Located) -> dict[str, Any]:
    grade = located.record.get("grade")
    value = located.text("golden", "answer").strip().replace(",", "")
    return {
        "id": located.id("id", "idx"),
        "language": "zh",
        "category": "cmath" if grade is None else f"grade {grade}",
        "input": located.text("question"),
        "target": {"value": value},
        "metadata": {
            key: located.record[key]
            for key in ("reasoning_step", "num_digits")
            if located.record.get(key) is not None
        },
    }


FORMATS.register("cmath")(Format(_HEAD, json_lines, _row))
