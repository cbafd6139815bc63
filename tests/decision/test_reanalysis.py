"""Which policy gates, when there is more than one."""

from __future__ import annotations

import pytest

from evalkit.decision.reanalysis import gating, policy_threats, readings, versions_of
from evalkit.policy import Margins, Policy
from evalkit.results import ReasonCode, Verdict, VerdictState

TWO, THREE, ONE = (Policy(margins=Margins(accuracy=width)) for width in (2, 3, 1))


def verdict(state: str | None) -> Verdict | None:
    if state is None:
        return None
    return Verdict(VerdictState(state), (ReasonCode("X"),), 0)


@pytest.mark.parametrize(
    ("states", "place"),
    [
        (["SHIP", "SHIP"], 0),
        (["SHIP", "INCONCLUSIVE"], 1),
        (["SHIP", "HOLD"], 1),
        (["SHIP", "SHIP", "INVALID"], 2),
        (["INCONCLUSIVE", "SHIP"], 0),
        (["INCONCLUSIVE", "HOLD"], 0),
        (["HOLD", "SHIP"], 0),
        (["INVALID", "SHIP"], 0),
        (["SHIP", None], 0),
        (["HOLD", None, "SHIP"], 0),
    ],
)
def test_a_later_policy_can_only_take_a_ship_away(states: list[str | None], place: int) -> None:
    assert gating([verdict(state) for state in states]) == place


def declared(arm: str, policy: Policy) -> tuple[str, str, dict[str, object]]:
    return arm, policy.fingerprint, policy.model_dump(mode="json")


def test_the_policies_of_the_runs_come_before_the_present_one() -> None:
    found = versions_of([declared("q8", TWO), declared("q4", ONE)], THREE)
    assert [(v.policy, v.declared_by) for v in found] == [
        (TWO, ("q8",)),
        (ONE, ("q4",)),
        (THREE, ()),
    ]


def test_one_policy_is_one_reading_and_no_threat() -> None:
    found = versions_of([declared("q8", TWO), declared("q4", TWO)], TWO)
    assert [v.declared_by for v in found] == [("q8", "q4")]
    told = readings(found, [verdict("SHIP")])
    assert told == ()
    assert policy_threats(told) == ()


def test_a_run_that_says_nothing_stands_under_the_present_policy() -> None:
    assert len(versions_of([("q8", None, None), declared("q4", TWO)], TWO)) == 1


def test_a_policy_known_by_its_hash_alone_is_told_and_does_not_gate() -> None:
    found = versions_of([("q8", "feed", None), ("q4", "feed", {"alfa": 1})], TWO)
    assert [(v.policy_hash, v.policy) for v in found] == [
        (TWO.fingerprint, TWO),
        ("feed", None),
    ]
    told = readings(found, [verdict("SHIP"), None])
    assert [reading.gates for reading in told] == [True, False]
    (threat,) = policy_threats(told)
    assert threat.code == "POLICY_UNKNOWN"
    assert threat.values["arms"] == ["q8", "q4"]


def test_a_hash_alone_is_enough_where_it_is_the_present_one() -> None:
    assert len(versions_of([("q8", TWO.fingerprint, None)], TWO)) == 1


def test_every_changed_number_is_named_old_to_new() -> None:
    found = versions_of([declared("q8", TWO)], Policy(alpha=0.1, margins=Margins(accuracy=3)))
    (threat,) = policy_threats(readings(found, [verdict("HOLD"), verdict("SHIP")]))
    assert threat.code == "POLICY_CHANGED"
    assert threat.values["changes"] == ["alpha 0.05 → 0.1", "margins.accuracy 2.0 → 3.0"]
    assert (threat.values["before"], threat.values["after"]) == ("HOLD", "SHIP")
