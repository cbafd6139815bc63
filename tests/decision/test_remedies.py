"""Remedies: each with its finding, none without, plumbing first."""

from __future__ import annotations

import pytest

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.pairing import Pairing
from evalkit.policy import Policy
from evalkit.results import CandidateResult, Remedy, VerdictState
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

Spec = list[tuple[str, str, int]]

EQUAL: Spec = [(RIGHT, RIGHT, 1500), (RIGHT, WRONG, 15), (WRONG, RIGHT, 15), (WRONG, WRONG, 470)]
BROKEN: Spec = [(RIGHT, RIGHT, 1400), (RIGHT, WRONG, 300), (WRONG, WRONG, 300)]


def result(
    specs: dict[Family, Spec],
    *,
    temperature: float = 0.0,
    policy: Policy | None = None,
    hallucination: bool = False,
) -> CandidateResult:
    made, sets = [], []
    for family, spec in specs.items():
        group = pairs(spec, taskset=family.value, family=family)
        made += group
        sets.append(
            taskset(
                [one.sample for one in group], family=family, measures_hallucination=hallucination
            )
        )
    pairing = Pairing(tuple(made), ())
    return compare_pairs("q4", pairing, sets, policy or Policy(), temperature=temperature)


def remedies(found: CandidateResult) -> dict[str, Remedy]:
    return {remedy.code: remedy for remedy in found.remedies}


def test_a_candidate_that_ships_needs_nothing() -> None:
    found = result({Family.MATH: EQUAL, Family.FACTS: EQUAL}, temperature=1.0)
    assert found.verdict.state is VerdictState.SHIP
    assert found.remedies == ()


def test_truncation_asks_for_more_tokens_and_for_nothing_else() -> None:
    found = result({Family.MATH: [(RIGHT, RIGHT, 900), (RIGHT, TRUNCATED, 100)]}, temperature=1.0)
    assert found.verdict.state is VerdictState.INVALID
    (remedy,) = found.remedies
    assert remedy.code == "RAISE_MAX_TOKENS"
    assert remedy.families == ("math",)
    assert dict(remedy.values) == {"baseline": 0, "candidate": 100, "n": 1000, "regressions": 100}


def test_missing_answers_are_to_be_asked_again() -> None:
    found = result({Family.MATH: [(RIGHT, RIGHT, 900), (RIGHT, MISSING, 60)]})
    (remedy,) = found.remedies
    assert remedy.code == "RERUN_MISSING"
    assert (remedy.values["baseline"], remedy.values["candidate"]) == (0, 60)
    assert remedy.values["reasons"] == {"infra:Timeout": 60}


@pytest.mark.parametrize("kind", [EMPTY, UNSCORED])
def test_broken_answers_point_at_the_template(kind: str) -> None:
    found = result({Family.MATH: [(RIGHT, RIGHT, 1300), (RIGHT, kind, 200)]})
    first = found.remedies[0]
    assert first.code == "CHECK_TEMPLATE"
    flag = "empty" if kind == EMPTY else "bad_format"
    assert first.values["flags"] == {flag: (0, 200)}
    assert first.values["regressions"] == 200


def test_a_broken_answer_or_two_point_at_nothing() -> None:
    few: Spec = [*BROKEN, (WRONG, EMPTY, 2), (EMPTY, WRONG, 1)]
    assert "CHECK_TEMPLATE" not in remedies(result({Family.MATH: few}))


def test_loops_are_a_matter_of_sampling_at_any_temperature() -> None:
    looping: dict[Family, Spec] = {Family.MATH: [(RIGHT, RIGHT, 900), (RIGHT, LOOP, 100)]}
    for temperature in (0.0, 0.7):
        found = remedies(result(looping, temperature=temperature))
        assert found["CURB_LOOPS"].values["candidate"] == 100
        assert found["CURB_LOOPS"].families == ("math",)
        assert not {"LOWER_TEMPERATURE", "CHECK_TEMPLATE"} & found.keys()


def test_temperature_is_only_lowered_where_it_is_above_zero() -> None:
    greedy = remedies(result({Family.MATH: BROKEN}))
    sampled = remedies(result({Family.MATH: BROKEN}, temperature=0.7))
    assert "LOWER_TEMPERATURE" not in greedy
    assert sampled["LOWER_TEMPERATURE"].values["regressions"] == 300


def test_families_that_stand_are_routed_and_the_mix_is_proven() -> None:
    found = result({Family.FACTS: EQUAL, Family.CODE: BROKEN, Family.LONGFORM: EQUAL})
    assert found.verdict.state is VerdictState.HOLD
    route = remedies(found)["ROUTE_FAMILIES"]
    assert route.families == ("facts", "longform")
    assert route.values["kept"] == ("code",)
    # Code stays on the baseline: its difference is zero, not a loss of fifteen points.
    assert route.values["difference"] == 0
    assert -0.02 < route.values["low"] < 0 < route.values["high"]


