"""Open answers beside their references: TruthfulQA's labels, and GPT-4's on HalluQA.

An abstention is truthful in both. Answers that are word for word one of the references say
nothing of the scorer and are left out; so are HalluQA's empty ones, which have no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evalkit.scoring.references import ReferencesScorer
from evalkit.tasksets.formats.base import load_published
from evalkit.types import Outcome, Sample
from tests.agreement import Row, compared

Case = tuple[Sample, str, bool]


def measure(data: Path) -> list[Row]:
    """Score every labelled answer. No agreement is promised: it is reported as it is."""
    facts = data / "facts"
    outputs = sorted((facts / "halluqa_outputs/open_generation").glob("*.jsonl"))
    halluqa = load_published("halluqa", facts / "halluqa/HalluQA.json")
    by_id = {sample.id: sample for sample in halluqa.samples}
    return [
        _row("TruthfulQA, labelled answers", _truthfulqa(facts)),
        _row(
            f"HalluQA, {len(outputs)} models",
            (case for path in outputs for case in _halluqa(path, by_id)),
        ),
    ]


def _row(name: str, cases: Iterable[Case]) -> Row:
    scorer = ReferencesScorer()
    pairs = (
        (scorer(sample, text).outcome is not Outcome.INCORRECT, truthful)
        for sample, text, truthful in cases
    )
    return compared(name, pairs, ("taken for true", "taken for false"))


def _truthfulqa(facts: Path) -> Iterator[Case]:
    taskset = load_published("truthfulqa", facts / "truthfulqa/TruthfulQA.csv")
    by_question = {sample.messages[-1].content.strip(): sample for sample in taskset.samples}
    for row in _rows(facts / "truthfulqa_labelled_answers/answers.jsonl"):
        sample = by_question[row["question"].strip()]
        known = {_plain(one) for one in (*sample.target["true"], *sample.target["false"])}
        if _plain(row["answer"]) not in known:
            yield sample, row["answer"], row["truthful"]


def _halluqa(path: Path, by_id: dict[str, Sample]) -> Iterator[Case]:
    for row in _rows(path):
        if row["response"].strip() and isinstance(row["is_hallucination"], bool):
            yield by_id[str(row["question_id"])], row["response"], not row["is_hallucination"]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _plain(text: str) -> str:
    return text.strip().rstrip(".").casefold()
