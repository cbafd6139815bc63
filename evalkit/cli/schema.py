"""`evalkit schema`: the JSON Schemas of what evalkit reads and writes."""

from __future__ import annotations

import json
from typing import Any

import click

from evalkit.cli.options import JSON

_NAMES = (
    "comparison", "summary", "gate", "performance", "capacity", "routing", "soak",
    "config", "policy",
)  # fmt: skip


@click.command()
@click.argument("name", type=click.Choice(_NAMES))
@JSON
def schema(name: str, as_json: bool) -> None:
    """Print the JSON Schema of NAME.

    comparison: comparison.json. summary: what `compare --json` and `report --json` print.
    gate: what `gate --json` prints. performance: performance.json, which `probe --json` prints
    too. capacity: capacity.json. routing: routing.yaml, of `probe --speculation`. soak: soak.json,
    which `soak --json` prints too. config and
    policy: the files that evalkit reads.
    """
    del as_json  # a schema is JSON either way
    click.echo(json.dumps(_schema(name), indent=2, ensure_ascii=False))


def _schema(name: str) -> dict[str, Any]:
    if name in ("config", "policy"):
        from evalkit.config import Config
        from evalkit.policy import Policy

        return (Config if name == "config" else Policy).model_json_schema()
    from evalkit.report.schema import schema_of

    return schema_of(name)
