"""The decision rule of STATISTICS.md section 2: every state and every reason code."""

from __future__ import annotations

import pytest

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.pairing import Exclusion, ExclusionReason, Pairing
from evalkit.decision.verdict import decide_in_sequence, gate_exit_code, recommend
from evalkit.policy import Policy
from evalkit.results import CandidateResult, MetricState, ReasonCode, Verdict, VerdictState
from evalkit.types import Family
from tests.builders import (
    ABSTAINED,
    EMPTY,
    LOOP,
    MISSING,
    RIGHT,
    TRUNCATED,
    UNSCORED,
    WRONG,
    pairs,
    taskset,
)

POLICY = Policy()


def result(
    *specs: tuple[Family, list[tuple[str, str, int]]],
    policy: Policy = POLICY,
    hallucination: bool = False,
    exclusions: tuple[Exclusion, ...] = (),
    confounders: tuple[ReasonCode, ...] = (),
) -> CandidateResult:
    made, sets = [], []
    for family, spec in specs:
        group = pairs(spec, taskset=family.value, family=family)
        made += group
        sets.append(
            taskset(
                [pair.sample for pair in group],
                family=family,
                measures_hallucination=hallucination,
            )
        )
    pairing = Pairing(tuple(made), exclusions)
    return compare_pairs("q4", pairing, sets, policy, confounders=confounders)


def codes(found: CandidateResult) -> set[str]:
    return {code.code for code in found.verdict.codes}


EQUAL = [(RIGHT, RIGHT, 1500), (RIGHT, WRONG, 15), (WRONG, RIGHT, 15), (WRONG, WRONG, 470)]


def test_equal_models_on_many_prompts_ship() -> None:
    found = result((Family.MATH, EQUAL))
    assert found.verdict.state is VerdictState.SHIP
    assert found.verdict.exit_code == 0
    assert "ALL_NI" in codes(found)


def test_a_real_loss_holds_and_names_the_family() -> None:
    broken = [(RIGHT, RIGHT, 700), (RIGHT, WRONG, 200), (WRONG, WRONG, 100)]
    found = result((Family.MATH, EQUAL), (Family.FACTS, broken))
    assert found.verdict.state is VerdictState.HOLD
    assert found.verdict.exit_code == 3
    scopes = {code.scope for code in found.verdict.codes if code.code == "DEGRADED_ACC"}
    assert scopes == {"facts", "pooled"}


def test_few_prompts_without_a_flip_are_unprovable_and_say_how_many_are_needed() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 50)]))
    assert found.verdict.state is VerdictState.INCONCLUSIVE
    assert found.verdict.exit_code == 4
    pooled = next(c for c in found.verdict.codes if c.metric == "accuracy")
    assert pooled.code == "UNPROVABLE_N"
    assert pooled.values["floor"] == 133  # golden row 39, two points
    # With (b + c + 1) / (n + 2) as the flip rate, equal models need more than the floor.
    assert pooled.values["more"] == pooled.values["equal_models"] - 50 > 0


def test_flips_on_a_middling_set_are_underpowered() -> None:
    spec = [(RIGHT, RIGHT, 360), (RIGHT, WRONG, 20), (WRONG, RIGHT, 20)]
    found = result((Family.MATH, spec))
    pooled = next(c for c in found.verdict.codes if c.metric == "accuracy")
    assert pooled.code == "UNDERPOWERED"
    # n_ni at psi/2 each side, 41 / 402 flips, two points, alpha .05, power .8: between the
    # 982 of 6% and the 1,880 of 12% in the table of section 1.8.
    assert 1400 < pooled.values["equal_models"] < 1700


def test_hallucination_alone_holds_though_accuracy_stands() -> None:
    """A model can trade abstaining for asserting: accuracy alone must not gate."""
    spec = [(RIGHT, RIGHT, 1500), (ABSTAINED, WRONG, 300), (ABSTAINED, ABSTAINED, 200)]
    found = result((Family.FACTS, spec), hallucination=True)
    assert found.verdict.state is VerdictState.HOLD
    assert codes(found) == {"HALLUCINATION_UP"}
    assert found.pooled.accuracy.noninferior
    assert found.pooled.hallucination is not None
    assert found.pooled.hallucination.difference.value == pytest.approx(300 / 2000)
    assert found.pooled.hallucination.cells is not None
    assert found.pooled.hallucination.cells.gained == 300


def test_degenerate_answers_hold() -> None:
    spec = [(RIGHT, RIGHT, 1400), (WRONG, EMPTY, 100)]
    found = result((Family.MATH, spec))
    assert codes(found) == {"DEGENERATE_UP"}
    assert found.degenerate.difference.value == pytest.approx(100 / 1500)


