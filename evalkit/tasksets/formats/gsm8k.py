r"""GSM8K (Cobbe et al. 2021): `question`, and `answer` that ends in `#### N`.

Rows have no ids: they are numbered from 0, or named by `idx` or `id` where a copy has one.
"""

from __future__ import annotations

from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located

_HEAD = head(
    name="gsm8k",
    family="math",
    description="Grade-school word problems (GSM8K)",
    scorer="math",
    max_tokens=1024,
    template={"en": "{input}\n\nReason step by step. End with '#### ' and the number alone."},
)


def _row(located: Located) -> dict[str, Any]:
    _, mark, value = located.text("answer").rpartition("####")
    value = value.strip().replace(",", "")
    if not mark or not value:
        raise TasksetError(f"{located.where}: 'answer' does not end in '#### N'.")
    return {
        "id": located.id("id", "idx"),
        "category": "gsm8k",
        "input": located.text("question"),
        "target": {"value": value},
    }


FORMATS.register("gsm8k")(Format(_HEAD, json_lines, _row))
