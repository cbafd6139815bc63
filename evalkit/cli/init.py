"""`evalkit init`: a commented configuration to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalkit.cli.options import JSON
from evalkit.errors import UsageError

_TEMPLATE = Path(__file__).with_name("evalkit.yaml")


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path("evalkit.yaml"))
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option("--schema", is_flag=True, help="Print the configuration's JSON Schema instead.")
@JSON
def init(path: Path, force: bool, schema: bool, as_json: bool) -> None:
    """Write a commented configuration to PATH (default: evalkit.yaml)."""
    if schema:
        from evalkit.config import Config

        click.echo(json.dumps(Config.model_json_schema(), indent=2))
        return
    if path.exists() and not force:
        raise UsageError(f"'{path}' is there already.", hint="Use --force to replace it.")
    try:
        path.write_text(_TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}.") from None
    if as_json:
        click.echo(json.dumps({"path": str(path)}))
    else:
        click.echo(f"Wrote {path}. Then: evalkit compare -c {path}")
