"""Before the first token is spent: can each endpoint be used, and do they compare?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalkit.collect.preflight import Finding, ProbeRecord, compare_identities, compare_records
from evalkit.config import Config
from evalkit.endpoints.base import parse_endpoint
from evalkit.errors import InvalidComparison, StoreError
from evalkit.report.text import one_line
from evalkit.results import ReasonCode
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.plan import Plan
from evalkit.stages.probing import OnStage, check_arm
from evalkit.stages.recording_notes import log_confounders

_CODES = {
    "distinct": "SAME_ENDPOINT",
    "same_answers": "SAME_ENDPOINT",
    "quantized": "NOT_QUANTIZED",
    "quantization": "NOT_QUANTIZED",
}
_MOST_NAMED = 3


class Checks:
    """The preflights of a comparison, as they come: two servers need not be up at once.

    Attributes:
        records: By the arm's name; recorded runs have none here.
    """

    def __init__(self, baseline: str, config: Config) -> None:
        self._baseline = baseline
        self._config = config
        self.records: dict[str, ProbeRecord] = {}

    @property
    def omitted(self) -> tuple[str, ...]:
        """Sampling fields that some arm refuses, as far as they were asked."""
        return tuple(sorted({f for record in self.records.values() for f in record.refused}))

    def add(self, name: str, record: ProbeRecord) -> None:
        """Take note of one; the baseline's is compared with every other.

        Raises:
            InvalidComparison: When it fails, or two do not compare, unless that is allowed.
        """
        require_sound(record, self._config)
        self.records[name] = record
        baseline = self.records.get(self._baseline)
        if baseline is None:
            return
        for other in self.records if name == self._baseline else [name]:
            if other != self._baseline:
                require_comparable(baseline, self.records[other], self._config)


async def check_all(
    arms: Sequence[Arm], plan: Plan, config: Config, on_stage: OnStage, stop: asyncio.Event
) -> Checks:
    """Fail before the first token is spent: an endpoint is unusable, or two do not compare.

    A server that evalkit starts is checked later, when it is up to be asked; only its
    configuration is checked here.

    Returns:
        What was found; the checks of started servers are to be added.

    Raises:
        InvalidComparison: Unless it is allowed.
        EndpointError: When an endpoint cannot be reached or does not answer.
    """
    checks = Checks(arms[0].name, config)
    for arm in arms:
        if arm.raw is not None:
            parse_endpoint(arm.name, arm.raw, endpoint_options(config, None, on_stage))
    for arm in arms:
        if arm.raw is not None and not arm.launched:
            on_stage(f"checking {arm.name}")
            checks.add(arm.name, await check_arm(arm, config, on_stage, stop, plan))
    return checks


def require_sound(record: ProbeRecord, config: Config) -> None:
    """Refuse an endpoint that fails a check of its own.

    Raises:
        InvalidComparison: Unless it is allowed.
    """
    if record.bad and not config.allow_confounded:
        told = record.without_texts() if config.redact else record
        raise InvalidComparison(
            f"Endpoint '{record.name}' fails the preflight: {said(told.bad)}",
            hint="Mend it, or go on all the same with --allow-confounded.",
        )


def require_comparable(baseline: ProbeRecord, record: ProbeRecord, config: Config) -> None:
    """Refuse two endpoints that differ in more than the quantization, or in nothing.

    Raises:
        InvalidComparison: Unless it is allowed.
    """
    differing = [finding for finding in compare_records(baseline, record) if finding.bad]
    if differing and not config.allow_confounded:
        raise InvalidComparison(
            f"'{baseline.name}' and '{record.name}' cannot be compared: {said(differing)}",
            hint="Mend it, or decide all the same with --allow-confounded.",
        )


def leave_out(arms: Sequence[Arm], fields: Sequence[str]) -> tuple[Arm, ...]:
    """Return arms that do not send some sampling fields; a local engine refuses none."""
    if not fields:
        return tuple(arms)
    return tuple(
        arm
        if arm.raw is None or (arm.raw.get("kind") == "local" and not arm.launched)
        else replace(arm, raw={**arm.raw, "omit": sorted({*arm.raw.get("omit", ()), *fields})})
        for arm in arms
    )


def find_confounders(runs: Sequence[CollectedRun]) -> Mapping[str, list[ReasonCode]]:
    """Return, for each candidate, what was found against comparing it with the baseline."""
    baseline = runs[0]
    return {run.arm: [*_own(baseline), *_own(run), *_between(baseline, run)] for run in runs[1:]}


def _own(run: CollectedRun) -> list[ReasonCode]:
    found = [] if run.record is None else list(run.record.bad)
    codes = [_code(finding, "PREFLIGHT_FAILED", run.arm) for finding in found]
    if run.changed:
        codes.append(ReasonCode("IDENTITY_CHANGED", values={"message": run.changed}))
    return codes


def _between(baseline: CollectedRun, run: CollectedRun) -> list[ReasonCode]:
    if baseline.log is not None and run.log is not None:
        hashes = baseline.identity.recording_hash, run.identity.recording_hash
        return log_confounders(baseline.log, run.log, hashes)
    if baseline.log is not None or run.log is not None:
        # All that a log does not tell is said as a threat.
        return []
    findings = _recorded_findings(baseline, run)
    codes = [_code(finding, "CONFIG_MISMATCH") for finding in findings if finding.bad]
    if baseline.omitted != run.omitted:
        names = sorted({*baseline.omitted} ^ {*run.omitted})
        message = f"Only one was sent {', '.join(names)}."
        values = {"finding": "omitted", "message": message}
        codes.append(ReasonCode("CONFIG_MISMATCH", values=values))
    return codes


def _recorded_findings(baseline: CollectedRun, run: CollectedRun) -> list[Finding]:
    if baseline.record is None or run.record is None:
        return compare_identities(baseline.identity, run.identity)
    try:
        return compare_records(baseline.record, run.record)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        folders = f"{baseline.folder.path} or {run.folder.path}"
        raise StoreError(
            f"What the preflight saw cannot be read: the header of {folders} is damaged.",
            hint="Ask those endpoints again, with --fresh.",
        ) from None


def _code(finding: Finding, other: str, arm: str | None = None) -> ReasonCode:
    values = {"finding": finding.code, "message": finding.message}
    if arm is not None:
        values["endpoint"] = arm
    return ReasonCode(_CODES.get(finding.code, other), values=values)


def said(findings: Sequence[Finding]) -> str:
    """Return the first findings in words, and how many more there are."""
    rest = len(findings) - _MOST_NAMED
    more = f" ({rest} more: see evalkit check)" if rest > 0 else ""
    return " ".join(one_line(finding.message) for finding in findings[:_MOST_NAMED]) + more
