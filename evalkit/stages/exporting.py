"""From a run folder, or a comparison's, to what the formats of others are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from evalkit.collect.journal import is_run_folder, open_run
from evalkit.errors import StoreError, UsageError
from evalkit.export.base import Export, ExportRun, Row, Verdict
from evalkit.report.store import COMPARISON_FILE
from evalkit.report.summary import summary
from evalkit.report.summary_types import CandidateBody, NumberBody
from evalkit.report.view import build_view
from evalkit.scoring.store import SCORES, read_scores
from evalkit.stages.arms import Arm
from evalkit.stages.collecting import CollectedRun, load_run
from evalkit.stages.places import find_runs
from evalkit.stages.plan import Plan, recorded_plan
from evalkit.stages.stored import load_sound
from evalkit.stages.writing import HTML, MARKDOWN
from evalkit.types import REPEAT_EPOCH

FORMATS: Final = ("lm-eval", "parquet", "mlflow", "wandb")


def load_export(folder: Path) -> Export:
    """Read a run, or a comparison with all its runs.

    Raises:
        UsageError: When the folder is neither.
        StoreError: When it cannot be read, a run is not scored or not there, or its tasksets
            have changed since.
    """
    if is_run_folder(folder):
        run = _load_run(folder)
        return Export(run.name, (run,))
    if not (folder / COMPARISON_FILE).is_file():
        raise UsageError(
            f"'{folder}' is neither a run folder nor a comparison.",
            hint="Name a folder with header.json or with comparison.json.",
        )
    comparison = load_sound(folder)
    places = find_runs(comparison, folder, ())
    if places is None:
        raise StoreError(
            f"'{folder}' does not hold the runs that it compares.",
            hint="Put them into runs/, or export the run folders one by one.",
        )
    arms = (comparison.baseline, *comparison.candidates)
    runs = tuple(_load_run(place, arm.endpoint) for place, arm in zip(places, arms, strict=True))
    body = summary(build_view(comparison, "en"))
    files = [folder / name for name in (COMPARISON_FILE, HTML, MARKDOWN)]
    if any(run.redacted for run in runs) and not comparison.redacted:
        # Then the report tells what the run was not to tell.
        files = []
    return Export(
        folder.resolve().name,
        runs,
        tuple(_verdict(candidate) for candidate in body["candidates"]),
        tuple(file for file in files if file.is_file()),
    )


def export_to(export: Export, kind: str, output: str | None, project: str | None) -> dict[str, Any]:
    """Write an export in a format.

    Args:
        export: What to write.
        kind: One of `FORMATS`.
        output: A file, a folder or a tracking URI; the default depends on the format.
        project: MLflow's experiment or W&B's project.

    Returns:
        What was made, for people and programs.

    Raises:
        MissingExtraError: When a package is not installed.
        StoreError: When it cannot be written.
    """
    if kind == "lm-eval":
        from evalkit.export.lm_eval import write_lm_eval

        made = write_lm_eval(export, Path(output or f"{export.name}-lm-eval"))
        return {"format": kind, "folders": [str(folder) for folder in made]}
    if kind == "parquet":
        from evalkit.export.parquet import write_parquet

        path = Path(output or f"{export.name}.parquet")
        return {"format": kind, "rows": write_parquet(export, path), "file": str(path)}
    if kind == "mlflow":
        from evalkit.export.mlflow_runs import write_mlflow

        name = project or "evalkit"
        return {"format": kind, "experiment": name, "runs": write_mlflow(export, output, name)}
    from evalkit.export.wandb_runs import write_wandb

    name = project or "evalkit"
    place = None if output is None else Path(output)
    return {"format": kind, "project": name, "runs": write_wandb(export, place, name)}


def _load_run(folder: Path, name: str | None = None) -> ExportRun:
    header = open_run(folder).read_header() or {}
    plan = recorded_plan(header, folder, allow_code=True)
    found = name or header.get("endpoint", {}).get("name") or folder.resolve().name
    run = load_run(Arm(str(found), recorded=folder), plan)
    if not (folder / SCORES).is_file():
        raise StoreError(f"{folder} is not scored yet.", hint=f"Score it: evalkit score {folder}")
    return ExportRun(
        name=run.arm,
        label=run.label,
        run_id=str(header.get("run_id", "")),
        created=_created(header),
        identity=run.identity,
        tasksets=plan.tasksets,
        sampling={taskset.name: plan.sampling_for(taskset) for taskset in plan.tasksets},
        seed=plan.seed,
        epochs=plan.epochs,
        versions={str(k): str(v) for k, v in dict(header.get("versions") or {}).items()},
        redacted=run.redaction is not None,
        rows=_rows(run, plan, folder),
    )


def _rows(run: CollectedRun, plan: Plan, folder: Path) -> Callable[[], Iterator[Row]]:
    return partial(_read_rows, run, plan, folder)


def _read_rows(run: CollectedRun, plan: Plan, folder: Path) -> Iterator[Row]:
    """Yield what was asked and came to an end; not what was asked a second time (A/A)."""
    scores = {(score.taskset, score.fingerprint): score for score in read_scores(folder)}
    samples = plan.samples()
    for completion in run.stream():
        if completion.epoch == REPEAT_EPOCH:
            continue
        score = scores.get((completion.taskset, completion.fingerprint))
        if score is None:
            raise StoreError(
                f"{folder} holds answers without a score.",
                hint=f"Score it again: evalkit score {folder}",
            )
        sample = samples[completion.taskset, completion.sample_id]
        yield Row(sample, completion, score, run.redaction is not None)


def _created(header: Mapping[str, Any]) -> datetime:
    try:
        when = datetime.fromisoformat(str(header.get("created")))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _verdict(candidate: CandidateBody) -> Verdict:
    metrics: dict[str, float] = {}
    for scope, row in candidate["scopes"].items():
        metrics |= {f"regressions/{scope}": row["regressions"],
                    f"improvements/{scope}": row["improvements"]}  # fmt: skip
        numbers: dict[str, NumberBody] = {"difference": row["difference"],
                                          "recovery": row["recovery"]}  # fmt: skip
        for name, number in numbers.items():
            parts = {"": number["value"], "/low": number["low"], "/high": number["high"]}
            metrics |= {
                f"{name}/{scope}{part}": value for part, value in parts.items() if value is not None
            }
    return Verdict(candidate["endpoint"], candidate["verdict"], candidate["sentence"], metrics)
