"""The self-test of the gate: its error rates are those that the statistics promise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from evalkit.decision.damage import Damage, DamageKind
from evalkit.decision.pairing import Answer, Key
from evalkit.decision.selftest import DamageResult, SelfTest, Setting, selftest
from evalkit.policy import Policy
from evalkit.results import VerdictState
from evalkit.types import Family, Taskset
from tests.builders import ABSTAINED, MISSING, RIGHT, WRONG, answer, sample, taskset

SHIP, HOLD, OPEN, INVALID = (
    VerdictState.SHIP,
    VerdictState.HOLD,
    VerdictState.INCONCLUSIVE,
    VerdictState.INVALID,
)


def recorded(
    kinds: Sequence[str], families: Sequence[Family], *, hallucination: bool = False
) -> tuple[dict[Key, Answer], list[Taskset]]:
    """Make a run with one answer of each kind in each family."""
    answers: dict[Key, Answer] = {}
    sets = []
    for family in families:
        samples = [
            sample(f"{family.value}-{index}", taskset=family.value, family=family)
            for index in range(len(kinds))
        ]
        for one, kind in zip(samples, kinds, strict=True):
            answers[family.value, one.id, 0] = answer(one, kind)
        sets.append(taskset(samples, family=family, measures_hallucination=hallucination))
    return answers, sets


def run(
    kinds: Sequence[str],
    damages: Sequence[Damage],
    *,
    families: Sequence[Family] = (Family.MATH,),
    flips: float = 0.06,
    repeats: int = 10,
    prompts: int | None = None,
    seed: int = 0,
    policy: Policy | None = None,
    hallucination: bool = False,
) -> SelfTest:
    answers, sets = recorded(kinds, families, hallucination=hallucination)
    return selftest(
        answers,
        sets,
        policy or Policy(),
        damages,
        Setting({family.value: flips for family in families}, repeats, prompts),
        rng=np.random.default_rng(seed),
    )


def share(result: DamageResult, state: VerdictState) -> float:
    value = result.states[state].value
    assert value is not None
    return value


def near(expected: float, repeats: int) -> object:
    """Three standard errors of a share."""
    return pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / repeats))


def test_equal_arms_without_flips_ship_where_the_set_is_large_enough_and_only_there() -> None:
    kinds = [RIGHT] * 80 + [WRONG] * 20
    large = run(kinds, [], flips=0.0, repeats=3, prompts=600)
    assert share(large.results[0], SHIP) == 1
    assert large.prompts == large.independent == 600
    # Degenerate output at half a point needs 539 even with no flip.
    small = run(kinds, [], flips=0.0, repeats=3, prompts=500)
    assert share(small.results[0], OPEN) == 1
    assert small.results[0].codes == {OPEN: {"UNPROVABLE_N": 3}}


def test_the_loss_is_the_one_that_was_asked_for() -> None:
    kinds = [RIGHT] * 150 + [WRONG] * 50
    wrong = Damage(DamageKind.WRONG, 0.2)
    clean, hurt = run(kinds, [wrong], flips=0.0, repeats=60, hallucination=True).results
    assert clean.accuracy_lost == 0
    # A fifth of three quarters; four standard errors of 60 means over 200 prompts.
    off = 4 * math.sqrt(0.75 * 0.2 * 0.8 / (60 * 200)) + 4 * 0.2 * math.sqrt(0.1875 / (60 * 200))
    assert hurt.accuracy_lost == pytest.approx(0.15, abs=off)
    assert hurt.hallucination_gained == pytest.approx(hurt.accuracy_lost)
    assert hurt.degenerate_gained == 0


def test_damage_to_one_family_is_told_in_that_family() -> None:
    hurt = run(
        [RIGHT] * 100,
        [Damage(DamageKind.WRONG, 0.5, Family.MATH)],
        families=(Family.MATH, Family.FACTS),
        flips=0.0,
        repeats=20,
    ).results[1]
    assert hurt.accuracy_lost == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / 2000))
    assert share(hurt, HOLD) == 1
    assert set(hurt.codes[HOLD]) == {"DEGRADED_ACC"}


@pytest.mark.parametrize(
    ("kind", "state", "code"),
    [
        (DamageKind.WRONG, HOLD, "DEGRADED_ACC"),
        (DamageKind.LOOP, HOLD, "DEGENERATE_UP"),
        (DamageKind.TRUNCATED, INVALID, "TRUNCATION"),
        (DamageKind.ASSERT, HOLD, "HALLUCINATION_UP"),
    ],
)
def test_each_kind_of_damage_is_caught_as_what_it_is(
    kind: DamageKind, state: VerdictState, code: str
) -> None:
    kinds = [RIGHT] * 100 + [ABSTAINED] * 100
    hurt = run(kinds, [Damage(kind, 0.4)], repeats=5, hallucination=True).results[1]
    assert share(hurt, state) == 1
    assert hurt.codes[state][code] == 5


def test_asserting_costs_no_accuracy() -> None:
    hurt = run(
        [RIGHT] * 50 + [ABSTAINED] * 50,
        [Damage(DamageKind.ASSERT, 0.5)],
        flips=0.0,
        hallucination=True,
    ).results[1]
    assert hurt.accuracy_lost == 0
    assert hurt.hallucination_gained == pytest.approx(0.25, abs=0.06)


def test_a_run_with_too_many_missing_answers_is_invalid_with_and_without_damage() -> None:
    result = run([RIGHT] * 80 + [MISSING] * 20, [Damage(DamageKind.WRONG, 0.5)], repeats=5)
    for row in result.results:
        assert share(row, INVALID) == 1
        assert row.codes[INVALID]["ERROR_RATE_HIGH"] == 5


def test_the_same_seed_gives_the_same_and_rows_do_not_depend_on_each_other() -> None:
    kinds = [RIGHT] * 80 + [WRONG] * 20
    five, ten = Damage(DamageKind.WRONG, 0.05), Damage(DamageKind.WRONG, 0.10)
    both, again = (run(kinds, [five, ten]) for _ in range(2))
    assert both == again
    assert run(kinds, [ten]).results[1] == both.results[2]
    other = run(kinds, [five, ten], seed=1)
    assert other.results[1].accuracy_lost != both.results[1].accuracy_lost


def test_every_repeat_is_told() -> None:
    answers, sets = recorded([RIGHT] * 20, (Family.MATH,))
    told: list[None] = []
    selftest(
        answers,
        sets,
        Policy(),
        [],
        Setting({"math": 0.0}, 4),
        rng=np.random.default_rng(0),
        on_repeat=lambda: told.append(None),
    )
    assert len(told) == 4


@pytest.mark.slow
def test_one_family_has_the_exact_power_and_error_rates_of_its_test() -> None:
    """Golden row 38: 982 pairs at 6% flips show two points with an exact power of 0.807602.

    With one family the family's own margin of five points, and degenerate output without a
    flip, pass always; so SHIP has the power of that one test. At a loss of the margin itself
    it ships one time in twenty, and holds less often than that (Holm over three metrics).
    """
    repeats = 200
    # Of 97% right answers, this loses two points.
    loss = Damage(DamageKind.WRONG, 0.02 / 0.97)
    equal, worse = run([RIGHT] * 100, [loss], repeats=repeats, prompts=982).results
    assert share(equal, SHIP) == near(0.807602, repeats)
    assert share(equal, HOLD) == near(0.0, repeats)
    assert worse.accuracy_lost == pytest.approx(0.02, abs=0.001)
    assert share(worse, SHIP) == near(0.05, repeats)
    assert share(worse, HOLD) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repeats)


FIVE = Policy.model_validate({"margins": {"families": {family.value: 2 for family in Family}}})


@pytest.mark.slow
def test_operating_characteristics_all_equal() -> None:
    """STATISTICS.md section 2: five families at two points, 6% flips, 1,000 pairs each."""
    repeats = 60
    kinds = [RIGHT] * 170 + [WRONG] * 30
    result = run(
        kinds, [], families=tuple(Family), repeats=repeats, prompts=5000, policy=FIVE, seed=1
    ).results[0]
    assert share(result, SHIP) == near(0.347, repeats)
    assert share(result, HOLD) == near(0.0, repeats)


@pytest.mark.slow
def test_operating_characteristics_one_family_five_points_worse() -> None:
    """The same table: 300 pairs each, one family at -5 points with 8% flips.

    1.58% flips in each direction, and 5.08% of right answers lost, give 1.5% gains and 6.5%
    losses.
    """
    repeats = 100
    hurt = run(
        [RIGHT] * 200,
        [Damage(DamageKind.WRONG, 0.0508, Family.MATH)],
        families=tuple(Family),
        flips=0.0316,
        repeats=repeats,
        prompts=1500,
        policy=FIVE,
        seed=1,
    ).results[1]
    assert hurt.accuracy_lost == pytest.approx(0.05, abs=0.004)
    assert share(hurt, HOLD) == near(0.347, repeats)
    assert share(hurt, SHIP) == near(0.0, repeats)
