"""`evalkit stats`: a calculator for reviewers, from four counts to every number."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import click

from evalkit.cli.options import JSON
from evalkit.errors import UsageError
from evalkit.estimates import Cells

_NAMES = ("N11", "B", "C", "N00")
_NUMBER = re.compile(r"[+-]?[0-9.]")
_COUNT = re.compile(r"\+?[0-9]+")
_MOST = 10**12
_SMALLEST_MARGIN = 0.001
_FORM = "evalkit stats N11 B C N00, e.g.: evalkit stats 1240 30 21 28"


# A negative count must reach our own check instead of being read as an unknown flag.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("counts", nargs=-1, metavar="N11 B C N00")
@click.option(
    "--margin",
    type=float,
    default=2.0,
    show_default=True,
    help="Acceptable loss, in points.",
)
@JSON
@click.pass_context
def stats(context: click.Context, counts: tuple[str, ...], margin: float, as_json: bool) -> None:
    """Compute every interval, test and sample size for four counts of pairs.

    N11: both right. B: only the candidate right (gains). C: only the baseline right
    (losses). N00: neither. For hallucinations count "did not hallucinate" as right.
    Differences are candidate minus baseline. The pairs are taken as independent.
    """
    cells = _cells(context, counts)
    if not _SMALLEST_MARGIN <= margin < 100:
        raise UsageError(
            f"--margin is {margin:g}, and must lie between {_SMALLEST_MARGIN} and 100.",
            hint="It is in points: 2 means that two in a hundred answers may be lost.",
        )
    # The statistics cost a quarter of a second to import: only after the input is sound.
    from evalkit.cli.stats_text import conclusion, render
    from evalkit.decision.calculator import calculate
    from evalkit.policy import Policy

    calculation = calculate(cells, margin=margin / 100, policy=Policy())
    if as_json:
        body = {**as_plain(calculation), "conclusion": conclusion(calculation)}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(render(calculation))


def as_plain(value: Any) -> Any:
    """Turn results into what JSON holds: no negative zero, and `null` for no finite number."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: as_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return value


def _cells(context: click.Context, words: tuple[str, ...]) -> Cells:
    for word in words:
        if word.startswith("-") and not _NUMBER.match(word):
            flags = [flag for option in context.command.params for flag in option.opts]
            near = difflib.get_close_matches(word, flags)
            raise click.NoSuchOption(word, possibilities=near, ctx=context)
    if len(words) != len(_NAMES):
        raise UsageError(f"Four counts are needed, not {len(words)}.", hint=_FORM)
    counts = [_count(name, word) for name, word in zip(_NAMES, words, strict=True)]
    cells = Cells(*counts)
    if cells.n == 0:
        raise UsageError("All four counts are zero: there is no pair.", hint=_FORM)
    if cells.n > _MOST:
        raise UsageError(f"The counts add up to more than {_MOST:,} pairs.")
    return cells


def _count(name: str, word: str) -> int:
    if _COUNT.fullmatch(word) and len(word) <= len(str(_MOST)) + 1:
        return int(word)
    if _COUNT.fullmatch(word):
        raise UsageError(f"{name} has {len(word)} digits: that is more than {_MOST:,} pairs.")
    problem = "is negative" if re.fullmatch(r"-[0-9]+", word) else "is not a whole number"
    raise UsageError(f"{name} counts pairs, and '{word[:40]}' {problem}.", hint=_FORM)
