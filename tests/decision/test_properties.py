"""What must hold of the rule whatever the answers are."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.decision.comparison import Decision, decide_pairs
from evalkit.decision.looks import Asked, PastLook, find_look
from evalkit.decision.pairing import Pair, Pairing
from evalkit.policy import Margins, PlanName, Policy
from evalkit.results import VerdictState
from evalkit.stats.distributions import normal_sf
from evalkit.stats.two_stage import two_stage_passes, two_stage_pvalue
from evalkit.tasksets.drawing import Drawing
from evalkit.types import Family
from tests.builders import MISSING, RIGHT, WRONG, pairs, taskset

# How near to SHIP a verdict is. INVALID is no place on this scale.
RANK = {VerdictState.HOLD: 0, VerdictState.INCONCLUSIVE: 1, VerdictState.SHIP: 2}
PLANS = st.sampled_from(["single", "two-stage", "sequential"])
FAMILIES = (Family.MATH, Family.FACTS)


@st.composite
def answered(draw: st.DrawFn) -> list[Pair]:
    """Two families, of which a few answers may be missing."""
    made = []
    for family in FAMILIES[: draw(st.integers(1, 2))]:
        right = draw(st.integers(20, 900))
        spec = [(RIGHT, RIGHT, right), (WRONG, WRONG, draw(st.integers(0, 200)))]
        spec += [(RIGHT, WRONG, draw(st.integers(0, 60))), (WRONG, RIGHT, draw(st.integers(0, 60)))]
        spec += [
            (RIGHT, MISSING, draw(st.integers(0, 4))),
            (MISSING, RIGHT, draw(st.integers(0, 4))),
        ]
        made += pairs(spec, taskset=family.value, family=family)
    return made


def decided(made: list[Pair], policy: Policy, drawing: Drawing | None = None) -> Decision:
    sets = [
        taskset([p.sample for p in made if p.sample.family is family], family=family)
        for family in FAMILIES
        if any(p.sample.family is family for p in made)
    ]
    return decide_pairs(Pairing(tuple(made), ()), sets, policy, drawing=drawing or Drawing())


@settings(max_examples=30, deadline=None)
@given(answered(), PLANS, st.data())
def test_mending_a_wrong_answer_of_the_candidate_never_hurts_it(
    made: list[Pair], plan: PlanName, data: st.DataObject
) -> None:
    wrong = [i for i, p in enumerate(made) if p.candidate.value == 0.0]
    if not wrong:
        return
    policy = Policy(plan=plan)
    before = decided(made, policy)
    chosen = data.draw(st.lists(st.sampled_from(wrong), min_size=1, max_size=10, unique=True))
    better = list(made)
    right = next(p.candidate.score for p in made if p.candidate.value == 1.0)
    for index in chosen:
        answer = made[index].candidate
        score = replace(right, sample_id=answer.score.sample_id)
        better[index] = replace(made[index], candidate=replace(answer, score=score))
    after = decided(better, policy)
    if VerdictState.INVALID in (before.verdict.state, after.verdict.state):
        return
    assert RANK[after.verdict.state] >= RANK[before.verdict.state]


@settings(max_examples=30, deadline=None)
@given(answered(), PLANS, st.floats(0.3, 9), st.floats(1.05, 2))
def test_a_wider_margin_never_turns_a_ship_away_nor_makes_a_hold(
    made: list[Pair], plan: PlanName, margin: float, factor: float
) -> None:
    def at(width: float) -> Decision:
        sets = {family: width for family in FAMILIES}
        margins = Margins(accuracy=width, hallucination=width, degenerate=width, families=sets)
        return decided(made, Policy(plan=plan, margins=margins))

    narrow, wide = at(margin), at(margin * factor)
    if VerdictState.INVALID in (narrow.verdict.state, wide.verdict.state):
        return
    assert RANK[wide.verdict.state] >= RANK[narrow.verdict.state]


@settings(max_examples=20, deadline=None)
@given(answered(), st.sampled_from(["single", "two-stage"]), st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_nothing(
    made: list[Pair], plan: PlanName, chance: random.Random
) -> None:
    """A sequential plan with several families bets in the drawing's order, which is fixed."""
    policy = Policy(plan=plan)
    late = {(p.sample.taskset, p.sample.id): 2 for p in made if int(p.sample.id[-1]) % 2}
    drawing = Drawing(late) if plan == "two-stage" else Drawing()
    mixed = chance.sample(made, len(made))
    one, other = decided(made, policy, drawing), decided(mixed, policy, drawing)
    assert one.verdict.state is other.verdict.state
    for a, b in zip(one.metrics, other.metrics, strict=True):
        assert (a.p_noninferior is None) == (b.p_noninferior is None)
        if a.p_noninferior is not None and b.p_noninferior is not None:
            assert abs(a.p_noninferior - b.p_noninferior) < 1e-9


@settings(max_examples=20, deadline=None)
@given(answered(), st.randoms(use_true_random=False))
def test_a_sequential_plan_reads_places_and_not_the_order_of_pairs(
    made: list[Pair], chance: random.Random
) -> None:
    places = {(p.sample.taskset, p.sample.id): int(p.sample.id[-5:]) for p in made}
    policy = Policy(plan="sequential")
    one = decided(made, policy, Drawing(places=places))
    other = decided(chance.sample(made, len(made)), policy, Drawing(places=places))
    assert one.verdict == other.verdict


@given(st.floats(-6, 6), st.floats(-6, 6))
def test_the_two_stage_p_value_reads_the_boundaries(z1: float, z2: float) -> None:
    for second in (None, z2):
        p_value = two_stage_pvalue(z1, second)
        assert 0 <= p_value <= 1
        if abs(p_value - 0.05) > 1e-6:
            assert (p_value <= 0.05) is two_stage_passes(z1, second)
    assert two_stage_pvalue(z1 + 0.1, z2) <= two_stage_pvalue(z1, z2) + 1e-12
    assert two_stage_pvalue(z1, z2 + 0.1) <= two_stage_pvalue(z1, z2) + 1e-12
    assert two_stage_pvalue(z1) >= min(1.0, normal_sf(z1))


PROMPTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


@given(st.lists(st.tuples(PROMPTS, st.sampled_from(["r1", "r2"])), min_size=1, max_size=6), PLANS)
def test_looks_are_counted_by_the_answers_that_they_saw(
    seen: list[tuple[list[str], str]], plan: PlanName
) -> None:
    history: list[PastLook] = []
    distinct: list[tuple[tuple[str, ...], str]] = []
    chain: list[tuple[tuple[str, ...], str]] = []
    for prompts, run in seen:
        asked = Asked({"t": tuple(prompts)}, {"t": len(prompts)}, 1, ("base", run))
        look = find_look(history, asked, plan)
        key = (tuple(prompts), run)
        if key not in distinct:
            distinct.append(key)
        assert look.number == distinct.index(key) + 1
        if look.number == 1:
            assert look.planned
        elif plan != "sequential":
            assert not look.planned, "no stage 2 was asked"
        else:
            before = next(k for k in reversed(distinct[: look.number - 1]) if k in chain)
            assert look.planned is (key[0][: len(before[0])] == before[0] and run == before[1])
        if look.planned and key not in chain:
            chain.append(key)
        history.append(PastLook(asked.extents(), 1, asked.runs, look.planned))
