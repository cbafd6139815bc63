"""`evalkit export`: a run or a comparison in the formats of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import click

_FORMATS = ("lm-eval", "parquet", "mlflow", "wandb")


@click.command()
@click.argument("folder", metavar="RUN_OR_COMPARISON", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "kind",
    type=click.Choice(_FORMATS),
    required=True,
    help="lm-eval: its folder of samples and results. parquet: one typed row a request. mlflow, "
    "wandb: runs of a tracker.",
)
@click.option(
    "-o",
    "--output",
    metavar="PLACE",
    help="Folder (lm-eval, wandb), file (parquet) or tracking URI (mlflow, e.g. "
    "sqlite:///mlflow.db). Default: NAME-lm-eval, NAME.parquet, the tracker's own setting.",
)
@click.option("--project", metavar="NAME", help="Experiment or project; default: evalkit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export(folder: Path, kind: str, output: str | None, project: str | None, as_json: bool) -> None:
    """Hand a scored run, or every run of a comparison, to another tool.

    Nothing is asked and nothing scored. Requests without an answer stay missing; of a redacted
    run no text goes out. Keys and commands are never in it.
    """
    from evalkit.stages.exporting import export_to, load_export

    made = export_to(load_export(folder), kind, output, project)
    if as_json:
        click.echo(json.dumps(made, ensure_ascii=False, indent=2))
        return
    for name, value in made.items():
        told = ", ".join(map(str, value)) if isinstance(value, list) else value
        click.echo(f"{name}: {told}")
