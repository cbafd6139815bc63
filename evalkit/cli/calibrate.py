"""`evalkit calibrate`: how far may a judge be trusted?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.display import make_display
from evalkit.cli.options import CONFIG, CONNECTIONS, OUTPUT, SEED, SET, TALKING, names, read_config
from evalkit.cli.stats import as_plain
from evalkit.errors import ExitCode, StoreError

if TYPE_CHECKING:
    from evalkit.stages.judge_calibration import Calibrated

_RATES = (
    ("sensitivity", "right answers that it calls right"),
    ("specificity", "others that it does not call right"),
    ("finds_false", "false assertions that it calls so"),
    ("spares_others", "others that it does not call so"),
    ("agreement", "agrees with itself in another order"),
)


@click.command()
@click.argument("labels", type=click.Path(path_type=Path), metavar="LABELS")
@click.option("--judge", metavar="ENDPOINT", help="Who judges. Default: that of the configuration.")
@click.option(
    "-t",
    "--tasks",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Tasksets that the calibration is for; comma-separated or repeated.",
)
@click.option(
    "--out",
    "out_path",
    type=click.Path(path_type=Path),
    help="Also write what a policy takes there, as YAML: for --policy, or for `policy:`.",
)
@CONFIG
@SET
@SEED
@CONNECTIONS
@OUTPUT
@TALKING
def calibrate(
    labels: Path,
    judge: str | None,
    tasks: tuple[str, ...],
    out_path: Path | None,
    config_path: Path | None,
    overrides: tuple[str, ...],
    output: Path | None,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> int:
    """Ask a judge about answers that people labelled, and say how often it agrees with them.

    LABELS is JSON lines or CSV with `question`, `completion` and `label` (correct, incorrect,
    not_attempted), and optionally `id`, `reference`, `language`, `criteria` and `endpoint`
    (whose answer it is). Each answer is asked about twice, in another order. The exit code is 5
    when the judge is too weak to decide on: J below 0.5, or fewer than 100 labels.
    """
    from evalkit.stages.judge_verbs import calibrate_judge

    config = read_config(config_path, overrides, {**flags, "judge": judge})
    tasksets = names(tasks)
    shown = make_display(display, quiet=quiet, verbose=verbose)
    with shown:
        found = calibrate_judge(
            labels, config, tasksets, output, on_event=shown.on_event, notify=shown.on_stage
        )
    if out_path is not None and found.calibrated.usable:
        _write(out_path, found.yaml)
    code = ExitCode.INVALID if found.calibrated.weak else ExitCode.OK
    body = _as_dict(found.calibrated, out_path if found.calibrated.usable else None)
    if as_json:
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
        return code
    _print(body)
    if found.calibrated.usable:
        click.echo(f"\n{found.yaml}", nl=False)
    return code


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"'{path}' cannot be written: {error.strerror}.") from None


def _as_dict(found: Calibrated, out_path: Path | None) -> dict[str, Any]:
    return {
        "judge": found.mark,
        "labels": found.labels,
        "judged": sum(n for row in found.table.values() for n in row.values()),
        "table": {
            label.value: {verdict.value: n for verdict, n in row.items()}
            for label, row in found.table.items()
        },
        **{name: as_plain(getattr(found, name)) for name, _ in _RATES},
        "youden": {metric: round(one.youden, 6) for metric, one in found.metrics().items()},
        "endpoints": as_plain(found.endpoints),
        "partial": found.partial,
        "failures": dict(found.failures),
        "weak": found.weak,
        "out": None if out_path is None else str(out_path),
    }


def _print(body: Mapping[str, Any]) -> None:
    click.echo(f"{body['judged']} of {body['labels']} labelled answers have a verdict")
    for label, row in body["table"].items():
        said = ", ".join(f"{n} {verdict}" for verdict, n in row.items())
        click.echo(f"  {f'labelled {label}':<22}{said}")
    for name, told in _RATES:
        rate = body[name]
        if rate["value"] is None:
            click.echo(f"  {told:<37}no data")
            continue
        low, high = 100 * rate["low"], 100 * rate["high"]
        click.echo(
            f"  {told:<37}{100 * rate['value']:.1f}% (95%: {low:.1f} to {high:.1f}%, "
            f"n = {rate['n']})"
        )
    for metric, youden in body["youden"].items():
        click.echo(f"  {f'J for {metric}':<37}{youden:.3f}")
    for one in body["endpoints"]:
        rates = ", ".join(
            f"{name} {100 * one[name]['value']:.1f}% of {one[name]['n']}"
            for name in ("sensitivity", "specificity")
            if one[name]["value"] is not None
        )
        pvalue = "" if one["pvalue"] is None else f" (p = {one['pvalue']:.3g} against the others)"
        click.echo(f"  {one['endpoint'][:60]}: {rates}{pvalue}")
    if body["partial"]:
        click.echo(
            "It errs otherwise on one endpoint's answers than on the others': differences cannot "
            "be corrected for that."
        )
    if body["failures"]:
        why = ", ".join(f"{reason} {n}" for reason, n in body["failures"].items())
        click.echo(f"  without a verdict: {why}")
    if body["weak"]:
        click.echo(
            "Too weak to decide on: a comparison would be INVALID (JUDGE_WEAK). J of at least 0.5 "
            "on at least 100 labels is needed."
        )
    if body["out"]:
        click.echo(f"Policy: {body['out']}")
