"""Plans with more than one look, judges, and missing answers, in the rule itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evalkit.decision.comparison import compare_pairs, decide_pairs
from evalkit.decision.evidence import read
from evalkit.decision.groups import group_tables
from evalkit.decision.missing import find_reruns, tipping_point
from evalkit.decision.pairing import Pair, Pairing
from evalkit.decision.tables import Table, build_table
from evalkit.policy import Judge, Policy
from evalkit.results import CandidateResult, MetricResult, VerdictState
from evalkit.stats.distributions import normal_sf
from evalkit.stats.engine import engine_z, from_counts
from evalkit.stats.judge import JudgeCalibration
from evalkit.stats.paired import tango_z
from evalkit.stats.sequential import log_e_degraded, log_e_noninferior
from evalkit.tasksets.drawing import Drawing
from evalkit.types import Family
from tests.builders import MISSING, RIGHT, WRONG, pairs, taskset

TWO_STAGE = Policy(plan="two-stage")
SEQUENTIAL = Policy(plan="sequential")
GSM_LIKE = (20, 35, 1319)


def table(gained: int, lost: int, n: int) -> Table:
    d = np.zeros(n)
    d[:gained], d[gained : gained + lost] = 1.0, -1.0
    return Table(np.maximum(-d, 0.0), np.maximum(d, 0.0), None)


def in_stages(first: Table, second: Table) -> Table:
    return replace(
        first,
        baseline=np.concatenate([first.baseline, second.baseline]),
        candidate=np.concatenate([first.candidate, second.candidate]),
        stages=np.repeat([1, 2], [len(first.baseline), len(second.baseline)]),
    )


def two_stages(
    first: Sequence[tuple[str, str, int]], second: Sequence[tuple[str, str, int]]
) -> tuple[list[Pair], Drawing]:
    made = pairs([*first, *second], taskset="math", family=Family.MATH)
    count = sum(n for _, _, n in first)
    late = {("math", pair.sample.id): 2 for pair in made[count:]}
    return made, Drawing(late)


def compared(
    made: Sequence[Pair], policy: Policy, drawing: Drawing | None = None
) -> CandidateResult:
    sets = [taskset([p.sample for p in made], family=Family.MATH)]
    drawing = drawing or Drawing()
    return compare_pairs("q4", Pairing(tuple(made), ()), sets, policy, drawing=drawing)


def accuracy(result: CandidateResult) -> MetricResult:
    return result.pooled.accuracy


def test_stage_1_passes_only_on_strong_evidence() -> None:
    """STATISTICS.md, 1.9: z of at least 2.5758, though a single look needs 1.645."""
    for lost, single, staged in ((20, True, True), (30, True, False), (40, False, False)):
        one = table(20, lost, 1319)
        z = tango_z(20, lost, 1319, -0.02)
        assert (z >= 2.5758) is staged
        for policy, expected in ((Policy(), single), (TWO_STAGE, staged)):
            found = read([one], "CC", 0.02, policy).noninferior
            assert found is not None
            assert (found <= 0.05) is expected, (lost, policy.plan)


@pytest.mark.parametrize(("gained", "lost"), [(5, 5), (8, 12), (10, 22), (3, 30), (22, 3)])
def test_stage_2_reads_the_new_prompts_alone(gained: int, lost: int) -> None:
    """(z1 + z2) / sqrt(2) >= 1.659655, z2 of the new prompts: never of all together."""
    both = in_stages(table(*GSM_LIKE), table(gained, lost, 700))
    found = read([both], "CC", 0.02, TWO_STAGE)
    z1, z2 = tango_z(*GSM_LIKE, -0.02), tango_z(gained, lost, 700, -0.02)
    assert found.stages == pytest.approx((z1, z2))
    assert found.noninferior is not None
    assert (found.noninferior <= 0.05) is ((z1 + z2) / math.sqrt(2) >= 1.659655)
    assert found.degraded[0] == pytest.approx(1 - normal_sf(z1))
    assert found.degraded[1] == pytest.approx(1 - normal_sf((z1 + z2) / math.sqrt(2)))


def test_a_metric_that_passed_stage_1_stays_passed() -> None:
    strong = in_stages(table(20, 10, 1319), table(0, 30, 500))
    assert read([strong], "CC", 0.02, TWO_STAGE).noninferior <= 0.05  # type: ignore[operator]


def test_a_second_stage_that_lacks_a_family_is_not_read() -> None:
    """The mean over families of stage 2 would be another quantity than that of stage 1."""
    one = in_stages(table(*GSM_LIKE), table(5, 5, 700))
    other = replace(table(*GSM_LIKE), stages=np.ones(1319, dtype=np.int64))
    assert len(read([one, other], "CC", 0.02, TWO_STAGE).stages) == 1
    assert len(read([one, one], "CC", 0.02, TWO_STAGE).stages) == 2


def test_stage_1_that_decides_nothing_asks_for_new_prompts() -> None:
    first = [(RIGHT, RIGHT, 480), (RIGHT, WRONG, 10), (WRONG, RIGHT, 10)]
    made, _ = two_stages(first, [])
    result = compared(made, TWO_STAGE)
    assert result.verdict.state is VerdictState.INCONCLUSIVE
    (due,) = (code for code in result.verdict.codes if code.code == "STAGE_2_DUE")
    assert due.values["each"] == due.values["more"] > 0
    remedy = next(r for r in result.remedies if r.code == "ASK_STAGE_2")
    assert remedy.values["each"] == due.values["each"]


def test_both_stages_ship_together_what_neither_does_alone() -> None:
    part = [(RIGHT, RIGHT, 930), (RIGHT, WRONG, 35), (WRONG, RIGHT, 35)]
    made, drawing = two_stages(part, part)
    policy = Policy.model_validate({"plan": "two-stage", "margins": {"degenerate": 1}})
    assert compared(made[:1000], policy).verdict.state is VerdictState.INCONCLUSIVE
    result = compared(made, policy, drawing)
    assert result.verdict.state is VerdictState.SHIP
    assert len(accuracy(result).stage_statistics) == 2
    assert all(z < 2.5758 for z in accuracy(result).stage_statistics)


def test_degradation_has_half_of_the_level_in_each_stage() -> None:
    """Holm at alpha / 2: what a single look calls degraded at 0.04 is not, in stage 1."""
    lost = next(
        c for c in range(20, 90) if 0.025 < 1 - normal_sf(tango_z(0, c, 1000, -0.02)) < 0.05
    )
    one = pairs([(RIGHT, RIGHT, 1000 - lost), (RIGHT, WRONG, lost)])
    sets = [taskset([p.sample for p in one])]
    # One metric alone, so that Holm changes nothing: look at p-values, not at the verdict.
    for policy, factor in ((Policy(), 1), (TWO_STAGE, 2)):
        metrics = decide_pairs(Pairing(tuple(one), ()), sets, policy).metrics
        pooled = next(m for m in metrics if m.metric == "accuracy" and m.scope == "pooled")
        rest = [m for m in metrics if m.p_degraded is not None]
        assert pooled.p_degraded_adjusted is not None
        assert pooled.p_degraded is not None
        assert pooled.p_degraded_adjusted == pytest.approx(
            min(1.0, factor * len(rest) * pooled.p_degraded)
        )


def test_sequential_evidence_is_the_e_value_of_the_counts() -> None:
    for gained, lost, n in (GSM_LIKE, (30, 21, 1319), (10, 60, 1000)):
        found = read([table(gained, lost, n)], "CC", 0.02, SEQUENTIAL)
        log_e = log_e_noninferior(gained, lost, n, margin=0.02)
        assert found.noninferior == pytest.approx(min(1.0, math.exp(-log_e)))
        against = log_e_degraded(gained, lost, n, margin=0.02)
        assert found.degraded == pytest.approx((min(1.0, math.exp(-against)),))


def test_sequential_evidence_does_not_depend_on_the_order() -> None:
    one = table(30, 21, 1319)
    order = np.random.default_rng(1).permutation(1319)
    mixed = replace(one, baseline=one.baseline[order], candidate=one.candidate[order])
    first, second = (read([t], "CC", 0.02, SEQUENTIAL).noninferior for t in (one, mixed))
    assert first == pytest.approx(second)


def test_sequential_evidence_bets_on_the_means_of_clusters() -> None:
    """A passage with four answers is one bet, of their mean."""
    baseline, candidate = np.ones(400), np.ones(400)
    candidate[:4] = 0.0
    clustered = Table(baseline, candidate, np.repeat(np.arange(100), 4))
    found = read([clustered], "CC", 0.02, SEQUENTIAL)
    alone = read([table(0, 1, 100)], "CC", 0.02, SEQUENTIAL)
    assert found.noninferior == pytest.approx(alone.noninferior)


def test_sequential_families_bet_in_rounds() -> None:
    """A round is the mean of one unit of each family: as many as the smallest family has."""
    small, large = table(0, 0, 300), table(0, 0, 900)
    one = read([small], "CC", 0.02, SEQUENTIAL).noninferior
    assert read([small, large], "CC", 0.02, SEQUENTIAL).noninferior == pytest.approx(one)


def test_a_sequential_plan_ships_equal_models_in_the_end() -> None:
    made, _ = two_stages([(RIGHT, RIGHT, 2940), (RIGHT, WRONG, 30), (WRONG, RIGHT, 30)], [])
    result = compared(made, SEQUENTIAL)
    assert result.verdict.state is VerdictState.SHIP
    low, high = accuracy(result).difference_90.low, accuracy(result).difference_90.high
    assert low is not None
    assert high is not None
    assert -0.02 < low < 0 < high
    assert accuracy(result).difference.method == "betting confidence sequence"
    few = compared(made[2700:], SEQUENTIAL)
    assert few.verdict.state is VerdictState.INCONCLUSIVE
    assert "ASK_ON" in {remedy.code for remedy in few.remedies}


def judged_policy(plan: str = "single", **judge: float) -> Policy:
    numbers = {"sensitivity": 0.92, "specificity": 0.88, "n_right": 200, "n_wrong": 150, **judge}
    return Policy.model_validate({"plan": plan, "judges": {"math": numbers}})


def test_a_judge_tightens_the_margin_as_in_the_golden_row() -> None:
    """Golden row 52: b=60, c=75, n=1319, margin 2 points: T = 0.524233, not z = 0.974238."""
    made = pairs(
        [(RIGHT, WRONG, 75), (WRONG, RIGHT, 60), (RIGHT, RIGHT, 1184)],
        taskset="math",
        family=Family.MATH,
    )
    plain, judged = compared(made, Policy()), compared(made, judged_policy())
    assert accuracy(plain).p_noninferior == pytest.approx(normal_sf(0.974238), abs=1e-6)
    assert accuracy(judged).p_noninferior == pytest.approx(normal_sf(0.524233), abs=1e-6)
    # What people would say: the judged difference over J.
    value = accuracy(judged).difference.value
    assert value == pytest.approx(-15 / 1319 / 0.8)
    assert judged.degenerate.p_noninferior == plain.degenerate.p_noninferior


def test_programs_that_score_have_a_j_of_one() -> None:
    perfect = judged_policy(sensitivity=1.0, specificity=1.0)
    made = pairs([(RIGHT, WRONG, 75), (WRONG, RIGHT, 60), (RIGHT, RIGHT, 1184)])
    (judged,) = group_tables([made], "accuracy", perfect, Drawing())
    assert judged.judge is None, "the judge is of another taskset"


@pytest.mark.parametrize(
    ("judge", "weak"),
    [
        ({"sensitivity": 0.75, "specificity": 0.74}, True),
        ({"sensitivity": 0.75, "specificity": 0.76}, False),
        ({"n_right": 50, "n_wrong": 49}, True),
        ({"n_right": 50, "n_wrong": 50}, False),
    ],
)
def test_a_weak_judge_decides_nothing(judge: dict[str, float], weak: bool) -> None:
    made = pairs([(RIGHT, RIGHT, 3000)], taskset="math", family=Family.MATH)
    result = compared(made, judged_policy(**judge))
    codes = {code.code for code in result.verdict.codes}
    assert ("JUDGE_WEAK" in codes) is weak
    assert (result.verdict.state is VerdictState.INVALID) is weak


def test_a_judge_that_decides_must_be_calibrated_as_it_is() -> None:
    made = pairs([(RIGHT, RIGHT, 3000)], taskset="math", family=Family.MATH)
    sets = [taskset([p.sample for p in made], family=Family.MATH)]

    def weak(policy: Policy, judged: dict[str, str]) -> list[dict[str, object]]:
        found = compare_pairs("q4", Pairing(tuple(made), ()), sets, policy, judged=judged)
        return [dict(c.values) for c in found.verdict.codes if c.code == "JUDGE_WEAK"]

    assert weak(judged_policy(), {"math": "0a"}) == [], "without a mark it is of whatever judges"
    assert [row["labels"] for row in weak(Policy(), {"math": "0a"})] == [0]
    policy = judged_policy()
    mine = policy.judges["math"].model_copy(update={"judge": "0b"})
    policy = policy.model_copy(update={"judges": {"math": mine}})
    assert weak(policy, {"math": "0b"}) == []
    assert [row["used"] for row in weak(policy, {"math": "0a"})] == ["0a"]
    assert weak(policy, {}) == []


def test_false_answers_have_a_calibration_of_their_own() -> None:
    false = {"sensitivity": 0.8, "specificity": 0.85, "n_false": 90, "n_other": 120}
    policy = judged_policy(hallucination=false)  # type: ignore[arg-type]
    made = pairs([(RIGHT, RIGHT, 30)], taskset="math", family=Family.MATH)
    (accuracy_table,) = group_tables([made], "accuracy", policy, Drawing())
    (hallucination_table,) = group_tables([made], "hallucination", policy, Drawing())
    assert accuracy_table.judge == JudgeCalibration(0.92, 0.88, 200, 150)
    assert hallucination_table.judge == JudgeCalibration(0.8, 0.85, 90, 120)
    weak = judged_policy(hallucination={**false, "sensitivity": 0.6})  # type: ignore[arg-type]
    found = compare_pairs(
        "q4",
        Pairing(tuple(made), ()),
        [taskset([p.sample for p in made], family=Family.MATH)],
        weak,
    )
    assert "JUDGE_WEAK" in [code.code for code in found.verdict.codes]


def test_families_with_and_without_a_judge_pool() -> None:
    """The judged family's difference counts 1 / J as much, since J is how far it shrank."""
    spec = [(RIGHT, WRONG, 30), (WRONG, RIGHT, 20), (RIGHT, RIGHT, 950)]
    math_pairs = pairs(spec, taskset="math", family=Family.MATH)
    code_pairs = pairs(spec, taskset="code", family=Family.CODE)
    sets = [
        taskset([p.sample for p in group], family=group[0].sample.family)
        for group in (math_pairs, code_pairs)
    ]
    pairing = Pairing((*math_pairs, *code_pairs), ())
    found = compare_pairs("q4", pairing, sets, judged_policy())
    assert found.pooled.accuracy.difference.value == pytest.approx((-0.01 / 0.8 - 0.01) / 2)
    plain = compare_pairs("q4", pairing, sets, Policy())
    assert (found.pooled.accuracy.p_noninferior or 0) > (plain.pooled.accuracy.p_noninferior or 1)


