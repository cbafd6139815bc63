"""A comparison made again from the scores in its run folders; nothing is asked or scored."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evalkit.collect.journal import open_run
from evalkit.collect.redaction import Redaction
from evalkit.config import Config
from evalkit.decision.pairing import Answer, Key
from evalkit.errors import StoreError
from evalkit.policy import Policy
from evalkit.results import CandidateResult, Comparison, Threat
from evalkit.scoring.store import read_scores
from evalkit.stages.against_change import release_changes, release_confounders
from evalkit.stages.arms import Arm
from evalkit.stages.checking import find_confounders
from evalkit.stages.collecting import CollectedRun, load_run
from evalkit.stages.comparing import Decided, GradedRun, History, decide_arms
from evalkit.stages.ledger import Ledger, subjects_of
from evalkit.stages.places import find_runs
from evalkit.stages.plan import Plan, plan_difference, recorded_plan
from evalkit.stages.redacting import shared_redaction
from evalkit.types import REPEAT_EPOCH

_CLOSE = 1e-6
# What follows from the scores.
_CHECKED = (
    "pooled",
    "families",
    "degenerate",
    "verdict",
    "exclusions",
    "causes",
    "slices",
    "lengths",
    "noise",
    "look",
)
# What an earlier evalkit may not have written.
_SINCE = frozenset({"slices", "lengths", "noise", "look", "transitions"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """The recorded runs of a comparison, the baseline's first, and what they were asked."""

    runs: tuple[GradedRun, ...]
    plan: Plan
    history: Mapping[str, History]


def read_plan(comparison: Comparison, runs: Sequence[Path]) -> Plan:
    """Make the plan again that the runs followed.

    Raises:
        EvalKitError: When a taskset has changed or is not there, the runs differ in theirs, or
            the secret that they were redacted with is not known here.
    """
    allow_code = comparison.settings.get("allow_code") is True
    first, *others = [
        recorded_plan(open_run(run).read_header() or {}, run, allow_code=allow_code) for run in runs
    ]
    if any(plan_difference(first, plan) for plan in others):
        raise StoreError("its runs were asked different things")
    _redaction(comparison, runs, first)
    return first


def read_evidence(
    folder: Path, comparison: Comparison, runs: Sequence[Path], plan: Plan
) -> Evidence:
    """Read answers, scores and looks of a comparison.

    Raises:
        StoreError: When a run is damaged or not scored, or the ledger was changed.
    """
    loaded = [load_run(arm, plan) for arm in _arms(comparison, runs)]
    redaction = _redaction(comparison, runs, plan)
    ledger, subjects = Ledger.read(folder), subjects_of(loaded, plan)
    history = {arm: History(s.asked, ledger.history(s)) for arm, s in subjects.items()}
    return Evidence(tuple(_graded(run, redaction) for run in loaded), plan, history)


def load_evidence(folder: Path, comparison: Comparison) -> Evidence:
    """Read answers, scores and looks of a comparison whose runs must be there.

    Raises:
        EvalKitError: When they are not, cannot be used, or were asked what is not there any more.
    """
    runs = find_runs(comparison, folder, ())
    if runs is None:
        raise StoreError(
            f"{folder} does not hold the runs of its comparison: marks change scores, and the "
            "scores lie in the runs.",
            hint="Keep the runs beside comparison.json, or move review.jsonl away.",
        )
    return read_evidence(folder, comparison, runs, read_plan(comparison, runs))


def judge_again(
    comparison: Comparison, evidence: Evidence, *later: Policy, samples: bool = False
) -> tuple[Comparison, Policy]:
    """Decide again on the recorded scores.

    Args:
        comparison: As it is stored: what depends on no policy is taken from it.
        evidence: Its runs.
        later: Policies that came after the comparison.
        samples: Show those of the evidence, where texts may be shown: they are others than
            those of the comparison.

    Returns:
        The comparison, and the policy that was fixed first.

    Raises:
        StoreError: When the stored policy cannot be read.
    """
    config = Config(
        policy=_policy_of(comparison),
        allow_confounded=comparison.settings.get("allow_confounded") is True,
    )
    baseline, *candidates = evidence.runs
    runs = [graded.run for graded in evidence.runs]
    changes = {} if comparison.against is None else release_changes(runs)
    confounders = release_confounders(runs, changes) if changes else find_confounders(runs)
    decided = decide_arms(
        baseline,
        candidates,
        evidence.plan,
        config,
        confounders,
        against=comparison.against,
        history=evidence.history,
        weak=_weak(comparison),
        later=later,
    )
    own = samples and not comparison.redacted
    return _with(comparison, decided, own_samples=own), decided.policy


def disagreement(stored: Comparison, made: Comparison) -> str | None:
    """Return the first number or verdict that does not follow from the runs, if there is one."""
    return next(_disagreements(stored, made), None)


