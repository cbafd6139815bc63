"""What a prompt set can prove: the table of sizes, the pooled score, the gate's own list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.pairing import Pairing
from evalkit.decision.plan import outlook, power_at, power_curve, two_stage
from evalkit.decision.questions import Part, PromptSet, Question, questions_of_sets
from evalkit.policy import Margins, Policy
from evalkit.results import MetricResult
from evalkit.stats.engine import from_counts
from evalkit.stats.pooling import mover_noninferiority
from evalkit.stats.power import n_floor, power_noninferiority
from evalkit.types import Family
from tests.builders import RIGHT, WRONG, pairs, taskset

POLICY = Policy()


def question(*parts: tuple[int, float], margin: float = 0.02) -> Question:
    return Question("accuracy", "pooled", margin, True, tuple(Part(n, rate) for n, rate in parts))


# The table of STATISTICS 1.8: pairs for 80% power at alpha 5%, equal arms.
SIZES = {
    0.01: (1397, 3768, 7445, 12378),
    0.02: (425, 982, 1880, 3104),
    0.03: (225, 461, 849, 1386),
    0.05: (107, 188, 319, 507),
}


@pytest.mark.parametrize("margin", SIZES)
def test_sizes_of_one_family_are_those_of_the_table(margin: float) -> None:
    found = tuple(
        outlook(question((500, rate), margin=margin), POLICY).needed
        for rate in (0.02, 0.06, 0.12, 0.20)
    )
    assert found == SIZES[margin]


@pytest.mark.parametrize(
    ("n", "points"),
    [(50, (8.6, 11.3, 14.1, 17.0)), (1319, (1.0, 1.7, 2.4, 3.1)), (5000, (0.5, 0.9, 1.2, 1.6))],
)
def test_smallest_margins_are_those_of_the_table(n: int, points: tuple[float, ...]) -> None:
    found = [
        outlook(question((n, rate)), POLICY).smallest_margin * 100
        for rate in (0.02, 0.06, 0.12, 0.20)
    ]
    assert found == pytest.approx(points, abs=0.05001)


@pytest.mark.parametrize("margin", [0.01, 0.02, 0.03, 0.05])
def test_the_floor_is_that_of_zero_flips(margin: float) -> None:
    floor = n_floor(margin)
    below = outlook(question((floor - 1, 0.0), margin=margin), POLICY)
    at = outlook(question((floor, 0.0), margin=margin), POLICY)
    assert (below.floor, below.provable, below.power) == (floor, False, 0.0)
    assert (at.floor, at.provable, at.power, at.needed) == (floor, True, 1.0, floor)


def test_nothing_is_decided_below_ten_prompts_however_wide_the_margin() -> None:
    assert outlook(question((5, 0.0), margin=0.5), POLICY).floor == 10


@pytest.mark.parametrize(
    ("n", "rate", "margin"), [(500, 0.06, 0.02), (982, 0.06, 0.02), (200, 0.12, 0.05)]
)
def test_power_of_one_family_is_near_the_exact_one(n: int, rate: float, margin: float) -> None:
    exact = power_noninferiority(rate / 2, rate / 2, n, margin=margin)
    assert power_at(question((n, rate), margin=margin), 1.0, 0.05) == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize(
    ("sizes", "margin"), [((226,) * 5, 0.02), ((50,) * 4, 0.06), ((600, 100), 0.03)]
)
def test_pooled_power_does_not_promise_more_than_the_gate_gives(
    sizes: tuple[int, ...], margin: float
) -> None:
    rng, rounds, rate = np.random.default_rng(20261130), 400, 0.06
    passed = 0
    for _ in range(rounds):
        parts = []
        for n in sizes:
            gained, lost, _ = rng.multinomial(n, [rate / 2, rate / 2, 1 - rate])
            parts.append(from_counts(int(gained), int(lost), n))
        p = mover_noninferiority(parts, margin=margin).pvalue
        passed += p is not None and p <= 0.05
    promised = power_at(question(*((n, rate) for n in sizes), margin=margin), 1.0, 0.05)
    # Four standard errors of the simulation; the approximation errs to the safe side.
    assert promised - 0.08 <= passed / rounds <= promised + 0.15


def test_pooling_unequal_families_costs_prompts() -> None:
    even = outlook(question((500, 0.06), (500, 0.06)), POLICY)
    uneven = outlook(question((900, 0.06), (100, 0.06)), POLICY)
    one = outlook(question((1000, 0.06)), POLICY)
    assert even.needed is not None
    assert uneven.needed is not None
    assert one.needed is not None
    assert one.needed < even.needed < uneven.needed
    assert one.floor < even.floor < uneven.floor


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3000), st.floats(0, 1)), min_size=1, max_size=4),
    st.floats(0.005, 0.3),
)
def test_more_prompts_never_prove_less(parts: list[tuple[int, float]], margin: float) -> None:
    small = outlook(question(*parts, margin=margin), POLICY)
    large = outlook(question(*((2 * n, rate) for n, rate in parts), margin=margin), POLICY)
    assert large.smallest_margin <= small.smallest_margin + 1e-9
    assert 0 <= small.power <= 1
    if small.needed is not None:
        assert small.needed >= small.floor


def test_the_needed_number_has_the_power_and_one_less_has_not() -> None:
    one = question((300, 0.06), (300, 0.10))
    needed = outlook(one, POLICY).needed
    assert needed is not None
    assert power_at(one, needed / one.n, 0.05) >= 0.8
    assert power_at(one, (needed - 1) / one.n, 0.05) < 0.8


def test_the_curve_falls_with_flips_and_rises_with_prompts() -> None:
    curve = power_curve(question((500, 0.06)), (500, 1000, 2000), (0.0, 0.5, 1.0, 2.0), 0.05)
    assert curve[0][0] == 1.0
    for row in curve:
        assert list(row) == sorted(row, reverse=True)
    for column in zip(*curve, strict=True):
        assert list(column) == sorted(column)
    assert curve[1][2] == pytest.approx(0.807, abs=0.01)


def test_two_stages_keep_the_boundaries_and_reach_the_power() -> None:
    one = question((1000, 0.06))
    plan = two_stage(one, POLICY)
    # Golden row 48.
    assert plan.boundary_1 == pytest.approx(2.575829, abs=1e-6)
    assert plan.boundary_2 == pytest.approx(1.659655, abs=1e-6)
    assert plan.per_stage is not None
    assert plan.stops_early is not None
    rng, rounds = np.random.default_rng(7), 20_000
    n = plan.per_stage
    z = []
    for _ in range(2):
        draws = rng.multinomial(n, [0.03, 0.03, 0.94], size=rounds)
        table: dict[tuple[int, int], float] = {}
        for gained, lost in {(int(b), int(c)) for b, c, _ in draws}:
            z_of = mover_noninferiority([from_counts(gained, lost, n)], margin=0.02).statistic
            assert z_of is not None
            table[gained, lost] = z_of
        z.append(np.array([table[int(b), int(c)] for b, c, _ in draws]))
    early = z[0] >= plan.boundary_1
    passed = early | ((z[0] + z[1]) / np.sqrt(2) >= plan.boundary_2)
    assert early.mean() == pytest.approx(plan.stops_early, abs=0.03)
    assert passed.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("critical", [{}, {Family.MATH: 4.0}])
def test_the_questions_are_those_that_the_gate_asks(critical: dict[Family, float]) -> None:
    policy = Policy(margins=Margins(families=critical))
    sizes = {Family.FACTS: 320, Family.MATH: 40}
    made, sets, planned = [], [], []
    for family, n in sizes.items():
        spec = [(RIGHT, RIGHT, n - 20), (RIGHT, WRONG, 12), (WRONG, RIGHT, 8)]
        group = pairs(spec, taskset=family.value, family=family)
        made += group
        abstains = family is Family.FACTS
        sets.append(
            taskset([p.sample for p in group], family=family, measures_hallucination=abstains)
        )
        planned.append(PromptSet(family.value, n, n, 0.05, abstains))
    gate = compare_pairs("q4", Pairing(tuple(made), ()), sets, policy)
    results: list[MetricResult | None] = [
        gate.pooled.accuracy, gate.pooled.hallucination, gate.degenerate,
        *(m for scope in gate.families for m in (scope.accuracy, scope.hallucination)),
    ]  # fmt: skip
    rates = {family.value: 20 / n for family, n in sizes.items()}
    questions = questions_of_sets(
        planned, policy, accuracy_flips=rates, hallucination_flips=rates, degenerate_flips=0.0
    )
    asked = {(q.metric, q.scope, q.margin, q.gated, q.n) for q in questions}
    assert asked == {(m.metric, m.scope, m.margin, m.gated, m.n) for m in results if m is not None}
    assert questions[0].parts == (Part(320, 20 / 320), Part(40, 20 / 40))
