"""Short answers beside aliases, judged by people (OpenQA-eval), and abstention on labelled phrases.

In OpenQA-eval an answer's golds are its aliases, and two or three people said whether it is
acceptable; people also accept what no gold holds, which no rule can know. The phrases are the
project's own: rules were tuned on one part of them and never on the other, which was labelled
before there were any. Both have one author, so that phrases of others will be seen less often.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.endpoints.reasoning import split_think
from evalkit.scoring.abstention import read_stance
from evalkit.scoring.facts import FactsScorer
from evalkit.types import Family, Language, Message, Outcome, Sample
from tests.agreement import ROOT, Row, compared

SPLITS = ("tuning", "heldout")
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One labelled answer."""

    id: str
    language: Language
    split: str
    kind: str
    abstains: bool
    question: str
    text: str

    @property
    def found(self) -> bool:
        """Whether it is found to abstain."""
        _, answer = split_think(self.text)
        return read_stance(answer, self.question, self.language).abstains


def measure(data: Path) -> list[Row]:
    """Score what people judged. No agreement is promised there: it is reported as it is."""
    return [_openqa(data / "facts" / "openqa_eval"), *abstention_rows()]


def phrases() -> list[Phrase]:
    """Return the labelled phrases."""
    path = ROOT / "tests" / "scoring" / "abstention_phrases.jsonl"
    with path.open(encoding="utf-8") as lines:
        return [Phrase(**json.loads(line)) for line in lines]


def abstention_rows() -> list[Row]:
    """Compare abstentions with their labels: by split and language, and all of them."""
    every = [(phrase, phrase.found) for phrase in phrases()]
    parts: dict[str, list[tuple[bool, bool]]] = {}
    for phrase, found in every:
        name = f"abstention, {phrase.split} part, {phrase.language}"
        parts.setdefault(name, []).append((found, phrase.abstains))
        parts.setdefault("abstention, all phrases", []).append((found, phrase.abstains))
    kinds = ("taken for an abstention", "abstention not seen")
    return [compared(name, parts[name], kinds) for name in sorted(parts)]


def _openqa(folder: Path) -> Row:
    golds: dict[int, dict[str, None]] = {}
    for path in sorted((folder / "outputs301").glob("*.jsonl")):
        for row in _rows(path):
            golds.setdefault(row["id"], {}).update(dict.fromkeys(_flat(row["answer"])))
    scorer = FactsScorer()
    pairs = (
        (
            scorer(_sample(row, golds[row["id"]]), row["answer"]).outcome is Outcome.CORRECT,
            row["acceptable"] == "Yes",
        )
        for row in _rows(folder / "NQ301_human.jsonl")
    )
    kinds = ("people did not accept it", "people accept it, and no gold holds it")
    return compared("OpenQA-eval, aliases against people", pairs, kinds)


def _sample(row: dict[str, Any], golds: Iterable[str]) -> Sample:
    target = {"kind": "answer", "aliases": list(golds)}
    question = (Message("user", row["question"]),)
    return Sample(str(row["id"]), "openqa", Family.FACTS, "en", "nq", question, target)


def _flat(golds: Any) -> Iterator[str]:
    if isinstance(golds, str):
        yield golds
    else:
        for gold in golds:
            yield from _flat(gold)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