def test_a_family_of_which_a_model_judges_a_part_keeps_the_shares_of_its_prompts() -> None:
    judged = pairs([(RIGHT, WRONG, 30), (RIGHT, RIGHT, 270)], taskset="math", family=Family.MATH)
    other = pairs([(RIGHT, WRONG, 7), (RIGHT, RIGHT, 693)], taskset="more", family=Family.MATH)
    sets = [taskset([p.sample for p in group], family=Family.MATH) for group in (judged, other)]
    found = compare_pairs("q4", Pairing((*judged, *other), ()), sets, judged_policy())
    (family,) = found.families
    expected = 0.3 * (-30 / 300 / 0.8) + 0.7 * (-7 / 700)
    assert family.accuracy.difference.value == pytest.approx(expected)
    assert found.pooled.accuracy.difference.value == pytest.approx(expected)


def test_a_sequential_plan_refuses_judges() -> None:
    with pytest.raises(ValueError, match="cannot allow for the errors of a judge"):
        judged_policy("sequential")
    assert Judge(sensitivity=1, specificity=1, n_right=1, n_wrong=1)


MISSING_ROWS = [
    # Golden rows 63-64: complete (880, 20, 24, 46), then what each arm lacks.
    (RIGHT, RIGHT, 880),
    (WRONG, RIGHT, 20),
    (RIGHT, WRONG, 24),
    (WRONG, WRONG, 46),
    (RIGHT, MISSING, 18),
    (WRONG, MISSING, 6),
    (MISSING, RIGHT, 3),
    (MISSING, WRONG, 1),
    (MISSING, MISSING, 2),
]


