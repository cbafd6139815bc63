"""Scores answers by lm-eval's own filters and metrics.

The target names task and document; both are loaded again where the score is made, and a
document that has changed since it was asked is an error. The metric that was chosen is the
score's value; all others, of every filter, go into the explanation.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from evalkit.errors import ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.tasksets.harness import hash_document, load_tasks
from evalkit.tasksets.harness_reference import HARNESS, Reference, parse_reference
from evalkit.types import Outcome, Sample

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class HarnessScorer:
    """Gives an answer to lm-eval; what lm-eval says stands, also of an answer that was cut off."""

    name: str = "harness"
    version: int = 1
    final: bool = True

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer.

        Raises:
            EvalKitError: When the task cannot be loaded, or has no value for this answer.
        """
        reference = parse_reference(str(sample.metadata["reference"]).removeprefix(f"{HARNESS}:"))
        target = sample.target
        texts = len(target.get("texts", ()))
        found, filtered = evaluate(reference, int(target["doc"]), target["doc_hash"], text, texts)
        key = (str(reference.metric), str(reference.filter))
        if key not in found:
            raise ScoringError(f"lm-eval gives no {key[0]} for this answer.")
        value = found[key]
        if value is None or not 0 <= value <= 1:
            raise ScoringError(f"lm-eval's {key[0]} is no value from 0 to 1.")
        told = "; ".join(
            f"{metric},{name} {number:g}"
            for (metric, name), number in found.items()
            if number is not None
        )
        return Judgement(
            outcome=Outcome.CORRECT if value == 1 else Outcome.INCORRECT,
            value=value,
            answer=str(filtered[key[1]])[:_SHOWN],
            explanation=told,
        )


def evaluate(
    reference: Reference, document: int, hashed: str, answer: Any, texts: int = 0
) -> tuple[dict[tuple[str, str], float | None], dict[str, Any]]:
    """Let lm-eval filter and measure one answer.

    Args:
        reference: Of the task.
        document: Its number among the task's documents.
        hashed: Hash of that document when it was asked.
        answer: The text, or for given texts their log-likelihoods as JSON.
        texts: How many texts were given.

    Returns:
        Values by metric and filter, `None` for what is no number; and what each filter left.

    Raises:
        EvalKitError: When the task cannot be loaded, or the document is another one.
    """
    from lm_eval.api.instance import Instance

    task, documents = _loaded(replace(reference, metric=None, filter=None))
    doc = documents.get(document)
    if doc is None or hash_document(doc) != hashed:
        raise ScoringError(
            f"Document {document} of {reference.name} is not the one that was asked."
        )
    generated = task.OUTPUT_TYPE == "generate_until"
    responses = [answer] if generated else _likelihoods(answer, texts)
    instances = [
        Instance(
            request_type="generate_until" if generated else "loglikelihood",
            doc=doc,
            arguments=("", {}),
            idx=place,
            metadata=(reference.name, document, 1),
            resps=[response],
        )
        for place, response in enumerate(responses)
    ]
    task._instances = instances
    task.apply_filters()
    found: dict[tuple[str, str], float | None] = {}
    left: dict[str, Any] = {}
    for name in instances[0].filtered_resps:
        filtered = [one.filtered_resps[name] for one in instances]
        left[name] = filtered[0] if generated else _likeliest(filtered)
        for metric, value in task.process_results(doc, filtered).items():
            found[(metric, name)] = _number(value)
    return found, left


def _likelihoods(answer: str, texts: int) -> list[tuple[float, bool]]:
    try:
        found = [(float(logprob), bool(greedy)) for logprob, greedy in json.loads(answer)]
    except (ValueError, TypeError, RecursionError):
        found = []
    if len(found) != texts or not all(math.isfinite(logprob) for logprob, _ in found):
        raise ScoringError(f"The answer holds no log-likelihoods of {texts} texts.")
    return found


def _likeliest(found: Sequence[tuple[float, bool]]) -> str:
    """Name the likeliest of several texts by its place, from 1."""
    place = max(range(len(found)), key=lambda n: found[n][0])
    return f"text {place + 1} of {len(found)}"


@cache
def _loaded(reference: Reference) -> tuple[Any, Mapping[int, Any]]:
    task = load_tasks(reference)[reference.name]
    return task, dict(task.doc_iterator(rank=0, limit=None, world_size=1))


def _number(value: Any) -> float | None:
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    return None


SCORERS.register("harness")(HarnessScorer())
