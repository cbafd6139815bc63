"""IFEval: official verdicts on recorded answers, instruction by instruction.

What can differ, by name: the published check counts a random letter where the prompt asks
for a mark (`random letter`), and tells languages with langdetect, which is random too and
reads capitals badly (`language`). Anything else is `unexplained`, and there must be none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.scoring.instructions import verdicts
from tests.agreement import Row

LEAST = 0.995
BY_LANGUAGE = {
    "change_case:english_capital",
    "change_case:english_lowercase",
    "language:response_language",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One instruction of one answer, in one reading, here and officially."""

    model: str
    key: int
    instruction: str
    reading: str
    ours: bool
    official: bool
    reason: str


def measure(data: Path) -> list[Row]:
    """Compare every recorded verdict with ours."""
    compared = list(_compared(data / "instructions"))
    rows = [
        _row(f"all answers, {reading}", [c for c in compared if c.reading == reading], LEAST)
        for reading in ("strict", "loose")
    ]
    checked = [c for c in compared if c.reason == "unexplained"]
    rows.append(_row("all kinds that need no language and no random letter", checked, 1.0))
    languages = [c for c in compared if c.instruction in BY_LANGUAGE]
    letters = [c for c in compared if c.reason == "random letter"]
    rows.append(_named("letters that are none, of which IFEval draws one at random", letters))
    rows += [
        _named(f"`{kind}`", [c for c in languages if c.instruction == kind])
        for kind in sorted(BY_LANGUAGE)
    ]
    rows += [
        _row(model, [c for c in compared if c.model == model], 0.985)
        for model in sorted({c.model for c in compared})
    ]
    return rows


def _row(name: str, compared: list[Compared], least: float | None = None) -> Row:
    differ = [c for c in compared if c.ours != c.official]
    reasons = Counter(c.reason for c in differ)
    return Row(
        name, len(compared), len(compared) - len(differ), least, dict(sorted(reasons.items()))
    )


def _named(name: str, compared: list[Compared]) -> Row:
    """Make a row whose differences name the prompts that they stand at, by IFEval's keys."""
    differ = Counter((c.reason, c.key) for c in compared if c.ours != c.official)
    reasons = {f"{reason} at {key}": n for (reason, key), n in sorted(differ.items())}
    return Row(name, len(compared), len(compared) - differ.total(), None, reasons)


def _compared(folder: Path) -> Iterator[Compared]:
    prompts = {row["key"]: row for row in _rows(folder / "ifeval" / "input_data.jsonl")}
    for path in sorted((folder / "ifeval_outputs").glob("*.jsonl")):
        for answer in _rows(path):
            prompt = prompts[answer["key"]]
            ids, kwargs = prompt["instruction_id_list"], prompt["kwargs"]
            # A missing answer follows nothing.
            text = answer["response"] or ""
            found = verdicts(zip(ids, kwargs, strict=True), text)
            for at, verdict in enumerate(found):
                reason = _reason(verdict.id, kwargs[at])
                for reading in ("strict", "loose"):
                    yield Compared(
                        path.stem,
                        answer["key"],
                        verdict.id,
                        reading,
                        getattr(verdict, reading),
                        answer[reading][at],
                        reason,
                    )


def _reason(instruction: str, kwargs: dict[str, Any]) -> str:
    if instruction == "keywords:letter_frequency" and not kwargs["letter"].isalpha():
        return "random letter"
    return "language" if instruction in BY_LANGUAGE else "unexplained"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)