def test_the_mix_has_the_weight_of_its_families() -> None:
    """A family at -2.5 points, one of two, costs the mix 1.25 of the 2 that it may lose."""
    slight: Spec = [(RIGHT, RIGHT, 3000), (RIGHT, WRONG, 180), (WRONG, RIGHT, 30)]
    slight.append((WRONG, WRONG, 6000 - 3210))
    found = result({Family.MATH: slight, Family.CODE: BROKEN})
    route = remedies(found)["ROUTE_FAMILIES"]
    math = next(scope for scope in found.families if scope.scope == "math").accuracy.difference
    assert route.families == ("math",)
    assert route.values["difference"] == pytest.approx(math.value / 2 if math.value else None)
    assert route.values["low"] == pytest.approx(math.low / 2 if math.low else None)


def test_a_mix_that_is_not_proven_is_not_offered_as_proven() -> None:
    # Four points down, with a margin of its own of ten: non-inferior there, but two of
    # three families at that loss break two points for the whole.
    worse: Spec = [(RIGHT, RIGHT, 1500), (RIGHT, WRONG, 100), (WRONG, RIGHT, 20)]
    worse.append((WRONG, WRONG, 380))
    wide = Policy.model_validate({"margins": {"families": {"facts": 10.0, "longform": 10.0}}})
    families = {Family.FACTS: worse, Family.CODE: BROKEN, Family.LONGFORM: worse}
    found = result(families, policy=wide)
    scopes = {scope.scope: scope.accuracy.noninferior for scope in found.families}
    assert scopes == {"facts": True, "code": False, "longform": True}
    unproven = remedies(found)["ROUTE_UNPROVEN"]
    assert "ROUTE_FAMILIES" not in remedies(found)
    assert unproven.values["low"] < -0.02


def test_no_family_stands_so_none_is_routed() -> None:
    small: Spec = [(RIGHT, RIGHT, 60)]
    unproven = remedies(result({Family.FACTS: small, Family.CODE: BROKEN}))["ROUTE_UNPROVEN"]
    assert unproven.families == ()
    assert unproven.values["kept"] == ("facts", "code")


def test_a_family_whose_hallucinations_rise_is_not_routed() -> None:
    trading: Spec = [(RIGHT, RIGHT, 1500), (ABSTAINED, WRONG, 300), (ABSTAINED, ABSTAINED, 200)]
    found = result({Family.FACTS: trading, Family.MATH: EQUAL}, hallucination=True)
    route = remedies(found)["ROUTE_FAMILIES"]
    assert (route.families, route.values["kept"]) == (("math",), ("facts",))
    retrieval = remedies(found)["ADD_RETRIEVAL"]
    assert retrieval.values["metric"] == "hallucination"
    assert retrieval.values["difference"] == pytest.approx(300 / 2000)


def test_without_a_damaged_family_there_is_no_routing() -> None:
    found = result({Family.FACTS: [(RIGHT, RIGHT, 50)], Family.MATH: [(RIGHT, RIGHT, 50)]})
    assert found.verdict.state is VerdictState.INCONCLUSIVE
    assert set(remedies(found)) == {"COMPARE_ANEW"}


def test_retrieval_is_for_facts_that_were_answered_wrongly() -> None:
    assert "ADD_RETRIEVAL" in remedies(result({Family.FACTS: BROKEN, Family.MATH: EQUAL}))
    assert "ADD_RETRIEVAL" not in remedies(result({Family.FACTS: EQUAL, Family.MATH: BROKEN}))
    empty: Spec = [(RIGHT, RIGHT, 1400), (RIGHT, EMPTY, 300), (WRONG, WRONG, 300)]
    assert "ADD_RETRIEVAL" not in remedies(result({Family.FACTS: empty, Family.MATH: EQUAL}))


def test_weights_are_to_blame_only_when_several_families_lose() -> None:
    one = result({Family.CODE: BROKEN, Family.MATH: EQUAL})
    two = result({Family.CODE: BROKEN, Family.MATH: BROKEN})
    assert "MIXED_PRECISION" not in remedies(one)
    assert remedies(two)["MIXED_PRECISION"].families == ("code", "math")
    assert remedies(two)["MIXED_PRECISION"].values["regressions"] == 600


def test_prompts_to_add_are_those_of_the_most_demanding_metric() -> None:
    found = result({Family.MATH: [(RIGHT, RIGHT, 360), (RIGHT, WRONG, 20), (WRONG, RIGHT, 20)]})
    needed = [code.values.get("equal_models", 0) for code in found.verdict.codes]
    anew = remedies(found)["COMPARE_ANEW"]
    assert anew.values["anew"] == max(needed) > 400


def test_plumbing_comes_first_and_more_prompts_last() -> None:
    looped: Spec = [*BROKEN, (RIGHT, EMPTY, 60)]
    found = result({Family.FACTS: looped, Family.CODE: BROKEN, Family.MATH: EQUAL}, temperature=0.7)
    assert [remedy.code for remedy in found.remedies] == [
        "CHECK_TEMPLATE",
        "ROUTE_FAMILIES",
        "LOWER_TEMPERATURE",
        "ADD_RETRIEVAL",
        "MIXED_PRECISION",
    ]
