"""PopQA (Mallen et al. 2023): `question`, and `possible_answers` as JSON text, in a TSV.

Names of people and places may be written in many ways, and the set lists aliases of some.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, csv_records, head, json_lines, some_texts
from evalkit.tasksets.records import Located

_HEAD = head(
    name="popqa",
    family="facts",
    description="Short questions on entities of any popularity (PopQA)",
    scorer="facts",
    max_tokens=256,
    measures_hallucination=True,
    open_answers=True,
    system={"en": "Answer briefly. If you do not know, say so."},
)
_POPULAR = ((10_000, "popular"), (1_000, "known"), (0, "rare"))


def _records(path: Path) -> Iterator[Located]:
    if ".json" in path.name:
        return json_lines(path)
    return csv_records(path, ("question", "possible_answers"), delimiter="\t")


def _row(located: Located) -> dict[str, Any]:
    given = located.record.get("possible_answers")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (json.JSONDecodeError, RecursionError):
            given = None
    aliases = some_texts(given)
    if not aliases:
        raise TasksetError(f"{located.where}: 'possible_answers' is no list of texts.")
    return {
        "id": located.id("id"),
        "category": str(located.record.get("prop") or "popqa"),
        "input": located.text("question"),
        "target": {"kind": "answer", "aliases": aliases},
        "metadata": _popularity(located.record.get("s_pop")),
    }


def _popularity(views: Any) -> dict[str, str]:
    """Name how often the subject's page is read, in powers of ten (its monthly views)."""
    try:
        count = float(views)
    except (TypeError, ValueError):
        return {}
    return {"popularity": next((name for least, name in _POPULAR if count >= least), "rare")}


FORMATS.register("popqa")(Format(_HEAD, _records, _row))
