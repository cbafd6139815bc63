"""`evalkit selftest`: would this gate have caught it?"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from evalkit.cli.options import JSON, QUIET, read_config, share
from evalkit.cli.stats import as_plain
from evalkit.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from evalkit.cli.selftest_text import FlipsFrom
    from evalkit.decision.damage import Damage
    from evalkit.stages.rehearsal import Recorded

_DEFAULT_DAMAGE = ("wrong=2%,5%,10%,30%", "loop=2%", "assert=20%")
_DEFAULT_FLIPS = 0.06
_SECONDS_BETWEEN_LINES = 10.0
_FORM = "Write it as kind=share, e.g.: --damage wrong=2%,5%,10%"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--damage",
    "damage_words",
    multiple=True,
    metavar="KIND=SHARES",
    help="wrong (right answers made wrong), truncated (cut), loop, or assert (abstentions turned "
    "to false assertions), with one or more shares: wrong=2%,5%. Repeatable. "
    f"Default: {' '.join(_DEFAULT_DAMAGE)}.",
)
@click.option("--family", metavar="NAME", help="Damage only this family.")
@click.option(
    "--flips",
    metavar="SHARE",
    help="Share of answers by which equal endpoints differ: 6%, 0.06 or 6 (below 1 a share, else "
    "percent). Default: as measured where FOLDER is a comparison, else 6%.",
)
@click.option(
    "--prompts",
    type=click.IntRange(min=1, max=1_000_000),
    help="As if so many prompts of these kinds had been asked, in all. Default: as many as were.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1, max=1_000_000),
    default=200,
    show_default=True,
    help="Simulated runs of each damage.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the simulation.",
)
@click.option("--margin", type=float, help="Acceptable pooled loss of accuracy, in points.")
@click.option(
    "--policy",
    "policy_path",
    type=click.Path(path_type=Path),
    help="File with the decision rule's numbers (the keys of `policy`). Default: the policy of a "
    "comparison FOLDER, else evalkit's.",
)
@QUIET
@JSON
def selftest(
    folder: Path,
    damage_words: tuple[str, ...],
    family: str | None,
    flips: str | None,
    prompts: int | None,
    repeats: int,
    seed: int,
    margin: float | None,
    policy_path: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Say how often this gate catches known damage, and how often it cries wolf.

    FOLDER is a recorded run, or a comparison, whose baseline is taken. Each simulated run
    draws a prompt set like the recorded one (with replacement), lets two equal endpoints
    differ by the --flips, damages the second, and decides by the whole rule of
    `evalkit compare`. Nothing is asked and nothing is written.
    """
    flip_rate = None if flips is None else share("--flips", flips)
    damages = parse_damages(damage_words or _DEFAULT_DAMAGE)
    import numpy as np

    from evalkit.cli.selftest_text import as_body, render
    from evalkit.decision.selftest import Setting
    from evalkit.decision.selftest import selftest as put_to_the_test
    from evalkit.stages.rehearsal import read_recorded

    recorded = read_recorded(folder)
    own = recorded.policy if policy_path is None else None
    given = {"policy": None if own is None else own.model_dump()}
    policy = read_config(None, (), given, policy_path, margin).policy
    setting = Setting(_flips(recorded, flip_rate), repeats, prompts)
    with _progress(repeats, quiet=quiet) as progress:
        result = put_to_the_test(
            recorded.answers,
            recorded.tasksets,
            policy,
            _restricted(damages, family, recorded),
            setting,
            rng=np.random.default_rng(seed),
            on_repeat=progress.step,
        )
    flips_from = _flips_from(recorded, flip_rate)
    if as_json:
        body = as_plain({**as_body(result, policy, flips_from), "seed": seed})
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(render(result, policy, flips_from))


def parse_damages(words: Sequence[str]) -> tuple[Damage, ...]:
    """Read `wrong=2%,5%` and the like; `none` is always part of a self-test.

    Raises:
        UsageError: For what is no damage, with the form.
        UnknownNameError: For a kind that is not known.
    """
    from evalkit.decision.damage import Damage, DamageKind

    kinds = [kind.value for kind in DamageKind if kind is not DamageKind.NONE]
    damages: list[Damage] = []
    kind: DamageKind | None = None
    for part in (part.strip() for word in words for part in f"{word},".split(",")):
        if not part:
            # Shares belong to the kind of their own word only.
            kind = None
            continue
        if part == DamageKind.NONE:
            continue
        name, equals, rate = part.rpartition("=")
        if equals:
            if name.strip() not in kinds:
                raise UnknownNameError("kind of damage", name.strip()[:40], kinds)
            kind = DamageKind(name.strip())
        if kind is None:
            raise UsageError(f"--damage '{part[:40]}' is not a kind with its share.", hint=_FORM)
        value = share("--damage", rate)
        if value == 0:
            raise UsageError(f"--damage '{part[:40]}' is no damage.", hint=_FORM)
        damages.append(Damage(kind, value))
    return tuple(dict.fromkeys(damages))


class _Progress(Protocol):
    def step(self) -> None: ...


class _Silent:
    def step(self) -> None:
        return None


class _Lines:
    """A line every few seconds."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._last = total, 0, time.monotonic()

    def step(self) -> None:
        self._done += 1
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            click.echo(f"evalkit: {self._done}/{self._total} repeats", err=True)


class _Bar:
    """A bar on a terminal."""

    def __init__(self, total: int) -> None:
        self.bar = click.progressbar(length=total, label="self-test", file=sys.stderr)

    def step(self) -> None:
        self.bar.update(1)


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[_Progress]:
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty() and not os.environ.get("CI"):
        shown = _Bar(total)
        with shown.bar:
            yield shown
    else:
        yield _Lines(total)


def _flips(recorded: Recorded, given: float | None) -> dict[str, float]:
    """Return each family's flip rate; one that was not measured takes the pooled rate."""
    pooled = recorded.flips.get("pooled", _DEFAULT_FLIPS)
    families = [taskset.family.value for taskset in recorded.tasksets]
    return {
        family: recorded.flips.get(family, pooled) if given is None else given
        for family in families
    }


def _flips_from(recorded: Recorded, given: float | None) -> FlipsFrom:
    if given is not None:
        return "given"
    return "measured" if recorded.flips else "assumed"


def _restricted(
    damages: Sequence[Damage], family: str | None, recorded: Recorded
) -> tuple[Damage, ...]:
    if family is None:
        return tuple(damages)
    known = {taskset.family.value: taskset.family for taskset in recorded.tasksets}
    if family not in known:
        raise UnknownNameError("family in this run", family[:40], known)
    return tuple(replace(damage, family=known[family]) for damage in damages)
