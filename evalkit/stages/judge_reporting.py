"""What a comparison tells of the judge that decided a part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evalkit.decision.pairing import Answer, Key
from evalkit.errors import StoreError
from evalkit.fingerprint import identity_key
from evalkit.results import JudgeInfo, Threat
from evalkit.scoring.judge import Rulings, failures
from evalkit.stages.judge_folders import Judged, read_judged
from evalkit.stats.rates import wilson
from evalkit.types import Identity, Taskset


def shared_judge(runs: Sequence[Path], tasksets: Sequence[Taskset]) -> dict[str, Judged]:
    """Return the judge of each taskset that one decides, the same in all runs.

    Raises:
        StoreError: When another decides in another run: their scores are no pairs.
    """
    found = [_judged(run, tasksets) for run in runs]
    for run, judged in zip(runs, found, strict=True):
        for name in sorted({*found[0], *judged}):
            one, other = found[0].get(name), judged.get(name)
            if (one and one.mark) != (other and other.mark):
                raise StoreError(
                    f"'{name}' is decided by {_who(one)} in {runs[0]} and by {_who(other)} in "
                    f"{run}.",
                    hint="Name one judge for both with --judge, or rules with --judge none.",
                )
    return found[0] if found else {}


def marks(judged: Mapping[str, Judged]) -> dict[str, str]:
    """Return the mark of the judge of each taskset that one decides."""
    return {name: judge.mark for name, judge in judged.items()}


def judge_info(
    judged: Mapping[str, Judged],
    runs: Mapping[str, tuple[Path, Identity, Mapping[Key, Answer]]],
) -> JudgeInfo | None:
    """Describe the judge for readers.

    Args:
        judged: Of `shared_judge`.
        runs: By the name of the arm: its folder, what it is, and its scored answers.

    Raises:
        StoreError: When a journal cannot be read.
    """
    if not judged:
        return None
    judge = next(iter(judged.values()))
    header, identity = judge.header, judge.identity
    found = [read_judged(folder) for folder, _, _ in runs.values()]
    rulings = [one.rulings for one in found if one is not None]
    every = Rulings(
        {key: ruling for part in rulings for key, ruling in part.by_key.items()},
        {key: ruling for part in rulings for key, ruling in part.turned.items()},
    )
    agreed, asked_twice = every.agreement()
    endpoint = header.get("endpoint", {})
    return JudgeInfo(
        endpoint=str(endpoint.get("name", "")),
        label=str(endpoint.get("label", "")),
        identity=asdict(identity),
        mark=judge.mark,
        rubric=judge.rubric.name,
        rubric_version=judge.rubric.version,
        rubric_hash=judge.rubric.hash,
        sampling=dict(header.get("sampling", {}).get("judge", {})),
        tasksets=tuple(sorted(judged)),
        answers=len(every.by_key),
        agreement=wilson(agreed, asked_twice) if asked_twice else None,
        failures={
            arm: failures(answer.score.reason for answer in answers.values())
            for arm, (_, _, answers) in runs.items()
        },
        judges_itself=tuple(
            arm for arm, (_, who, _) in runs.items() if identity_key(who) == identity_key(identity)
        ),
    )


def judge_threats(
    info: JudgeInfo | None, baseline: str, candidate: str, later: Sequence[str]
) -> tuple[Threat, ...]:
    """Say on the first screen that a model judged, and where it failed."""
    if info is None:
        return ()
    lost = {arm: sum(info.failures.get(arm, {}).values()) for arm in (baseline, candidate)}
    values: dict[str, Any] = {
        "judge": info.endpoint,
        "tasksets": list(info.tasksets),
        "rubric": f"{info.rubric} v{info.rubric_version}",
        "hash": info.rubric_hash[:12],
        "lost": {arm: lost[arm] for arm in (baseline, candidate)},
    }
    if info.agreement is not None:
        values["share"] = info.agreement.value
        values["twice"] = info.agreement.n
    found = [Threat("JUDGE", "warn", values)]
    if later:
        found.append(Threat("CALIBRATED_LATER", "warn", {"tasksets": list(later)}))
    for arm in (baseline, candidate):
        if arm in info.judges_itself:
            found.append(Threat("JUDGES_ITSELF", "fail", {"judge": info.endpoint, "endpoint": arm}))
    return tuple(found)


def _judged(run: Path, tasksets: Sequence[Taskset]) -> dict[str, Judged]:
    judged = read_judged(run)
    if judged is None:
        return {}
    names = {taskset.name for taskset in tasksets}
    return {name: judged for name in judged.tasksets if name in names}


def _who(judged: Judged | None) -> str:
    return "rules" if judged is None else f"a judge ({judged.folder.path.name})"
