"""TruthfulQA (Lin et al. 2022): `Question`, `Correct Answers` and `Incorrect Answers`.

Answers of a list are joined by semicolons. Rows have no ids: they are numbered from 0. "I
have no comment" is a true answer there; here it is an abstention.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.tasksets.formats.base import FORMATS, Format, Located, csv_records, head

_HEAD = head(
    name="truthfulqa",
    family="facts",
    description="Questions that invite a common falsehood (TruthfulQA)",
    scorer="references",
    max_tokens=256,
    measures_hallucination=True,
    open_answers=True,
)


def _records(path: Path) -> Iterator[Located]:
    return csv_records(path, ("Question", "Correct Answers", "Incorrect Answers"))


def _row(located: Located) -> dict[str, Any]:
    best = str(located.record.get("Best Answer") or "").strip()
    true = [best, *_listed(located.text("Correct Answers"))]
    return {
        "id": located.id("id"),
        "category": str(located.record.get("Category") or "truthfulqa"),
        "input": located.text("Question"),
        "target": {
            "true": list(dict.fromkeys(filter(None, true))),
            "false": _listed(located.text("Incorrect Answers")),
        },
    }


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


FORMATS.register("truthfulqa")(Format(_HEAD, _records, _row))
