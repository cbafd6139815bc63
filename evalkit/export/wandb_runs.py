"""Weights & Biases: a run for each arm, with its rows as a table; a comparison is a group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalkit.errors import MissingExtraError, StoreError
from evalkit.export.base import Export, ExportRun, Verdict, reason_without_login, run_metrics
from evalkit.export.flat import COLUMNS, flat
from evalkit.fingerprint import canonical

INSTALL = "pip install 'quant-evalkit[wandb]'"


def write_wandb(export: Export, folder: Path | None, project: str) -> list[str]:
    """Log runs; `WANDB_MODE=offline` writes them to a folder alone.

    Args:
        export: What to log.
        folder: Where W&B keeps its files; `None`: as its own environment says.
        project: Of W&B.

    Returns:
        The ids of W&B's runs.

    Raises:
        MissingExtraError: When wandb is not installed.
        StoreError: When it refuses, or cannot be reached.
    """
    try:
        import wandb
    except ImportError as error:
        raise MissingExtraError("Weights & Biases", INSTALL) from error
    verdicts = {verdict.candidate: verdict for verdict in export.verdicts}
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        return [
            _log(wandb, export, run, verdicts.get(run.name), folder, project) for run in export.runs
        ]
    except (wandb.errors.Error, OSError) as error:
        reason = reason_without_login(error)
        raise StoreError(
            f"Weights & Biases does not take the runs: {reason}",
            hint="Log in by wandb login, or set WANDB_MODE=offline.",
        ) from error


def _log(
    wandb: Any,
    export: Export,
    run: ExportRun,
    verdict: Verdict | None,
    folder: Path | None,
    project: str,
) -> str:
    # Words of the command line, the console and this machine are none of W&B's business.
    quiet = wandb.Settings(
        console="off", silent=True, save_code=False, disable_git=True,
        x_disable_meta=True, x_disable_stats=True, host="",
    )  # fmt: skip
    tags = [] if verdict is None else [verdict.state]
    with wandb.init(
        project=project,
        name=run.name,
        group=export.name if export.verdicts else None,
        job_type="candidate" if verdict is not None else "evaluation",
        config=run.facts(),
        tags=tags,
        dir=None if folder is None else str(folder),
        settings=quiet,
        reinit="create_new",
    ) as logged:
        numbers = {**run_metrics(run), **({} if verdict is None else verdict.metrics)}
        logged.summary.update(numbers)
        if verdict is not None:
            logged.summary.update({"verdict": verdict.state, "sentence": verdict.sentence})
        table = wandb.Table(columns=list(COLUMNS))
        for row in run.rows():
            table.add_data(*(_cell(value) for value in flat(run, row).values()))
        logged.log({"completions": table})
        if verdict is not None and export.files:
            artifact = wandb.Artifact(export.name, type="evalkit-comparison")
            for path in export.files:
                if path.is_file():
                    artifact.add_file(str(path))
            logged.log_artifact(artifact)
        return str(logged.id)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return canonical(value)
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
