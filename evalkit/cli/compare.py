"""`evalkit compare`: all of it, from preflight to exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from evalkit.cli.display import make_display
from evalkit.cli.options import (
    AA,
    AGAINST,
    AGAINST_ARM,
    ALLOW_CONFOUNDED,
    COLLECTING,
    DECIDING,
    JUDGE,
    LOGS,
    RENDERING,
    TALKING,
    names,
    read_config,
    share,
)


@click.command()
@click.argument("targets", nargs=-1, metavar="[BASELINE CANDIDATE...]")
@COLLECTING
@AA
@AGAINST
@AGAINST_ARM
@LOGS
@JUDGE
@DECIDING
@ALLOW_CONFOUNDED
@RENDERING
@TALKING
def compare(
    targets: tuple[str, ...],
    config_path: Path | None,
    overrides: tuple[str, ...],
    tasks: tuple[str, ...],
    aa: str | None,
    against: Path | None,
    against_arm: str | None,
    margin: float | None,
    policy_path: Path | None,
    output: Path | None,
    fresh: bool,
    lang: str,
    html_path: Path | None,
    md_path: Path | None,
    junit_path: Path | None,
    inconclusive: Literal["skipped", "failed"],
    embed: str | None,
    embed_budget: str | None,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> int:
    """Compare a baseline with one or more candidates, and say which to ship.

    Each argument is an endpoint of the configuration, a quantization of the embedded model
    (f16, q8, q4, rtn4, rtn3, rtn2), URL#model, a GGUF file, a run folder, or what another tool
    recorded: an output folder of lm-eval, NeMo Evaluator or EvalScope, a log of Inspect, results
    of promptfoo (FILE#PROVIDER), JSON lines of answers. Candidates go from safest to cheapest.
    The same command goes on where it was interrupted.

    With --against all arguments are candidates, and a stored release is the baseline. It must
    have been asked the same prompts under the same policy; what is new, weights or engine, is
    told from the identities.
    """
    from evalkit import api
    from evalkit.cli.results import embedding_of, show_comparison
    from evalkit.stages.writing import Destinations

    embedding = embedding_of(embed, embed_budget)
    repeated = None if aa is None else share("--aa", aa)
    flags = {**flags, "tasks": names(tasks), "aa": repeated}
    config = read_config(config_path, overrides, flags, policy_path, margin)
    shown = make_display(display, quiet=quiet, verbose=verbose)
    with shown:
        listener = api.Listener(shown.on_event, shown.on_stage)
        compared = api.compare(
            *targets,
            config=config,
            against=against,
            against_arm=against_arm,
            output=output,
            fresh=fresh,
            listener=listener,
        )
    also = Destinations(html_path, md_path, junit_path, inconclusive)
    show_comparison(
        compared.content,
        compared.folder,
        lang=lang,
        also=also,
        as_json=as_json,
        gates=True,
        embedding=embedding,
        pairs=compared.pairs,
    )
    return compared.exit_code
