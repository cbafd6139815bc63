"""Before the first token is spent: can each endpoint be used, and do they compare?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit.collect.preflight import Finding, Preflight, compare_identities
from evalkit.config import Config
from evalkit.errors import InvalidComparison
from evalkit.results import ReasonCode
from evalkit.stages.arms import Arm
from evalkit.stages.collecting import CollectedRun, OnStage, check_arm
from evalkit.types import Identity


async def check_all(arms: Sequence[Arm], config: Config, on_stage: OnStage) -> None:
    """Fail before the first token is spent: an endpoint is unusable, or two do not compare."""
    found: dict[str, Preflight] = {}
    for arm in arms:
        if arm.raw is not None:
            on_stage(f"checking {arm.name}")
            found[arm.name] = await check_arm(arm, config, on_stage)
            failed = [f for f in found[arm.name].findings if f.status == "failed"]
            if failed and not config.allow_confounded:
                raise InvalidComparison(
                    f"Endpoint '{arm.name}' fails the preflight: {failed[0].message}",
                    hint="Mend it, or go on all the same with --allow-confounded.",
                )
    baseline = found.get(arms[0].name)
    if baseline is not None and not config.allow_confounded:
        for name, preflight in found.items():
            if preflight is not baseline:
                _refuse_confounded(arms[0].name, baseline, name, preflight)


def _differing(a: Identity, b: Identity) -> list[Finding]:
    return [finding for finding in compare_identities(a, b) if finding.status == "differs"]


def _refuse_confounded(one: str, a: Preflight, other: str, b: Preflight) -> None:
    differing = _differing(a.identity, b.identity)
    if differing:
        raise InvalidComparison(
            f"'{one}' and '{other}' cannot be compared: {' '.join(f.message for f in differing)}",
            hint="Mend it, or decide all the same with --allow-confounded.",
        )


def find_confounders(runs: Sequence[CollectedRun]) -> Mapping[str, list[ReasonCode]]:
    """Return, for each candidate, what its identity says against comparing it."""
    baseline = runs[0]
    return {
        run.arm: [
            ReasonCode(
                "SAME_ENDPOINT" if finding.code == "distinct" else "CONFIG_MISMATCH",
                values={"finding": finding.code, "message": finding.message},
            )
            for finding in _differing(baseline.identity, run.identity)
        ]
        for run in runs[1:]
    }