def test_missing_answers_in_every_reading_as_in_the_golden_rows() -> None:
    # The rows are about the tables: so many on one side alone would invalidate.
    metrics = decide_pairs(
        Pairing(tuple(pairs(MISSING_ROWS)), ()),
        [taskset([p.sample for p in pairs(MISSING_ROWS)])],
        Policy(),
    ).metrics
    pooled = metrics[0]
    assert pooled.missing is not None
    expected = {
        "complete": (-0.004124, -0.015779, 0.007327),
        "worst": (-0.025, -0.038815, -0.011994),
        "itt": (-0.019, -0.032753, -0.005858),
        "best": (0.007, -0.005317, 0.019589),
    }
    found = {
        "complete": pooled.difference_90,
        "worst": pooled.missing.worst,
        "itt": pooled.missing.itt,
        "best": pooled.missing.best,
    }
    for name, numbers in expected.items():
        estimate = found[name]
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx(numbers, abs=1e-6)


def test_the_tipping_point_is_the_golden_one() -> None:
    """Golden row 65: b=20, c=24, n=1000, two points: 5 extra losses lose it."""
    made = pairs([*MISSING_ROWS[:4], (RIGHT, MISSING, 28), (MISSING, RIGHT, 2)])
    assert tipping_point([build_table(made, "accuracy")], 0.02, Policy()) == 5
    few = pairs([*MISSING_ROWS[:4], (RIGHT, MISSING, 4), (MISSING, RIGHT, 26)])
    assert tipping_point([build_table(few, "accuracy")], 0.02, Policy()) is None
    lost = pairs([(RIGHT, WRONG, 60), (RIGHT, RIGHT, 900), (RIGHT, MISSING, 40)])
    assert tipping_point([build_table(lost, "accuracy")], 0.02, Policy()) is None


def test_prompts_to_ask_again_are_named_and_bounded() -> None:
    made = pairs([(RIGHT, RIGHT, 5), (RIGHT, MISSING, 300), (MISSING, MISSING, 2)])
    reruns = find_reruns(made)
    assert len(reruns) == 200
    assert reruns[0].sample_id == made[5].sample.id
    assert reruns[0].arms == ("candidate",)
    assert find_reruns(made[-1:])[0].arms == ("baseline", "candidate")


def test_the_engine_is_the_same_for_every_plan() -> None:
    """The z of stage 1 is the score statistic of the single look."""
    found = read([table(*GSM_LIKE)], "CC", 0.02, TWO_STAGE)
    assert found.stages[0] == pytest.approx(engine_z(from_counts(*GSM_LIKE), -0.02))
