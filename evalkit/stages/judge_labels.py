"""Answers that people labelled: a table or JSON lines, for the calibration of a judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evalkit.collect.judge_prompt import JudgeItem, make_item, reference_text
from evalkit.collect.judge_rubric import Rubric
from evalkit.errors import TasksetError
from evalkit.tasksets.rows import parse_object
from evalkit.tasksets.tables import records
from evalkit.tasksets.textfile import open_text
from evalkit.types import Language, Outcome

_NEEDED: Final = ("question", "completion", "label")
_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_LABELS: Final[Mapping[str, Outcome]] = {
    **dict.fromkeys(("correct", "right", "true", "yes", "1", "正确", "对"), Outcome.CORRECT),
    **dict.fromkeys(("incorrect", "wrong", "false", "no", "0", "错误", "错"), Outcome.INCORRECT),
    **dict.fromkeys(("hallucinated", "hallucination"), Outcome.INCORRECT),
    **dict.fromkeys(("not_attempted", "abstained", "declined", "未作答"), Outcome.ABSTAINED),
}
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer with what people say of it, and whose it is, if that is told."""

    id: str
    item: JudgeItem
    label: Outcome
    endpoint: str | None = None


def read_labelled(path: Path, rubric: Rubric, taskset: str) -> list[Labelled]:
    """Read labelled answers; blank ones are left out, since no judge is ever asked about them.

    Args:
        path: JSON lines, CSV or TSV, with `question`, `completion` and `label` (correct,
            incorrect or not_attempted), and optionally `id`, `reference`, `language` (en, zh),
            `criteria` and `endpoint` (whose answer it is). Other fields are passed over.
        rubric: What is judged by.
        taskset: Named in the judge's journal.

    Raises:
        TasksetError: Names the line that is wrong.
    """
    if not path.is_file():
        raise TasksetError(f"'{path}' does not exist.", hint="Name a file of labelled answers.")
    found: list[Labelled] = []
    for where, row in _rows(path):
        for name in _NEEDED:
            if name not in row:
                known = ", ".join(sorted(map(str, row))[:10])
                hint = f"It has: {known}. Needed: {', '.join(_NEEDED)}."
                raise TasksetError(f"{where} has no '{name}'.", hint=hint)
        if row["completion"] is not None and str(row["completion"]).strip():
            found.append(_labelled(row, where, rubric, taskset, len(found) + 1))
    if not found:
        raise TasksetError(f"'{path}' holds no labelled answer.")
    return found


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    delimiter = _DELIMITERS.get(path.suffix.lower())
    with open_text(path, newline="" if delimiter else "\n") as lines:
        if delimiter is None:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    where = f"'{path}' line {number}"
                    yield where, parse_object(line, where)
            return
        columns: list[str] | None = None
        for number, cells in records(lines, f"'{path}'", delimiter, 1):
            if columns is None:
                columns = [cell.strip() for cell in cells]
                continue
            where = f"'{path}' line {number}"
            if len(cells) != len(columns):
                raise TasksetError(
                    f"{where} has {len(cells)} cells, and the header {len(columns)} columns."
                )
            yield where, dict(zip(columns, cells, strict=True))


def _labelled(
    row: Mapping[str, Any], where: str, rubric: Rubric, taskset: str, place: int
) -> Labelled:
    for name in ("question", "completion", "criteria"):
        if not isinstance(row.get(name), str | None):
            raise TasksetError(f"{where}: '{name}' is no text.")
    said = str(row["label"]).strip()
    label = _LABELS.get(said.casefold().replace(" ", "_").replace("-", "_"))
    if label is None:
        raise TasksetError(
            f"{where}: the label '{said[:40]}' is none.",
            hint="Write correct, incorrect or not_attempted.",
        )
    question = str(row["question"] or "")
    language = row.get("language") or ("zh" if _HAN.search(question) else "en")
    if language not in ("en", "zh"):
        raise TasksetError(f"{where}: the language '{str(language)[:20]}' is neither en nor zh.")
    spoken: Language = "zh" if language == "zh" else "en"
    item = make_item(
        rubric,
        taskset,
        spoken,
        question,
        _reference(row.get("reference"), spoken, where),
        str(row["completion"]),
        str(row.get("criteria") or ""),
    )
    whose = str(row.get("endpoint") or "").strip() or None
    return Labelled(str(row.get("id") or place), item, label, whose)


def _reference(value: Any, language: Language, where: str) -> str:
    """Write a reference as that of a sample is: a text, several, or a whole target."""
    if isinstance(value, Mapping):
        return reference_text(value, language)
    if isinstance(value, list):
        if not all(isinstance(one, str) for one in value):
            raise TasksetError(f"{where}: 'reference' is neither a text nor a list of texts.")
        return reference_text({"reference": value}, language)
    if value is None or isinstance(value, str | int | float):
        return "" if value is None else str(value)
    raise TasksetError(f"{where}: 'reference' is neither a text nor a list of texts.")