def _disagreements(stored: Comparison, made: Comparison) -> Iterator[str]:
    for said, found in zip(stored.results, made.results, strict=True):
        yield from _of_candidate(said, found)
    if (stored.exit_code, stored.recommendation) != (made.exit_code, made.recommendation):
        yield f"it says exit code {stored.exit_code}, the runs say {made.exit_code}"


def _of_candidate(said: CandidateResult, found: CandidateResult) -> Iterator[str]:
    if said.verdict.state is not found.verdict.state:
        states = said.verdict.state.value, found.verdict.state.value
        yield f"it says {states[0]} of {said.endpoint}, the runs say {states[1]}"
    for name in _CHECKED:
        old, new = getattr(said, name), getattr(found, name)
        if name in _SINCE and not old:
            continue
        for where, one, other in _differences(old, new, name):
            yield f"{said.endpoint}: {where} is {one}, the runs say {other}"


def _differences(said: Any, found: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the places in which two values differ, with both."""
    if is_dataclass(said) and type(said) is type(found):
        for field in fields(said):
            pair = getattr(said, field.name), getattr(found, field.name)
            if field.name in _SINCE and not pair[0]:
                continue
            yield from _differences(*pair, f"{where}.{field.name}")
    elif isinstance(said, Mapping) and isinstance(found, Mapping):
        for key in sorted({*said, *found}):
            yield from _differences(said.get(key), found.get(key), f"{where}.{key}")
    elif isinstance(said, tuple | list) and isinstance(found, tuple | list):
        if len(said) != len(found):
            yield f"the length of {where}", len(said), len(found)
        for place, pair in enumerate(zip(said, found, strict=False)):
            yield from _differences(*pair, f"{where}.{place}")
    elif isinstance(said, float) and isinstance(found, float):
        if not math.isclose(said, found, rel_tol=_CLOSE, abs_tol=_CLOSE):
            yield where, said, found
    elif said != found:
        yield where, said, found


def _arms(comparison: Comparison, runs: Sequence[Path]) -> list[Arm]:
    infos = (comparison.baseline, *comparison.candidates)
    return [Arm(info.endpoint, recorded=run) for info, run in zip(infos, runs, strict=True)]


def _redaction(comparison: Comparison, runs: Sequence[Path], plan: Plan) -> Redaction | None:
    return shared_redaction(_arms(comparison, runs), plan, Config())


def _graded(run: CollectedRun, redaction: Redaction | None) -> GradedRun:
    scores = {score.fingerprint: score for score in read_scores(run.folder.path)}
    answers: dict[Key, Answer] = {}
    repeats: dict[Key, Answer] = {}
    for completion in run.stream(repeats=True):
        score = scores.get(completion.fingerprint)
        if score is None:
            raise StoreError(
                f"{run.folder.path} holds answers without a score.",
                hint=f"Score it again: evalkit score {run.folder.path}",
            )
        key = (completion.taskset, completion.sample_id, completion.epoch)
        if redaction is not None and run.redaction is None:
            # Prompts of a plain run align with those of a redacted one by its hashes alone.
            completion = redaction.plain_completion(completion, score)
        of = repeats if completion.epoch == REPEAT_EPOCH else answers
        of[key] = Answer(completion, score)
    return GradedRun(run, answers, repeats)


def _policy_of(comparison: Comparison) -> Policy:
    """Return the policy that the comparison was made with.

    Where it came after the run, its numbers are those of the first one and what it changed.
    """
    values: dict[str, Any] = _copied(comparison.policy)
    given = [r for r in comparison.results[0].readings if not r.declared_by and r.changes]
    for reading in given[:1]:
        for key, (_, new) in reading.changes.items():
            _put(values, key.split("."), new)
    try:
        return Policy.model_validate(values)
    except ValidationError:
        raise StoreError(
            "The comparison was made under a policy that this evalkit cannot read.",
            hint="Use the evalkit that wrote it.",
        ) from None


def _copied(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _copied(v) if isinstance(v, Mapping) else v for k, v in values.items()}


def _put(values: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *parents, last = path
    for name in parents:
        values = values.setdefault(name, {})
    if value is None:
        values.pop(last, None)
    else:
        values[last] = value


def _weak(comparison: Comparison) -> tuple[Threat, ...]:
    """Return what was said of the sandbox where the programs ran; this machine runs none."""
    return tuple(t for t in comparison.results[0].threats if t.code == "SANDBOX")


def _with(comparison: Comparison, decided: Decided, *, own_samples: bool) -> Comparison:
    results = decided.results
    if not own_samples:
        results = tuple(
            replace(found, samples=said.samples, samples_left_out=said.samples_left_out)
            for said, found in zip(comparison.results, results, strict=True)
        )
    return replace(
        comparison,
        results=results,
        recommendation=decided.recommendation,
        exit_code=decided.exit_code,
    )