def test_an_answer_with_nothing_to_score_is_not_correct_and_degenerate() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 1300), (RIGHT, UNSCORED, 200)]))
    assert found.pooled.candidate.correct == 1300
    assert found.pooled.candidate.unscored == 200
    assert {"DEGENERATE_UP", "DEGRADED_ACC"} <= codes(found)
    assert found.causes == {"math": {"unparsable": 200}}


def test_truncation_invalidates() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 900), (TRUNCATED, TRUNCATED, 100)]))
    assert found.verdict.state is VerdictState.INVALID
    assert found.verdict.exit_code == 5
    assert codes(found) == {"TRUNCATION"}


def test_truncation_that_differs_invalidates_at_a_lower_rate() -> None:
    differs = result((Family.MATH, [(RIGHT, RIGHT, 970), (RIGHT, TRUNCATED, 30)]))
    assert codes(differs) == {"TRUNCATION_DIFFERS"}
    same = result((Family.MATH, [(RIGHT, RIGHT, 970), (TRUNCATED, TRUNCATED, 30)]))
    assert not {"TRUNCATION", "TRUNCATION_DIFFERS"} & codes(same)


def test_a_loop_that_was_cut_is_degenerate_and_does_not_invalidate() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 900), (RIGHT, LOOP, 100)]))
    assert found.verdict.state is VerdictState.HOLD
    assert "DEGENERATE_UP" in codes(found)
    assert found.causes == {"math": {"loop": 100}}


def test_missing_answers_are_not_wrong_answers() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 2000), (RIGHT, MISSING, 3)]))
    assert found.pooled.candidate.n == 2000
    assert found.pooled.candidate.missing == 3
    assert found.pooled.accuracy.n_missing == 3
    assert found.pooled.accuracy.difference.value == 0


def test_too_many_missing_answers_invalidate() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 900), (MISSING, MISSING, 60)]))
    assert codes(found) == {"ERROR_RATE_HIGH"}


def test_missing_answers_of_one_arm_alone_invalidate() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 1900), (RIGHT, MISSING, 20)]))
    assert codes(found) == {"ERROR_RATE_DIFFERS"}


def test_a_verdict_that_hangs_on_missing_answers_is_missing_sensitive() -> None:
    spec = [(RIGHT, RIGHT, 1300), (RIGHT, WRONG, 8), (WRONG, RIGHT, 8), (MISSING, WRONG, 12)]
    spec += [(RIGHT, MISSING, 12)]
    found = result((Family.MATH, spec))
    assert found.verdict.state is VerdictState.INCONCLUSIVE
    pooled = next(c for c in found.verdict.codes if c.metric == "accuracy")
    assert pooled.code == "MISSING_SENSITIVE"


def test_broken_pairing_invalidates() -> None:
    exclusion = Exclusion(("math", "x", 0), ExclusionReason.PROMPT_MISMATCH)
    found = result((Family.MATH, EQUAL), exclusions=(exclusion,))
    assert codes(found) == {"PAIRING_BROKEN"}
    assert found.exclusions["prompt_mismatch"] == 1


def test_nothing_paired_is_invalid_and_no_crash() -> None:
    found = result((Family.MATH, []))
    assert codes(found) == {"NOTHING_PAIRED"}
    assert found.pooled.accuracy.difference.value is None


def test_everything_missing_is_invalid_and_no_crash() -> None:
    found = result((Family.MATH, [(MISSING, MISSING, 40)]))
    assert found.verdict.state is VerdictState.INVALID
    assert "ERROR_RATE_HIGH" in codes(found)
    assert found.pooled.accuracy.state is MetricState.TOO_FEW


def test_fewer_than_ten_independent_prompts_decide_nothing() -> None:
    found = result((Family.MATH, [(RIGHT, WRONG, 9)]))
    assert codes(found) == {"FEW_CLUSTERS"}


def test_confounders_invalidate() -> None:
    found = result((Family.MATH, EQUAL), confounders=(ReasonCode("CONFIG_MISMATCH"),))
    assert found.verdict.state is VerdictState.INVALID


def test_a_small_family_is_alarm_only_unless_it_is_critical() -> None:
    small = [(RIGHT, RIGHT, 100)]
    shipped = result((Family.MATH, EQUAL), (Family.CODE, small * 9), (Family.FACTS, small))
    families = {scope.scope: scope.accuracy for scope in shipped.families}
    assert families["math"].gated
    assert families["code"].gated
    assert not families["facts"].gated
    critical = Policy.model_validate({"margins": {"families": {"facts": 1.0}}})
    held = result((Family.MATH, EQUAL), (Family.FACTS, small), policy=critical)
    assert held.verdict.state is VerdictState.INCONCLUSIVE
    assert ("UNPROVABLE_N", "facts") in {(c.code, c.scope) for c in held.verdict.codes}


