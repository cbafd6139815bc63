"""The ledger of looks: which answers were decided on, when, under which policy, with what end.

`ledger.jsonl` lies in the comparison folder, a chain of lines. Who deletes the file, or
compares in another folder, starts to count anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evalkit import __version__
from evalkit.collect.header import run_id_of
from evalkit.collect.requests import first_prompts
from evalkit.decision.looks import Asked, PastLook
from evalkit.fingerprint import digest, identity_key
from evalkit.policy import Policy
from evalkit.results import CandidateResult, Comparison, VerdictState
from evalkit.stages.chain import Chain, content_of
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.plan import Plan

LEDGER = "ledger.jsonl"
_RESTART = "Looks can no longer be counted here: compare in a new --output, on new prompts."


@dataclass(frozen=True, slots=True)
class Subject:
    """What a look is at: two endpoints by their identities, and the answers of both."""

    baseline: str
    candidate: str
    asked: Asked


def subjects_of(runs: Sequence[CollectedRun], plan: Plan) -> dict[str, Subject]:
    """Return what a comparison looks at, by candidate; the baseline's run comes first."""
    baseline, *candidates = runs
    drawing = plan.drawing()
    hashes = first_prompts(baseline.requests)
    order, first = {}, {}
    for taskset in plan.tasksets:
        keys = [(taskset.name, sample.id) for sample in taskset.samples]
        keys.sort(key=lambda key: (drawing.places.get(key, 0), key[1]))
        order[taskset.name] = tuple(f"{hashes[key]}x{plan.epochs}" for key in keys)
        first[taskset.name] = sum(key not in plan.selection.second for key in keys)
    ids = {run.arm: run_id_of(run.folder.read_header() or {}) for run in runs}
    return {
        run.arm: Subject(
            digest(identity_key(baseline.identity)),
            digest(identity_key(run.identity)),
            Asked(order, first, plan.stage, (ids[baseline.arm], ids[run.arm])),
        )
        for run in candidates
    }


class Ledger:
    """The ledger of one comparison folder."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """What it holds, the oldest first."""
        return self._chain.entries

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read and check the ledger of a comparison folder.

        A last line without an end belongs to a look whose result was never written.

        Raises:
            StoreError: When it cannot be read, or a line does not follow from the one before.
        """
        return cls(Chain.read(folder / LEDGER, _RESTART))

    def history(self, subject: Subject) -> list[PastLook]:
        """Return the earlier looks at these two endpoints."""
        return list(_looks_at(self.entries, subject.baseline, subject.candidate))

    def add(self, comparison: Comparison, subjects: Mapping[str, Subject]) -> None:
        """Write a comparison down, unless the same was decided on the same answers before.

        Args:
            comparison: As it is about to be written.
            subjects: By candidate.

        Raises:
            StoreError: When it cannot be written, or another process has written meanwhile.
        """
        line = _entry(comparison, subjects)
        if not any(content_of(entry) == line for entry in self.entries):
            self._chain = self._chain.add(line)


def foreseen(
    folder: Path, arms: Sequence[str], plan: Plan, policy: Policy, *, fresh: bool
) -> str | None:
    """Say before anything is asked that a comparison will be a look too many.

    It reads names and numbers of prompts alone: identities are not known yet. What decides
    is `decision.looks`, once the answers are there.

    Args:
        folder: Of the comparison.
        arms: Names, the baseline's first.
        plan: What will be asked.
        policy: Its plan of looks.
        fresh: Whether recorded answers will be thrown away.

    Raises:
        StoreError: When the ledger cannot be read.
    """
    baseline, *candidates = arms
    past = [
        entry
        for entry in Ledger.read(folder).entries
        if entry["baseline"]["name"] == baseline
        and any(row["name"] in candidates and row["counts"] for row in entry["candidates"])
    ]
    sizes = {taskset.name: len(taskset.samples) for taskset in plan.tasksets}
    seen = [{name: n for name, (n, _) in entry["prompts"].items()} for entry in past]
    if not past or policy.plan == "sequential" or (sizes in seen and not fresh):
        return None
    if policy.plan == "two-stage" and plan.stage > max(entry["stage"] for entry in past):
        return None
    return (
        f"{folder} holds a look at these endpoints, on other prompts or answers; the plan "
        f"({policy.plan}) allows no further one, and the verdict will be INVALID. "
        "Begin anew in another --output."
    )


def _looks_at(
    entries: tuple[Mapping[str, Any], ...], baseline: str, candidate: str
) -> Iterator[PastLook]:
    for entry in entries:
        if entry["baseline"]["identity"] != baseline:
            continue
        for row in entry["candidates"]:
            if row["identity"] == candidate and row["counts"]:
                prompts = {name: (n, known) for name, (n, known) in entry["prompts"].items()}
                runs = (entry["baseline"]["run"], row["run"])
                planned = "UNPLANNED_LOOK" not in row["codes"]
                yield PastLook(prompts, entry["stage"], runs, planned)


def _entry(comparison: Comparison, subjects: Mapping[str, Subject]) -> dict[str, Any]:
    any_subject = next(iter(subjects.values()))
    return {
        "evalkit": __version__,
        "policy_hash": comparison.policy_hash,
        "plan": comparison.policy["plan"],
        "prompts": {name: list(extent) for name, extent in any_subject.asked.extents().items()},
        "stage": any_subject.asked.stage,
        "baseline": {
            "name": comparison.baseline.endpoint,
            "identity": any_subject.baseline,
            "run": any_subject.asked.runs[0],
        },
        "candidates": [_row(result, subjects[result.endpoint]) for result in comparison.results],
    }


def _row(result: CandidateResult, subject: Subject) -> dict[str, Any]:
    codes = sorted({code.code for code in result.verdict.codes})
    # What was invalid for another reason told nothing: it is no look.
    counts = result.verdict.state is not VerdictState.INVALID or "UNPLANNED_LOOK" in codes
    return {
        "name": result.endpoint,
        "identity": subject.candidate,
        "run": subject.asked.runs[1],
        "pairs": result.pooled.flips.n,
        "verdict": result.verdict.state.value,
        "codes": codes,
        "look": result.look.number if result.look is not None else None,
        "counts": counts,
    }
