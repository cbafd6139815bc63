"""MLflow: a run for each arm; those of a comparison hang below one of the comparison."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import orjson

from evalkit.endpoints.urls import mask_target
from evalkit.errors import MissingExtraError, StoreError
from evalkit.export.base import (
    Export,
    ExportRun,
    Verdict,
    reason_without_login,
    run_metrics,
)
from evalkit.export.flat import flat

INSTALL = "pip install 'quant-evalkit[mlflow]'"
COMPLETIONS = "completions.jsonl"
_LONGEST = 500


def write_mlflow(export: Export, uri: str | None, experiment: str) -> list[str]:
    """Log runs to a tracking server or store.

    Args:
        export: What to log.
        uri: The tracking URI, e.g. `sqlite:///FILE` or that of a server; `None`: as MLflow's own
            environment says.
        experiment: Is made when it is not there.

    Returns:
        The ids of MLflow's runs, the comparison's first.

    Raises:
        MissingExtraError: When MLflow is not installed.
        StoreError: When it refuses, or cannot be reached.
    """
    try:
        import mlflow
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise MissingExtraError("MLflow", INSTALL) from error
    try:
        client = mlflow.MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(experiment)
        place = client.create_experiment(experiment) if found is None else found.experiment_id
        return _Logger(client, place).log(export)
    except (MlflowException, OSError) as error:
        where = mask_target(uri) if uri else "its tracking URI"
        reason = reason_without_login(error)
        raise StoreError(f"MLflow at {where} does not take the runs: {reason}") from error


class _Logger:
    def __init__(self, client: Any, experiment: str) -> None:
        self._client = client
        self._experiment = experiment

    def log(self, export: Export) -> list[str]:
        if not export.verdicts:
            return [self._run(run) for run in export.runs]
        created = min(run.created for run in export.runs)
        parent = self._begin(export.name, int(created.timestamp() * 1000), {})
        for verdict in export.verdicts:
            self._client.set_tag(parent, f"evalkit.verdict.{verdict.candidate}", verdict.state)
        for path in export.files:
            if path.is_file():
                self._client.log_artifact(parent, str(path))
        verdicts = {verdict.candidate: verdict for verdict in export.verdicts}
        children = [self._run(run, parent, verdicts.get(run.name)) for run in export.runs]
        self._client.set_terminated(parent)
        return [parent, *children]

    def _run(
        self, run: ExportRun, parent: str | None = None, verdict: Verdict | None = None
    ) -> str:
        tags = {} if parent is None else {"mlflow.parentRunId": parent}
        if verdict is not None:
            tags |= {"evalkit.verdict": verdict.state, "evalkit.sentence": verdict.sentence}
        id = self._begin(run.name, int(run.created.timestamp() * 1000), tags)
        for key, value in run.facts().items():
            self._client.log_param(id, key, str(value)[:_LONGEST])
        numbers = {**run_metrics(run), **({} if verdict is None else verdict.metrics)}
        for key, number in numbers.items():
            self._client.log_metric(id, key, number)
        with tempfile.TemporaryDirectory(prefix="evalkit-") as folder:
            path = Path(folder) / COMPLETIONS
            with path.open("wb") as file:
                for row in run.rows():
                    file.write(orjson.dumps(flat(run, row), option=orjson.OPT_APPEND_NEWLINE))
            self._client.log_artifact(id, str(path))
        self._client.set_terminated(id)
        return id

    def _begin(self, name: str, started: int, tags: dict[str, str]) -> str:
        run = self._client.create_run(
            self._experiment, start_time=started, tags={"evalkit": "1", **tags}, run_name=name
        )
        return str(run.info.run_id)
