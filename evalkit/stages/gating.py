"""The gate: a comparison folder, read again and judged, without asking or scoring anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalkit.errors import EvalKitError, StoreError
from evalkit.policy import Policy
from evalkit.report.store import COMPARISON_FILE
from evalkit.report.text import one_line
from evalkit.results import Comparison, VerdictState
from evalkit.stages.ledger import Ledger
from evalkit.stages.marks import read_marks
from evalkit.stages.stored import changed, load_sound


@dataclass(frozen=True, slots=True)
class Gated:
    """One comparison folder, judged.

    Attributes:
        folder: As it was named.
        comparison: Under the policy that gates.
        checked: What its verdict was made again from: its runs, or its own numbers alone.
        note: Why its runs were not used; empty when they were.
    """

    folder: Path
    comparison: Comparison
    checked: Literal["runs", "comparison"]
    note: str = ""


def gate_folder(folder: Path, policy: Policy | None = None, runs: Sequence[Path] = ()) -> Gated:
    """Judge one comparison folder.

    Where the run folders are there, everything is decided again on their scores. Otherwise
    the rule is applied to the numbers of the comparison, and the ledger must know its
    verdict.

    Args:
        folder: With `comparison.json`, or that file.
        policy: Another than that of the comparison; it can only take a SHIP away.
        runs: Further folders that may hold the runs, by the arms' names.

    Raises:
        StoreError: When it is missing, damaged, of a newer evalkit, or says what does not
            follow from the scores; or when another policy needs runs that are not there.
    """
    stored = load_sound(folder)
    home = folder if folder.is_dir() else folder.parent
    file = home / COMPARISON_FILE if folder.is_dir() else folder
    # The statistics are slow to import, and a comparison alone does not need them.
    same = policy is None or policy.fingerprint == stored.policy_hash
    # A later policy can only take a SHIP away.
    open_to_it = any(r.verdict.state is VerdictState.SHIP for r in stored.results)
    known, problem = _made_again(home, file, stored, runs, None if same else policy)
    if known is not None:
        return Gated(folder, known, "runs")
    if open_to_it and read_marks(home):
        raise StoreError(
            f"'{folder}' holds marks of reviewers, which change scores: {problem}.",
            hint="Keep runs/ beside comparison.json, or say with --runs where they are.",
        )
    if not same and open_to_it:
        raise StoreError(
            f"'{folder}' cannot be judged under another policy: {problem}.",
            hint="Keep runs/ beside comparison.json, or say with --runs where they are.",
        )
    _check_ledger(home, file, stored)
    return Gated(folder, stored, "comparison", problem)


def _made_again(
    home: Path, file: Path, stored: Comparison, places: Sequence[Path], later: Policy | None
) -> tuple[Comparison | None, str]:
    """Return the comparison as the runs give it; otherwise why they cannot."""
    from evalkit.stages.places import find_runs
    from evalkit.stages.rejudging import disagreement, judge_again, read_evidence, read_plan
    from evalkit.stages.reviewing import with_marks

    found = find_runs(stored, home, places)
    if found is None:
        return None, "its run folders are not there"
    try:
        plan = read_plan(stored, found)
    except EvalKitError as error:
        # The prompts are not those of then, or not on this machine: that is no fault of the runs.
        return None, one_line(error.message).rstrip(".")
    evidence = read_evidence(home, stored, found, plan)
    made, fixed_first = judge_again(stored, evidence)
    if fixed_first.fingerprint != stored.policy_hash:
        raise changed(file, "its policy is not the one that the runs were made under", stored)
    wrong = disagreement(stored, made)
    if wrong is not None:
        raise changed(file, wrong, stored)
    policies = () if later is None else (later,)
    judged = judge_again(stored, evidence, *policies)[0] if policies else stored
    marks = read_marks(home)
    return with_marks(judged, evidence, marks, *policies) if marks else judged, ""


def _check_ledger(home: Path, file: Path, stored: Comparison) -> None:
    """Check that a look of the folder ended as the comparison says."""
    entries = Ledger.read(home).entries
    said = [
        (
            r.endpoint,
            r.pooled.flips.n,
            r.verdict.state.value,
            sorted({c.code for c in r.verdict.codes}),
        )
        for r in stored.results
    ]
    looks = [
        [(row["name"], row["pairs"], row["verdict"], row["codes"]) for row in entry["candidates"]]
        for entry in entries
    ]
    if entries and said not in looks:
        raise changed(file, "the ledger of the folder knows no such verdict", stored)
