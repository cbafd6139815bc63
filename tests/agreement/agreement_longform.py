"""Consistency of long texts beside the labels of people, and recall beside a judge's grades.

Few public sets have texts, a source and labels. Reported as it is:

- needles: whether the two facts of the needle are kept, against GPT-4's grade of 5 or more;
- FActScore: the share of a biography's numbers, dates and names that are no inventions, against
  the share of its atomic facts that people found supported. What counts as known is once another
  system's biography of the same person (samples that agree with each other), and once what
  people labelled as supported in the text itself, which knows the labels and only shows how far
  a lexical check can see;
- FRANK has no texts: how far its published metrics get on the same labels is the yardstick.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import kendalltau, pearsonr, spearmanr

from evalkit.scoring.longform_claims import kept
from evalkit.scoring.longform_inventions import Known, invented_days, invented_numbers
from evalkit.scoring.longform_names import invented_names
from evalkit.scoring.longform_text import Body
from tests.agreement import Row

_NEEDLE = ({"values": ["dolores park"]}, {"values": ["sandwich"]})
_SYSTEMS = ("ChatGPT", "PerplexityAI")
_YARDSTICKS = ("FactCC", "FEQA", "QAGS", "Dep Entail", "BertScore P Art", "Rouge L")


def measure(data: Path) -> list[Row]:
    """Compare needles, biographies and summaries. No agreement is promised but for needles."""
    longform = data / "longform"
    return [
        _needles(longform / "niah_claude21" / "results.jsonl"),
        *_biographies(longform / "factscore_labelled"),
        *_frank(longform / "frank_scores" / "valid.csv"),
    ]


def _needles(path: Path) -> Row:
    rows = list(_rows(path))
    noise = sum((row["score"] >= 5) != _found(row["model_response"]) for row in rows)
    differences = {"the answer quotes the needle, and the grade is low": noise} if noise else {}
    return Row(
        "Needles, Claude 2.1, GPT-4's grade", len(rows), len(rows) - noise, 0.99, differences
    )


def _found(text: str) -> bool:
    body = Body.read(text, "en")
    return all(kept(fact, body) for fact in _NEEDLE)


def _biographies(folder: Path) -> Iterator[Row]:
    texts = {
        name: {row["topic"]: row for row in _rows(folder / f"{name}.jsonl")} for name in _SYSTEMS
    }
    for name, other in (_SYSTEMS, _SYSTEMS[::-1]):
        labelled = [row for row in texts[name].values() if _facts(row)]
        human = [_supported(row) for row in labelled]
        known = [texts[other][row["topic"]]["output"] for row in labelled]
        told = [" ".join(text for text, label in _facts(row) if label == "S") for row in labelled]
        outputs = [row["output"] for row in labelled]
        yield _correlated(
            f"FActScore, {name}, known from {other}", map(_consistency, outputs, known), human
        )
        yield _correlated(
            f"FActScore, {name}, known from the labels", map(_consistency, outputs, told), human
        )


def _consistency(text: str, known: str) -> float:
    """Return the share of the sentences of a text in which nothing is invented."""
    body = Body.read(text, "en")
    prompt = Known.read(known, (), "en")
    found = [
        *invented_numbers(body, prompt),
        *invented_days(body, prompt),
        *invented_names(body, known),
    ]
    wrong = {body.sentence(finding.at) for finding in found}
    return 1 - len(wrong) / max(1, body.text.count(". ") + body.text.count("\n") + 1)


def _supported(row: dict[str, Any]) -> float:
    labels = [label for _, label in _facts(row)]
    return labels.count("S") / len(labels)


def _facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (fact["text"], fact["label"])
        for sentence in row["annotations"] or ()
        for fact in sentence["human-atomic-facts"] or ()
    ]


def _frank(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for metric in _YARDSTICKS:
        told = [row for row in rows if row[metric] and row["Factuality"]]
        human = [float(row["Factuality"]) for row in told]
        yield _correlated(f"FRANK, {metric} (published)", (float(r[metric]) for r in told), human)


def _correlated(name: str, measured: Iterable[float], human: Sequence[float]) -> Row:
    values = list(measured)
    return Row(
        name,
        len(values),
        0,
        correlation={
            "Spearman": float(spearmanr(values, human).statistic),
            "Kendall": float(kendalltau(values, human).statistic),
            "Pearson": float(pearsonr(values, human).statistic),
        },
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
