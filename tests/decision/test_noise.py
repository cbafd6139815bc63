"""The noise floor: what is counted, against what, and what never depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.noise import flips_high, measure_noise
from evalkit.decision.pairing import Answer, Key, Pair, Pairing
from evalkit.policy import Margins, Policy
from evalkit.results import CandidateResult, ReasonCode, VerdictState
from evalkit.stats.engine import engine_interval, summarize
from evalkit.stats.rates import wilson
from evalkit.types import REPEAT_EPOCH, Family
from tests.builders import MISSING, RIGHT, WRONG, answer, pairs, taskset

POLICY = Policy()
# Margins that a few hundred pairs with many flips can meet.
LOOSE = Policy(margins=Margins(accuracy=20, hallucination=20, degenerate=20), max_missing=50)


def again(made: list[Pair], kinds: Mapping[int, str], default: str = RIGHT) -> dict[Key, Answer]:
    """Ask the baseline again: everything as `default`, but for some places."""
    return {
        (p.sample.taskset, p.sample.id, REPEAT_EPOCH): answer(
            p.sample, kinds.get(place, default), epoch=REPEAT_EPOCH
        )
        for place, p in enumerate(made)
    }


def test_flips_of_the_baseline_and_the_excess_of_the_candidate() -> None:
    made = pairs([(RIGHT, WRONG, 12), (RIGHT, RIGHT, 88)])
    # Of the candidate's twelve flips the baseline shows three itself, and two more elsewhere.
    noise = measure_noise(made, again(made, dict.fromkeys((0, 1, 2, 50, 51), WRONG)), temperature=0)
    assert noise is not None
    assert (noise.source, noise.asked) == ("batching", 100)
    assert noise.pooled.repeat_flips == wilson(5, 100)
    assert noise.pooled.candidate_flips == wilson(12, 100)
    assert noise.all_flips == wilson(12, 100)
    indicators = np.array([0.0] * 3 + [1.0] * 9 + [0.0] * 38 + [-1.0] * 2 + [0.0] * 48)
    assert noise.pooled.excess == engine_interval(summarize(indicators))
    assert noise.pooled.excess.value == pytest.approx(0.07)


def test_the_share_that_was_asked_again_is_compared_on_its_own_samples() -> None:
    made = pairs([(RIGHT, WRONG, 30), (RIGHT, RIGHT, 270)])
    some = dict(list(again(made, {0: WRONG}).items())[:60])
    noise = measure_noise(made, some, temperature=0.7)
    assert noise is not None
    assert noise.source == "sampling"
    assert (noise.asked, noise.pooled.repeat_flips.n, noise.all_flips.n) == (60, 60, 300)
    assert noise.pooled.candidate_flips.value == pytest.approx(30 / 60)
    assert noise.all_flips.value == pytest.approx(30 / 300)


def test_missing_answers_are_neither_flips_nor_agreement() -> None:
    made = pairs([(RIGHT, RIGHT, 20), (RIGHT, MISSING, 3), (MISSING, RIGHT, 2)])
    noise = measure_noise(made, again(made, {0: MISSING}), temperature=0)
    assert noise is not None
    # 25 asked again: two have no first answer, one no second; three lack the candidate's.
    assert noise.asked == 25
    assert noise.pooled.repeat_flips.n == 22
    assert noise.pooled.excess.n == 19
    assert measure_noise(made[-2:], again(made[-2:], {}), temperature=0) is None
    assert measure_noise(made, {}, temperature=0) is None


def test_only_the_first_epoch_is_compared_with() -> None:
    made = pairs([(RIGHT, RIGHT, 12)])
    second = [replace(p, epoch=1, baseline=answer(p.sample, WRONG, epoch=1)) for p in made]
    noise = measure_noise([*made, *second], again(made, {}), temperature=0.7)
    assert noise is not None
    assert noise.pooled.repeat_flips == wilson(0, 12)


def test_families_are_told_where_there_are_ten_samples() -> None:
    many = pairs([(RIGHT, RIGHT, 30)], taskset="facts", family=Family.FACTS)
    few = pairs([(RIGHT, RIGHT, 9)], taskset="math", family=Family.MATH)
    made = [*many, *few]
    noise = measure_noise(made, again(made, {}), temperature=0)
    assert noise is not None
    assert [scope.scope for scope in noise.families] == ["facts"]
    assert noise.pooled.repeat_flips.n == 39


def test_samples_of_one_passage_count_as_one_unit() -> None:
    made = pairs([(RIGHT, WRONG, 10), (RIGHT, RIGHT, 50)])
    made = [
        replace(p, sample=replace(p.sample, cluster=f"passage {i // 5}"))
        for i, p in enumerate(made)
    ]
    noise = measure_noise(made, again(made, {}), temperature=0)
    assert noise is not None
    assert noise.pooled.excess.n_clusters == 12
    assert noise.pooled.candidate_flips.n_clusters == 12
    loose = measure_noise(made[:45], again(made[:45], {}), temperature=0)
    assert not flips_high(loose, POLICY), "nine passages are too few to say so"


def compared(made: list[Pair], repeats: Mapping[Key, Answer], policy: Policy) -> CandidateResult:
    sets = [taskset([p.sample for p in made], measures_hallucination=True)]
    return compare_pairs("q4", Pairing(tuple(made), ()), sets, policy, repeats=repeats)


@pytest.mark.parametrize(("flipped_again", "high"), [(0, True), (3, True), (4, False), (16, False)])
def test_a_ship_with_many_flips_beyond_the_noise_says_so(flipped_again: int, high: bool) -> None:
    # Ten lost, ten gained, of 400: the accuracies are equal, and 5% flip.
    made = pairs([(RIGHT, WRONG, 10), (WRONG, RIGHT, 10), (RIGHT, RIGHT, 380)])
    stable = dict.fromkeys(range(10, 20), WRONG)
    repeats = again(made, {**stable, **dict.fromkeys(range(30, 30 + flipped_again), WRONG)})
    result = compared(made, repeats, LOOSE)
    assert result.noise is not None
    assert result.noise.pooled.excess.value == pytest.approx((20 - flipped_again) / 400)
    assert result.verdict.state is VerdictState.SHIP
    assert result.verdict.exit_code == 0
    codes = {code.code: code for code in result.verdict.codes}
    assert ("FLIPS_HIGH" in codes) == high
    threat = next(t for t in result.threats if t.code == "NOISE_FLOOR")
    assert threat.level == ("warn" if high else "ok")
    if high:
        told: ReasonCode = codes["FLIPS_HIGH"]
        assert told.values["limit_rate"] == pytest.approx(0.04)
        assert told.values["excess_rate"] > 0.04


@pytest.mark.parametrize(
    ("spec", "policy"),
    [
        ([(RIGHT, WRONG, 10), (WRONG, RIGHT, 10), (RIGHT, RIGHT, 380)], LOOSE),
        ([(RIGHT, WRONG, 60), (RIGHT, RIGHT, 340)], POLICY),
        ([(RIGHT, WRONG, 6), (WRONG, RIGHT, 5), (RIGHT, RIGHT, 50)], POLICY),
        ([(RIGHT, MISSING, 30), (RIGHT, RIGHT, 50)], POLICY),
    ],
    ids=["ship", "hold", "inconclusive", "invalid"],
)
def test_nothing_but_the_noise_itself_depends_on_it(
    spec: list[tuple[str, str, int]], policy: Policy
) -> None:
    made = pairs(spec)
    without = compared(made, {}, policy)
    quiet = compared(made, again(made, {}), policy)
    wild = compared(made, again(made, dict.fromkeys(range(0, len(made), 2), WRONG)), policy)
    assert without.noise is None
    assert quiet.noise != wild.noise
    for result in (quiet, wild):
        assert (result.verdict.state, result.verdict.exit_code) == (
            without.verdict.state,
            without.verdict.exit_code,
        )
        codes = tuple(c for c in result.verdict.codes if c.code != "FLIPS_HIGH")
        threats = [t for t in result.threats if t.code != "NOISE_FLOOR"]
        assert codes == without.verdict.codes
        assert threats == [t for t in without.threats if t.code != "NOISE_FLOOR"]
        assert (
            replace(result, noise=None, verdict=without.verdict, threats=without.threats) == without
        )


def test_a_few_samples_are_a_note_and_no_good_news() -> None:
    made = pairs([(RIGHT, WRONG, 3), (RIGHT, RIGHT, 60)])
    result = compared(made, dict(list(again(made, {}).items())[:9]), POLICY)
    threat = next(t for t in result.threats if t.code == "NOISE_FLOOR")
    assert (threat.level, threat.values["n"]) == ("warn", 9)