def test_a_small_unproven_family_is_listed_beside_a_ship() -> None:
    # 299 pairs with 18 losses and 6 gains: a loss of four points is not shown to be
    # under five, but the pool, with equal weights, still proves two.
    facts = [(RIGHT, RIGHT, 275), (RIGHT, WRONG, 18), (WRONG, RIGHT, 6)]
    better = [(RIGHT, RIGHT, 1700), (WRONG, RIGHT, 100), (WRONG, WRONG, 200)]
    found = result((Family.MATH, better), (Family.FACTS, facts))
    assert found.verdict.state is VerdictState.SHIP
    unproven = {(c.code, c.scope) for c in found.verdict.codes if c.code == "UNPROVEN"}
    assert unproven == {("UNPROVEN", "facts")}


def test_better_is_said_when_the_lower_limit_is_above_zero() -> None:
    found = result((Family.MATH, [(RIGHT, RIGHT, 1500), (WRONG, RIGHT, 60), (WRONG, WRONG, 440)]))
    assert found.verdict.state is VerdictState.SHIP
    assert "BETTER" in codes(found)
    assert found.pooled.accuracy.state is MetricState.SUPERIOR


def _verdict(state: VerdictState, *names: str) -> Verdict:
    exits = {"SHIP": 0, "HOLD": 3, "INCONCLUSIVE": 4, "INVALID": 5}
    return Verdict(state, tuple(ReasonCode(name) for name in names), exits[state])


SHIP = _verdict(VerdictState.SHIP, "ALL_NI")
HOLD = _verdict(VerdictState.HOLD, "DEGRADED_ACC")
OPEN = _verdict(VerdictState.INCONCLUSIVE, "UNDERPOWERED")
INVALID = _verdict(VerdictState.INVALID, "TRUNCATION")


@pytest.mark.parametrize(
    ("single", "expected", "action", "endpoint", "exit_code"),
    [
        ([SHIP], ["SHIP"], "ship_candidate", "c0", 0),
        ([HOLD], ["HOLD"], "keep_baseline", "b", 3),
        ([OPEN], ["INCONCLUSIVE"], "not_yet", None, 4),
        ([INVALID], ["INVALID"], "not_yet", None, 5),
        ([SHIP, SHIP], ["SHIP", "SHIP"], "ship_candidate", "c1", 0),
        ([SHIP, HOLD], ["SHIP", "HOLD"], "ship_candidate", "c0", 0),
        ([HOLD, SHIP], ["HOLD", "INCONCLUSIVE"], "not_yet", None, 4),
        ([OPEN, SHIP], ["INCONCLUSIVE", "INCONCLUSIVE"], "not_yet", None, 4),
        ([HOLD, HOLD], ["HOLD", "INCONCLUSIVE"], "not_yet", None, 4),
        ([SHIP, INVALID], ["SHIP", "INVALID"], "ship_candidate", "c0", 0),
    ],
)
def test_candidates_are_tested_in_sequence(
    single: list[Verdict],
    expected: list[str],
    action: str,
    endpoint: str | None,
    exit_code: int,
) -> None:
    verdicts = decide_in_sequence(single)
    assert [verdict.state.value for verdict in verdicts] == expected
    names = [f"c{index}" for index in range(len(single))]
    recommendation = recommend("b", names, verdicts)
    assert (recommendation.action, recommendation.endpoint) == (action, endpoint)
    assert gate_exit_code(recommendation, verdicts) == exit_code


def test_the_sequence_says_why_it_stopped() -> None:
    assert decide_in_sequence([HOLD, SHIP])[1].codes[0].code == "SEQUENCE_STOPPED"
    assert decide_in_sequence([HOLD, HOLD])[1].codes[0].code == "BOTH_DEGRADED"


def test_outcomes_are_counted_three_by_three_where_abstaining_is_possible() -> None:
    spec = [
        (RIGHT, RIGHT, 30), (RIGHT, WRONG, 3), (RIGHT, ABSTAINED, 4),
        (WRONG, RIGHT, 5), (WRONG, WRONG, 20), (WRONG, ABSTAINED, 6),
        (ABSTAINED, RIGHT, 7), (ABSTAINED, WRONG, 8), (ABSTAINED, UNSCORED, 9),
        (RIGHT, MISSING, 1),
    ]  # fmt: skip
    found = result((Family.FACTS, spec), hallucination=True)
    assert found.pooled.transitions == ((30, 3, 4), (5, 20, 6), (7, 8, 9))
    assert found.families[0].transitions == found.pooled.transitions
    assert result((Family.FACTS, spec)).pooled.transitions is None
