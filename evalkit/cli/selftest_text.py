"""The self-test of the gate as text for a terminal, and as the body of `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from evalkit.cli.stats_text import count, margin_words
from evalkit.decision.selftest import DamageResult, SelfTest
from evalkit.estimates import Estimate
from evalkit.policy import Policy
from evalkit.report import numbers
from evalkit.results import VerdictState

FlipsFrom = Literal["given", "measured", "assumed"]

# Less than this is not worth a column, and prints as nothing.
_VISIBLE = 0.0005


def render(result: SelfTest, policy: Policy, flips_from: FlipsFrom) -> str:
    """Return setting, table and what it means, as lines."""
    blocks = (_setting(result, policy, flips_from), _table(result), conclusions(result, policy))
    return "\n\n".join("\n".join(block) for block in blocks)


def as_body(result: SelfTest, policy: Policy, flips_from: FlipsFrom) -> dict[str, Any]:
    """Return everything for programs; fractions."""
    return {
        "prompts": result.prompts,
        "independent": result.independent,
        "repeats": result.setting.repeats,
        "flips_from": flips_from,
        "flip_rates": result.setting.flips,
        "alpha": policy.alpha,
        "policy_hash": policy.fingerprint,
        "results": [_row_body(row) for row in result.results],
        "conclusions": list(conclusions(result, policy)),
    }


def conclusions(result: SelfTest, policy: Policy) -> Iterator[str]:
    """Say in sentences what this gate catches, what it lets pass, and when it cries wolf."""
    clean, *damaged = result.results
    yield _without_damage(clean, result)
    damaged = [row for row in damaged if _effect(row)]
    if not damaged:
        yield "There was nothing to damage: no answer of this run is of the sort that was asked."
        return
    yield from _caught(damaged, policy.power)
    shipped = [row for row in damaged if row.states[VerdictState.SHIP].value]
    if not shipped:
        runs = clean.states[VerdictState.SHIP].n
        yield f"No damaged run was shipped, in {count(runs, 'run')} of each."
    for row in shipped:
        share = _share(row.states[VerdictState.SHIP])
        may = ", as it may be: that is within the margin" if _within_margins(row, policy) else ""
        yield f"{_named(row)} is shipped in {share} of runs{may}."


def _within_margins(row: DamageResult, policy: Policy) -> bool:
    """Whether the true loss is one that the pooled margins accept; not told of one family."""
    margins = policy.margins
    return row.damage.family is None and all(
        (change or 0.0) * 100 <= margin
        for change, margin in (
            (row.accuracy_lost, margins.accuracy),
            (row.hallucination_gained, margins.hallucination),
            (row.degenerate_gained, margins.degenerate),
        )
    )


def _without_damage(clean: DamageResult, result: SelfTest) -> str:
    ship, hold = clean.states[VerdictState.SHIP], clean.states[VerdictState.HOLD]
    invalid = clean.states[VerdictState.INVALID]
    text = (
        f"Without damage this gate ships in {_share(ship)} of runs, and cries wolf (HOLD) in "
        f"{_share(hold)}"
    )
    if invalid.value:
        why = ", ".join(clean.codes[VerdictState.INVALID])
        text += f"; {_share(invalid)} are INVALID ({why})"
    if not ship.value and invalid.value != 1:
        prompts = count(result.prompts, "prompt")
        text += f": with {prompts} it finds damage or stays open, and hardly ever lets even "
        return text + "equal endpoints pass. --prompts tries a size, `evalkit plan` computes one."
    return f"{text}."


def _caught(damaged: Sequence[DamageResult], power: float) -> Iterator[str]:
    wanted = _percent(power)
    found = False
    for row in damaged:
        for state, words in ((VerdictState.HOLD, "caught (HOLD)"),
                             (VerdictState.INVALID, "stopped as INVALID")):  # fmt: skip
            share = row.states[state]
            if (share.value or 0.0) >= power:
                found = True
                yield f"{_named(row)} is {words} in {_share(share)} of runs."
    if not found:
        nearest = max(damaged, key=_closeness)
        yield (
            f"None of these damages is caught in {wanted} of runs. {_named(nearest)} comes "
            f"nearest: HOLD in {_share(nearest.states[VerdictState.HOLD])}, shipped in "
            f"{_share(nearest.states[VerdictState.SHIP])}."
        )
    missed = [
        row
        for row in damaged
        if max(row.states[s].value or 0.0 for s in (VerdictState.HOLD, VerdictState.INVALID))
        < power
    ]
    if found and missed:
        rows = "; ".join(
            f"{_named(row)}, {_share(row.states[VerdictState.HOLD])}" for row in missed
        )
        yield f"Caught (HOLD) in fewer than {wanted} of runs: {rows}."


def _closeness(row: DamageResult) -> tuple[float, float]:
    return row.states[VerdictState.HOLD].value or 0.0, row.accuracy_lost or 0.0


def _setting(result: SelfTest, policy: Policy, flips_from: FlipsFrom) -> Iterator[str]:
    units = ""
    if result.independent != result.prompts:
        units = f" ({numbers.count(result.independent)} independent)"
    repeats = result.setting.repeats
    yield (
        f"{numbers.count(repeats)} simulated {'run' if repeats == 1 else 'runs'} of each damage, "
        f"on {count(result.prompts, 'prompt')}{units}; pooled accuracy may lose "
        f"{margin_words(policy.margins.accuracy / 100)}"
    )
    yield f"flips of equal endpoints: {_flips(result)} ({flips_from})"


def _flips(result: SelfTest) -> str:
    rates = result.setting.flips
    if len(set(rates.values())) == 1:
        return _percent(next(iter(rates.values())))
    return ", ".join(f"{family} {_percent(rate)}" for family, rate in rates.items())


def _table(result: SelfTest) -> Iterator[str]:
    family = result.results[-1].damage.family
    where = "pooled" if family is None else f"in {family.value}"
    effects = [
        (title, [getattr(row, name) for row in result.results])
        for title, name in (
            ("accuracy", "accuracy_lost"),
            ("hallucination", "hallucination_gained"),
            ("degenerate", "degenerate_gained"),
        )
    ]
    # A row loses accuracy but gains the other two, and the sign says so.
    shown = [
        (title, [None if v is None else (-v if title == "accuracy" else v) for v in values])
        for title, values in effects
        if any(value is not None for value in values)
    ]
    states = [state.value for state in VerdictState]
    rows = [("damage", *(title for title, _ in shown), *states)]
    for index, row in enumerate(result.results):
        changes = (numbers.points(values[index]) for _, values in shown)
        verdicts = (_share(row.states[state]) for state in VerdictState)
        rows.append((row.damage.label, *changes, *verdicts))
    yield f"True change in points ({where}), and how often the gate gives each verdict"
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for cells in rows:
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield f"  {'  '.join((first, *others))}".rstrip()
    yield "  [ ]: 95% intervals (Wilson) of the simulation: more repeats make them narrower"


def _named(row: DamageResult) -> str:
    family = "" if row.damage.family is None else f" in {row.damage.family.value}"
    return f"{row.damage.label}{family} ({_effect(row)})"


def _effect(row: DamageResult) -> str:
    """Name the first change that can be seen; empty when there is none."""
    if (row.accuracy_lost or 0.0) >= _VISIBLE:
        return f"{numbers.points(0.0 - (row.accuracy_lost or 0.0))} points of accuracy"
    if (row.hallucination_gained or 0.0) >= _VISIBLE:
        return f"{numbers.points(row.hallucination_gained)} points of hallucination"
    if (row.degenerate_gained or 0.0) >= _VISIBLE:
        return f"{numbers.points(row.degenerate_gained)} points of degenerate output"
    return ""


def _row_body(row: DamageResult) -> dict[str, Any]:
    return {
        "damage": row.damage.kind.value,
        "rate": row.damage.rate,
        "family": None if row.damage.family is None else row.damage.family.value,
        "accuracy_lost": row.accuracy_lost,
        "hallucination_gained": row.hallucination_gained,
        "degenerate_gained": row.degenerate_gained,
        "states": {
            state.value: {"share": share.value, "low": share.low, "high": share.high}
            for state, share in row.states.items()
        },
        "codes": {state.value: found for state, found in row.codes.items()},
    }


def _share(share: Estimate) -> str:
    low, high = (_bare(value) for value in (share.low, share.high))
    return f"{_percent(share.value)} [{low}, {high}]"


def _percent(value: float | None) -> str:
    return numbers.DASH if value is None else f"{_bare(value)}%"


def _bare(value: float | None) -> str:
    return f"{(value or 0.0) * 100:.1f}".removesuffix(".0")
