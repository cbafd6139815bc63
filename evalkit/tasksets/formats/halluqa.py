"""HalluQA (Cheng et al. 2023): `question_id`, `Question`, `Best Answer1..4`, `Wrong_Answer1..4`."""

from __future__ import annotations

from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_list
from evalkit.tasksets.records import Located

_HEAD = head(
    name="halluqa",
    family="facts",
    description="Chinese questions that invite a hallucination (HalluQA)",
    scorer="references",
    max_tokens=512,
    measures_hallucination=True,
    open_answers=True,
)


def _row(located: Located) -> dict[str, Any]:
    true, false = (_numbered(located, name) for name in ("Best Answer", "Wrong_Answer"))
    if not true:
        raise TasksetError(
            f"{located.where} has no 'Best Answer1'.", hint="Is the file of another format?"
        )
    return {
        "id": located.id("question_id"),
        "language": "zh",
        "category": str(located.record.get("Category") or "halluqa"),
        "input": located.text("Question"),
        "target": {"true": true, "false": false},
    }


def _numbered(located: Located, name: str) -> list[str]:
    found = (located.record.get(f"{name}{number}") for number in range(1, 10))
    return list(dict.fromkeys(str(text).strip() for text in found if text))


FORMATS.register("halluqa")(Format(_HEAD, json_list, _row))
