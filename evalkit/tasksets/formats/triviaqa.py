"""TriviaQA (Joshi et al. 2017), closed book: the question, and an answer with its aliases.

The hub's records have `question`, `question_id` and `answer` with `value` and `aliases`; the
published file is one object whose `Data` lists the same with capital letters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines, some_texts
from evalkit.tasksets.records import Located
from evalkit.tasksets.textfile import open_text

_HEAD = head(
    name="triviaqa",
    family="facts",
    description="Trivia questions with aliases of the answer (TriviaQA)",
    scorer="facts",
    max_tokens=256,
    measures_hallucination=True,
    open_answers=True,
    system={"en": "Answer briefly. If you do not know, say so."},
)


def _records(path: Path) -> Iterator[Located]:
    """Yield the entries of the published file, or JSON lines."""
    with open_text(path) as text:
        whole = text.read()
    try:
        loaded = json.loads(whole)
    except (json.JSONDecodeError, RecursionError):
        yield from json_lines(path)
        return
    entries = loaded.get("Data") if isinstance(loaded, dict) else None
    if not isinstance(entries, list):
        yield from json_lines(path)
        return
    for place, entry in enumerate(entries):
        where = f"'{path}' entry {place + 1}"
        if not isinstance(entry, dict):
            raise TasksetError(f"{where} is not a JSON object.")
        yield Located(entry, place, where)


def _row(located: Located) -> dict[str, Any]:
    answer = located.record.get("answer", located.record.get("Answer"))
    if not isinstance(answer, Mapping):
        raise TasksetError(
            f"{located.where} has no 'answer'.", hint="Is the file of another format?"
        )
    named = [answer.get(key) for key in ("value", "Value")]
    for key in ("aliases", "Aliases"):
        named += some_texts(answer.get(key))
    aliases = some_texts(named)
    if not aliases:
        raise TasksetError(f"{located.where}: the answer has neither a value nor aliases.")
    return {
        "id": located.id("question_id", "QuestionId", "id"),
        "category": "triviaqa",
        "input": located.text("question", "Question"),
        "target": {"kind": "answer", "aliases": aliases},
    }


FORMATS.register("triviaqa")(Format(_HEAD, _records, _row))
