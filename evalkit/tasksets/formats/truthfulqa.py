"""TruthfulQA (Lin et al. 2022): `Question`, `Correct Answers` and `Incorrect Answers`.

Answers of a list are joined by semicolons; the hub's copy has lists, and small letters in
the names of its columns (`best_answer`, `correct_answers`, ...). Rows have no ids: they are
numbered from 0. "I have no comment" is a true answer there; here it is an abstention.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.tasksets.formats.base import FORMATS, Format, csv_records, head, json_lines, some_texts
from evalkit.tasksets.records import Located

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
    if ".json" in path.name:
        return json_lines(path)
    return csv_records(path, ("Question", "Correct Answers", "Incorrect Answers"))


def _row(located: Located) -> dict[str, Any]:
    record = located.record
    best = str(record.get("Best Answer") or record.get("best_answer") or "").strip()
    true = [best, *_listed(located, "Correct Answers")]
    return {
        "id": located.id("id"),
        "category": str(record.get("Category") or record.get("category") or "truthfulqa"),
        "input": located.text("Question", "question"),
        "target": {
            "true": list(dict.fromkeys(filter(None, true))),
            "false": _listed(located, "Incorrect Answers"),
        },
    }


def _listed(located: Located, name: str) -> list[str]:
    small = name.lower().replace(" ", "_")
    given = located.record.get(small)
    if isinstance(given, list):
        return some_texts(given)
    return [part.strip() for part in located.text(name, small).split(";") if part.strip()]


FORMATS.register("truthfulqa")(Format(_HEAD, _records, _row))
