"""From a comparison folder to its go-live checklist."""

from __future__ import annotations

from evalkit.errors import EvalKitError, ExitCode, NotReleased, StoreError, UsageError
from evalkit.operations.canary import canary_size
from evalkit.operations.engines import engine_of
from evalkit.operations.thresholds import Settings
from evalkit.report.capacity_store import fits_of, load_capacity
from evalkit.report.golive import GoLive
from evalkit.report.text import one_line
from evalkit.results import VerdictState
from evalkit.stages.alerting import Watching, rules_of
from evalkit.stages.measured_beside import soaked


def golive_of(
    subject: Watching,
    engine: str | None,
    settings: Settings,
    *,
    traffic: float | None,
    draft: bool,
) -> GoLive:
    """Return what the checklist of a release is made of.

    Args:
        subject: The candidate that goes live.
        engine: Whose metrics it exports; `None` for as it told.
        settings: Of the alert rules.
        traffic: Requests an hour that can be graded.
        draft: Whether one is made for a candidate that may not be released, too.

    Raises:
        NotReleased: When the verdict is not SHIP; with its exit code.
        UsageError: When the endpoint is the baseline, which is live already.
    """
    comparison, info = subject.comparison, subject.info
    results = {result.endpoint: result for result in comparison.results}
    name = info.endpoint
    if name not in results:
        raise UsageError(
            f"'{one_line(name)}' is the baseline, which is out already.",
            hint="Name the candidate with --arm.",
        )
    result = results[name]
    if result.verdict.state != VerdictState.SHIP and not draft:
        raise NotReleased(
            f"The verdict on '{one_line(name)}' is {result.verdict.state.value}: there is "
            "nothing to go live with.",
            hint="--draft makes a checklist that is marked as none for a release.",
            exit_code=result.verdict.exit_code or ExitCode.INVALID,
        )
    rules, why = None, ""
    try:
        rules = rules_of(subject, engine, settings)
    except EvalKitError as error:
        why = str(error)
    fits = None
    try:
        stored = load_capacity(subject.folder)
        fits = None if stored is None else fits_of(stored, comparison)
    except StoreError:
        # Unreadable is as good as not counted: the checklist says what to do.
        fits = None
    return GoLive(
        comparison=comparison,
        info=info,
        result=result,
        rules=rules,
        no_rules=why,
        canary=canary_size(result),
        fits=fits,
        rollback=subject.rollback,
        earlier=subject.earlier,
        traffic=traffic,
        other_engine=rules is not None and engine_of(rules.measured_on) != rules.engine,
        soaked=soaked(subject.folder, info),
    )
