"""Every reason code, from pairs through the decision to the sentence in both languages.

The table says how to bring about each one. A code of the catalogue that no row reaches, and
a code that the rule gives without a sentence of its own, fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.collect.journal import RunFolder
from evalkit.collect.preflight.findings import Cost, Finding, ProbeRecord
from evalkit.decision.comparison import compare_pairs
from evalkit.decision.looks import Asked, PastLook, find_look, unplanned_look
from evalkit.decision.pairing import Exclusion, ExclusionReason, Pair, Pairing
from evalkit.decision.verdict import decide_in_sequence
from evalkit.policy import Policy
from evalkit.report.catalogue_en import WORDS
from evalkit.report.view import build_view
from evalkit.report.words import Words
from evalkit.results import CandidateResult, Comparison, ReasonCode
from evalkit.stages.checking import find_confounders
from evalkit.stages.collecting import CollectedRun
from evalkit.types import REPEAT_EPOCH, Family, Identity, ScoreStatus
from tests.builders import (
    ABSTAINED,
    EMPTY,
    MISSING,
    RIGHT,
    TRUNCATED,
    WRONG,
    pairs,
    taskset,
)
from tests.report.fixtures import comparison

Spec = list[tuple[str, str, int]]
EQUAL: Spec = [(RIGHT, RIGHT, 1500), (RIGHT, WRONG, 15), (WRONG, RIGHT, 15), (WRONG, WRONG, 470)]
BROKEN: Spec = [(RIGHT, RIGHT, 700), (RIGHT, WRONG, 200), (WRONG, WRONG, 100)]
FEW: Spec = [(RIGHT, RIGHT, 50)]


def decided(
    specs: dict[Family, Spec],
    *,
    hallucination: bool = False,
    change: Callable[[Pair], Pair] = lambda pair: pair,
    exclusions: tuple[Exclusion, ...] = (),
    confounders: tuple[ReasonCode, ...] = (),
    repeated: bool = False,
    **numbers: object,
) -> CandidateResult:
    made, sets = [], []
    for family, spec in specs.items():
        group = [change(p) for p in pairs(spec, taskset=family.value, family=family)]
        made += group
        sets.append(
            taskset([p.sample for p in group], family=family, measures_hallucination=hallucination)
        )
    return compare_pairs(
        "q4",
        Pairing(tuple(made), exclusions),
        sets,
        Policy.model_validate(numbers),
        confounders=confounders,
        repeats={(p.sample.taskset, p.sample.id, REPEAT_EPOCH): p.baseline for p in made}
        if repeated
        else None,
    )


def in_sequence(*results: CandidateResult) -> CandidateResult:
    """Return the last one, as it stands in the fixed sequence."""
    verdicts = decide_in_sequence([result.verdict for result in results])
    return replace(results[-1], verdict=verdicts[-1])


def confounded(**other: object) -> tuple[ReasonCode, ...]:
    one = Identity("openai", "m", weights_hash="a", template_hash="t", base_url="http://a")
    two = replace(one, **{"weights_hash": "b", "base_url": "http://b", **other})
    runs = [
        CollectedRun(name, name, identity, RunFolder(Path(name)), ())
        for name, identity in (("q8", one), ("q4", two))
    ]
    return tuple(find_confounders(runs)["q4"])


def found_out(finding: str | None = None, changed: str | None = None) -> tuple[ReasonCode, ...]:
    """Return what stands against a candidate by itself: a failed check, a change in its run."""
    one = Identity("openai", "m", weights_hash="a", base_url="http://a")
    two = replace(one, weights_hash="b", base_url="http://b")
    failed = [] if finding is None else [Finding(finding, "failed", "It is so.")]
    record = ProbeRecord("q4", two, tuple(failed), {}, (), (), (), Cost(0, 0, 0, 0, 0.0))
    runs = [
        CollectedRun("q8", "q8", one, RunFolder(Path("q8")), ()),
        CollectedRun("q4", "q4", two, RunFolder(Path("q4")), (), record=record, changed=changed),
    ]
    return tuple(find_confounders(runs)["q4"])


def second_look() -> tuple[ReasonCode, ...]:
    asked = Asked({"math": ("a", "b")}, {"math": 2}, 1, ("x", "y"))
    look = find_look([PastLook({"math": (1, "z")}, 1, ("x", "y"))], asked, "single")
    return unplanned_look(look, Policy())


def scorer_failed(pair: Pair) -> Pair:
    score = replace(pair.candidate.score, status=ScoreStatus.ERROR, value=None, outcome=None)
    return replace(pair, candidate=replace(pair.candidate, score=score))


def judge_failed(pair: Pair) -> Pair:
    score = replace(
        pair.candidate.score,
        status=ScoreStatus.MISSING,
        value=None,
        outcome=None,
        reason="judge:unparsable",
    )
    return replace(pair, candidate=replace(pair.candidate, score=score))


CASES: dict[str, Callable[[], CandidateResult]] = {
    "ALL_NI": lambda: decided({Family.MATH: EQUAL}),
    "UNPROVEN": lambda: decided(
        {
            Family.MATH: [(RIGHT, RIGHT, 1700), (WRONG, RIGHT, 100), (WRONG, WRONG, 200)],
            Family.FACTS: [(RIGHT, RIGHT, 275), (RIGHT, WRONG, 18), (WRONG, RIGHT, 6)],
        }
    ),
    "BETTER": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 1500), (WRONG, RIGHT, 60), (WRONG, WRONG, 440)]}
    ),
    # As many gains as losses, and a baseline that repeats itself.
    "FLIPS_HIGH": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 5600), (RIGHT, WRONG, 200), (WRONG, RIGHT, 200)]},
        repeated=True,
    ),
    "DEGRADED_ACC": lambda: decided({Family.MATH: BROKEN}),
    "HALLUCINATION_UP": lambda: decided(
        {
            Family.FACTS: [
                (RIGHT, RIGHT, 1500),
                (ABSTAINED, WRONG, 300),
                (ABSTAINED, ABSTAINED, 200),
            ]
        },
        hallucination=True,
    ),
    "DEGENERATE_UP": lambda: decided({Family.MATH: [(RIGHT, RIGHT, 1400), (WRONG, EMPTY, 100)]}),
    "BOTH_DEGRADED": lambda: in_sequence(
        decided({Family.MATH: BROKEN}), decided({Family.MATH: BROKEN})
    ),
    "SEQUENCE_STOPPED": lambda: in_sequence(
        decided({Family.MATH: BROKEN}), decided({Family.MATH: EQUAL})
    ),
    "MISSING_SENSITIVE": lambda: decided(
        {
            Family.MATH: [
                (RIGHT, RIGHT, 1300),
                (RIGHT, WRONG, 8),
                (WRONG, RIGHT, 8),
                (MISSING, WRONG, 12),
                (RIGHT, MISSING, 12),
            ]
        }
    ),
    "UNPROVABLE_N": lambda: decided({Family.MATH: FEW}),
    "UNDERPOWERED": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 360), (RIGHT, WRONG, 20), (WRONG, RIGHT, 20)]}
    ),
    "LEANS_BAD": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 1240), (WRONG, RIGHT, 20), (RIGHT, WRONG, 35)]}
    ),
    "NEAR_MARGIN": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 1240), (WRONG, RIGHT, 20), (RIGHT, WRONG, 46)]}
    ),
    "STAGE_2_DUE": lambda: decided({Family.MATH: FEW}, plan="two-stage"),
    "PAIRING_BROKEN": lambda: decided(
        {Family.MATH: EQUAL},
        exclusions=(Exclusion(("math", "x", 0), ExclusionReason.PROMPT_MISMATCH),),
    ),
    "CONFIG_MISMATCH": lambda: decided(
        {Family.MATH: EQUAL}, confounders=confounded(template_hash="other")
    ),
    "SAME_ENDPOINT": lambda: decided(
        {Family.MATH: EQUAL}, confounders=confounded(weights_hash="a")
    ),
    "ERROR_RATE_HIGH": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 900), (MISSING, MISSING, 60)]}
    ),
    "ERROR_RATE_DIFFERS": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 1900), (RIGHT, MISSING, 20)]}
    ),
    "SCORERS_FAILED": lambda: decided({Family.MATH: FEW}, change=scorer_failed),
    "TRUNCATION": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 900), (TRUNCATED, TRUNCATED, 100)]}
    ),
    "TRUNCATION_DIFFERS": lambda: decided(
        {Family.MATH: [(RIGHT, RIGHT, 970), (RIGHT, TRUNCATED, 30)]}
    ),
    "FEW_CLUSTERS": lambda: decided({Family.MATH: [(RIGHT, WRONG, 9)]}),
    "BASELINE_ZERO": lambda: decided({Family.MATH: [(WRONG, WRONG, 700)]}),
    "NOTHING_PAIRED": lambda: decided({Family.MATH: []}),
    "JUDGE_WEAK": lambda: decided(
        {Family.MATH: EQUAL},
        judges={"math": {"sensitivity": 0.7, "specificity": 0.7, "n_right": 200, "n_wrong": 200}},
    ),
    "JUDGE_FAILED": lambda: decided({Family.MATH: FEW}, change=judge_failed),
    "PREFLIGHT_FAILED": lambda: decided(
        {Family.MATH: EQUAL}, confounders=found_out(finding="max_tokens")
    ),
    "NOT_QUANTIZED": lambda: decided(
        {Family.MATH: EQUAL}, confounders=found_out(finding="quantization")
    ),
    "IDENTITY_CHANGED": lambda: decided(
        {Family.MATH: EQUAL}, confounders=found_out(changed="The model is another one now.")
    ),
    "UNPLANNED_LOOK": lambda: decided({Family.MATH: EQUAL}, confounders=second_look()),
}
# Sentences that stand for a code under other circumstances.
_PHRASES = {"LEANS_BAD": "UNDERPOWERED", "NEAR_MARGIN": "UNDERPOWERED"}
_FALLBACK = {"other"}


def shown(result: CandidateResult) -> Comparison:
    return replace(comparison("SHIP"), results=(result,))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("code", CASES)
def test_a_code_is_reached_and_told(code: str, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    original = Words.__call__

    def recording(self: Words, key: str, **facts: str) -> str:
        used.append(key)
        return original(self, key, **facts)

    monkeypatch.setattr(Words, "__call__", recording)
    result = CASES[code]()
    wanted = _PHRASES.get(code, code)
    assert wanted in {found.code for found in result.verdict.codes}
    view = build_view(shown(result), lang)
    reasons = [r for r in view.candidates[0].reasons if r.code == wanted]
    assert all(reason.text for reason in reasons)
    assert reasons
    assert f"reason.{code}" in used, "the sentence is this code's own"


def test_no_code_of_the_catalogue_is_left_out() -> None:
    told = {key.removeprefix("reason.") for key in WORDS if key.startswith("reason.")}
    assert told - _FALLBACK == set(CASES)
