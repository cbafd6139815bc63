"""Before the first token is spent: can each endpoint be used, and do they compare?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from evalkit.collect.preflight import Finding, Preflight, compare_identities
from evalkit.config import Config
from evalkit.endpoints.base import parse_endpoint
from evalkit.errors import InvalidComparison
from evalkit.results import ReasonCode
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.collecting import CollectedRun, OnStage, check_arm
from evalkit.types import Identity


class Checks:
    """The preflights of a comparison, as they come: two servers need not be up at once."""

    def __init__(self, baseline: str, config: Config) -> None:
        self._baseline = baseline
        self._allowed = config.allow_confounded
        self._found: dict[str, Preflight] = {}

    def add(self, name: str, found: Preflight) -> None:
        """Take note of one; the baseline's is compared with every other.

        Raises:
            InvalidComparison: When it fails, or two do not compare.
        """
        failed = [f for f in found.findings if f.status == "failed"]
        if failed and not self._allowed:
            raise InvalidComparison(
                f"Endpoint '{name}' fails the preflight: {failed[0].message}",
                hint="Mend it, or go on all the same with --allow-confounded.",
            )
        self._found[name] = found
        baseline = self._found.get(self._baseline)
        if baseline is None or self._allowed:
            return
        for other in self._found if name == self._baseline else [name]:
            if other != self._baseline:
                _refuse_confounded(self._baseline, baseline, other, self._found[other])


async def check_all(
    arms: Sequence[Arm], config: Config, on_stage: OnStage, stop: asyncio.Event
) -> Checks:
    """Fail before the first token is spent: an endpoint is unusable, or two do not compare.

    A server that evalkit starts is checked later, when it is up to be asked; only its
    configuration is checked here.

    Returns:
        What was found; the checks of started servers are to be added.
    """
    checks = Checks(arms[0].name, config)
    for arm in arms:
        if arm.raw is not None:
            parse_endpoint(arm.name, arm.raw, endpoint_options(config, None, on_stage))
    for arm in arms:
        if arm.raw is not None and not arm.launched:
            on_stage(f"checking {arm.name}")
            checks.add(arm.name, await check_arm(arm, config, on_stage, stop))
    return checks


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
