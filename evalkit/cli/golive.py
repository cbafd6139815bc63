"""`evalkit golive`: the one-page checklist of a release."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from evalkit.cli.alerts import watch_options, watch_settings
from evalkit.cli.options import JSON, LANG, Folder
from evalkit.errors import UsageError

_TRAFFIC = re.compile(r"(?P<number>[0-9]{1,12}(\.[0-9]{1,6})?)\s*(/\s*(?P<unit>[smhd]))?")
_AN_HOUR = {"s": 3600.0, "m": 60.0, "h": 1.0, "d": 1 / 24}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--traffic", metavar="N[/h]",
    help="Requests an hour (or /s, /m, /d) that can be graded: tells the canary's share.",
)  # fmt: skip
@click.option(
    "--draft", is_flag=True,
    help="Also where the verdict is not SHIP: marked as not for release.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=Folder(path_type=Path), metavar="DIR",
    help="Where golive.html and golive.md are written. Default: FOLDER.",
)  # fmt: skip
@watch_options
@LANG
@JSON
def golive(
    folder: Path,
    traffic: str | None,
    draft: bool,
    output: Path | None,
    arm: str | None,
    engine: str | None,
    history: Path | None,
    lang: str,
    as_json: bool,
    **told: Any,
) -> None:
    """Write the go-live checklist of the release that FOLDER's comparison lets through.

    One page: what to serve, how large a canary must be and when to go back, the limits of
    `evalkit alerts`, and what to roll back to, all with the figures of this comparison. What
    was not measured stands in it as something to do. Where the verdict is not SHIP there is
    none, and the exit code is that of the verdict.
    """
    from evalkit.cli.stats import as_plain
    from evalkit.report.golive import build_golive
    from evalkit.report.golive_page import render_golive_markdown, render_golive_page
    from evalkit.stages.alerting import watching
    from evalkit.stages.golive import golive_of
    from evalkit.stages.writing import write_text

    settings = watch_settings(**told)
    an_hour = None if traffic is None else _traffic(traffic)
    subject = watching(folder, arm, history, going_live=True)
    found = golive_of(subject, engine, settings, traffic=an_hour, draft=draft)
    view = build_golive(found, lang)
    place = output or folder
    text = render_golive_markdown(view)
    paths = {"html": place / "golive.html", "markdown": place / "golive.md"}
    write_text(paths["html"], render_golive_page(view))
    write_text(paths["markdown"], text)
    if as_json:
        body = as_plain(view)
        del body["ui"]
        body["paths"] = {key: str(path) for key, path in paths.items()}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return
    click.echo(text)
    for path in paths.values():
        click.echo(f"Written to {path}", err=True)


def _traffic(text: str) -> float:
    found = _TRAFFIC.fullmatch(text.strip())
    value = float(found["number"]) * _AN_HOUR[found["unit"] or "h"] if found else 0.0
    if value <= 0:
        raise UsageError(
            f"--traffic is '{text[:40]}', which is not a number of requests.",
            hint="Write e.g. 1200/h, or 5/s.",
        )
    return value
