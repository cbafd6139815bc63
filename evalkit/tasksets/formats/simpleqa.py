"""SimpleQA (Wei et al. 2024): columns `problem`, `answer`, and `metadata` in Python's notation.

Rows have no ids: they are numbered from 0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.tasksets.formats.base import FORMATS, Format, csv_records, head, json_lines
from evalkit.tasksets.formats.dates import date_spellings
from evalkit.tasksets.records import Located

_HEAD = head(
    name="simpleqa",
    family="facts",
    description="Short questions with one indisputable answer (SimpleQA)",
    scorer="facts",
    max_tokens=256,
    measures_hallucination=True,
    open_answers=True,
    system={"en": "Answer briefly. If you do not know, say so."},
)


def _records(path: Path) -> Iterator[Located]:
    if ".json" in path.name:
        return json_lines(path)
    return csv_records(path, ("problem", "answer"))


def _row(located: Located) -> dict[str, Any]:
    answer = located.text("answer").strip()
    about = _metadata(located.record.get("metadata"))
    return {
        "id": located.id("id"),
        "category": str(about.get("topic", "simpleqa")),
        "input": located.text("problem"),
        "target": {"kind": "answer", "aliases": _aliases(answer)},
        "metadata": {key: str(about[key]) for key in ("topic", "answer_type") if key in about},
    }


def _aliases(answer: str) -> list[str]:
    bare = answer.rstrip(".")
    return list(dict.fromkeys([answer, bare, *date_spellings(bare)]))


def _metadata(text: Any) -> dict[str, Any]:
    try:
        found = ast.literal_eval(str(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


FORMATS.register("simpleqa")(Format(_HEAD, _records, _row))
