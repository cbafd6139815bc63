"""Sizes: golden for one family, right by simulation for the pooled score, one for all readers."""

from __future__ import annotations

import doctest
from types import ModuleType, SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from evalkit.decision import plan, sizes
from evalkit.decision.comparison import compare_pairs
from evalkit.decision.needed import prompts_needed
from evalkit.decision.pairing import Pairing
from evalkit.decision.plan import outlook
from evalkit.decision.questions import Part, questions_of_comparison
from evalkit.decision.sizes import (
    Stratum,
    chance,
    equal_arms,
    floor_of,
    score_law,
    size_for,
    smoothed_flips,
)
from evalkit.policy import Policy
from evalkit.results import Comparison, MetricResult
from evalkit.stats.engine import from_counts, summarize
from evalkit.stats.paired import tango_limits
from evalkit.stats.power import n_noninferiority
from evalkit.types import Family
from tests.builders import RIGHT, WRONG, pairs, taskset

POLICY = Policy()
Z = 1.6448536269514722


@pytest.mark.parametrize("module", [plan, sizes])
def test_examples(module: ModuleType) -> None:
    results = doctest.testmod(module, extraglobs={"Part": Part, "Policy": Policy})
    assert results.failed == 0
    assert results.attempted > 0


def simulated_power(
    strata: list[Stratum], margin: float, z: float = Z, rounds: int = 20_000
) -> float:
    """Share of simulated runs in which the pooled lower limit at z clears the margin.

    The limit is MOVER's, written out here anew; each family's own limit is computed once
    for each pair of counts.
    """
    rng = np.random.default_rng(20261130)
    total, square = np.zeros(rounds), np.zeros(rounds)
    for one in strata:
        cells = rng.multinomial(one.n, [one.gained, one.lost, 1 - one.gained - one.lost], rounds)
        counts, place = np.unique(cells[:, :2], axis=0, return_inverse=True)
        low = np.array([tango_limits(int(b), int(c), one.n, z)[0] for b, c in counts])
        difference = (counts[:, 0] - counts[:, 1]) / one.n
        total += difference[place] / len(strata)
        square += ((difference - low)[place] / len(strata)) ** 2
    return float(np.mean(total - np.sqrt(square) > -margin))


@pytest.mark.parametrize(
    ("sizes_of", "rates", "margin"),
    [
        ((60,) * 5, (0.06,) * 5, 0.02),
        ((400, 200, 100), (0.03, 0.06, 0.12), 0.02),
        ((100, 300), (0.02, 0.10), 0.03),
    ],
)
def test_the_pooled_size_has_the_power_that_it_promises(
    sizes_of: tuple[int, ...], rates: tuple[float, ...], margin: float
) -> None:
    strata = [equal_arms(n, rate) for n, rate in zip(sizes_of, rates, strict=True)]
    size = size_for(strata, margin=margin, alpha=0.05, power=0.8)
    assert size is not None
    scale = size / sum(sizes_of)
    drawn = [equal_arms(round(s.n * scale), s.gained + s.lost) for s in strata]
    # Four Monte Carlo errors, and half a point for a normal law of what is discrete.
    assert simulated_power(drawn, margin) == pytest.approx(0.8, abs=0.0163)


@pytest.mark.parametrize("z", [0.3, 1.2, 1.8, 2.576, 3.2])
def test_the_law_of_the_pooled_z_is_that_of_simulated_runs(z: float) -> None:
    """Two stages are planned with it: z is reached when the limit at z clears the margin."""
    strata = [equal_arms(180, 0.06)] * 3 + [equal_arms(90, 0.1)] * 2
    law = score_law(strata, margin=0.03, scale=1.0)
    promised = float(ndtr(-law.deviate(z)))
    assert simulated_power(strata, 0.03, z) == pytest.approx(promised, abs=0.0163)
    assert law.at(law.deviate(z)) == pytest.approx(z)


def test_the_law_of_one_family_is_normal_and_of_none_flipping_certain() -> None:
    one = score_law([equal_arms(982, 0.06)], margin=0.02, scale=1.0)
    assert float(ndtr(-one.deviate(Z))) == pytest.approx(0.8, abs=0.001)
    assert np.diff(one.at([-2.0, 0.0, 2.0])) == pytest.approx([one.at(0.0) - one.at(-2.0)] * 2)
    for strata in ([equal_arms(200, 0.0)], [equal_arms(300, 0.0), equal_arms(200, 0.0)]):
        still = score_law(strata, margin=0.02, scale=1.0)
        z = float(still.at(0.0))
        assert [float(still.deviate(x)) for x in (z - 0.1, z + 0.1)] == [-np.inf, np.inf]


def test_the_size_at_a_seen_difference_has_the_power_that_it_promises() -> None:
    """Also where the candidate is truly worse, but within the margin."""
    strata = [Stratum(100, 0.025, 0.035), Stratum(200, 0.02, 0.03)]
    size = size_for(strata, margin=0.03, alpha=0.05, power=0.8)
    assert size is not None
    drawn = [Stratum(round(s.n * size / 300), s.gained, s.lost) for s in strata]
    assert simulated_power(drawn, 0.03) == pytest.approx(0.8, abs=0.0163)


def test_the_size_that_proves_a_loss_has_the_power_that_it_promises() -> None:
    strata = [Stratum(100, 0.01, 0.05), Stratum(100, 0.02, 0.06)]
    size = size_for(strata, margin=0.02, alpha=0.05, power=0.8)
    assert size is not None
    other_way = [Stratum(round(s.n * size / 200), s.lost, s.gained) for s in strata]
    assert simulated_power(other_way, -0.02) == pytest.approx(0.8, abs=0.0163)


def test_one_family_is_the_published_formula() -> None:
    for gained, lost, margin in ((0.03, 0.03, 0.02), (0.025, 0.035, 0.02), (0.01, 0.06, 0.02)):
        formula = n_noninferiority(gained, lost, margin=margin)
        alone = size_for([Stratum(500, gained, lost)], margin=margin, alpha=0.05, power=0.8)
        assert alone == np.ceil(formula)
        # And the law of the pooled score, taken for one family, says the same.
        law = chance([Stratum(500, gained, lost)], margin=margin, alpha=0.05, scale=formula / 500)
        assert law == pytest.approx(0.8, abs=1e-9)


def test_a_loss_of_exactly_the_margin_is_never_decided() -> None:
    strata = [Stratum(100, 0.01, 0.03), Stratum(100, 0.02, 0.04)]
    assert size_for(strata, margin=0.02, alpha=0.05, power=0.8) is None
    assert size_for(strata[:1], margin=0.02, alpha=0.05, power=0.8) is None


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3000), st.floats(0, 1)), min_size=1, max_size=5),
    st.floats(0.005, 0.3),
)
def test_more_flips_and_tighter_margins_never_cost_fewer_prompts(
    parts: list[tuple[int, float]], margin: float
) -> None:
    def need(factor: float, margin: float) -> float:
        strata = [equal_arms(n, rate * factor) for n, rate in parts]
        size = size_for(strata, margin=margin, alpha=0.05, power=0.8)
        return float("inf") if size is None else size

    assert need(0.5, margin) <= need(1.0, margin) + 1
    assert need(1.0, 2 * margin) <= need(1.0, margin) + 1


def test_clusters_that_agree_count_once_in_every_size() -> None:
    """Three equal repeats of each prompt need three times the pairs, the floor included."""
    d = np.array([1.0, -1.0, 0.0, 0.0, 0.0] * 40)
    once = prompts_needed([summarize(d)], margin=0.05, policy=POLICY)
    thrice = prompts_needed(
        [summarize(np.repeat(d, 3), np.repeat(np.arange(d.size), 3))], margin=0.05, policy=POLICY
    )
    assert thrice.floor == 3 * once.floor
    assert once.equal_models is not None
    assert thrice.equal_models == pytest.approx(3 * once.equal_models, rel=0.01)
    still = [summarize(np.zeros(300), np.arange(300) // 3), from_counts(0, 0, 100)]
    alone = [from_counts(0, 0, 100)] * 2
    assert prompts_needed(still, margin=0.02, policy=POLICY).floor == pytest.approx(
        2 * prompts_needed(alone, margin=0.02, policy=POLICY).floor, abs=2
    )


def test_the_smoothing_adds_one_flip_in_all() -> None:
    shares = (0.5, 0.3, 0.2)
    flips, n = 0.0, 0.0
    for share in shares:
        rate = smoothed_flips(0, 100 * share, share)
        flips += rate * (100 * share + 2 * share)
        n += 100 * share
    assert flips == pytest.approx(1)
    assert n == pytest.approx(100)
    assert smoothed_flips(50, 50) < 1


def test_the_floor_of_families_is_where_identical_answers_begin_to_pass() -> None:
    strata = [equal_arms(300, 0.0), equal_arms(100, 0.0)]
    floor = floor_of(strata, margin=0.02, alpha=0.05)

    def low(n: int) -> float:
        limits = [tango_limits(0, 0, n * share, Z)[0] / 2 for share in (0.75, 0.25)]
        return float(-np.hypot(*limits))

    assert low(floor) >= -0.02 > low(floor - 1)
    assert floor_of([equal_arms(5, 0.0)] * 40, margin=0.9, alpha=0.05) == 0


def test_plan_and_report_print_the_same_sizes_for_the_same_answers() -> None:
    made, sets = [], []
    for family, n, lost, gained in (
        (Family.FACTS, 400, 14, 10),
        (Family.MATH, 120, 0, 0),
        (Family.CODE, 60, 6, 2),
    ):
        spec = [(RIGHT, RIGHT, n - lost - gained), (RIGHT, WRONG, lost), (WRONG, RIGHT, gained)]
        group = pairs([s for s in spec if s[2]], taskset=family.value, family=family)
        made += group
        sets.append(taskset([p.sample for p in group], family=family))
    result = compare_pairs("q4", Pairing(tuple(made), ()), sets, POLICY)
    reported = {
        ("accuracy", scope.scope): scope.accuracy for scope in (result.pooled, *result.families)
    }
    checked = set()
    comparison = cast(Comparison, SimpleNamespace(results=(result,)))
    for question in questions_of_comparison(comparison):
        metric: MetricResult | None = reported.get((question.metric, question.scope))
        if metric is None or metric.prompts_needed is None:
            continue
        look = outlook(question, POLICY)
        assert (look.needed, look.floor) == (
            metric.prompts_needed.equal_models,
            metric.prompts_needed.floor,
        ), question
        checked.add(question.scope)
    assert checked == {"pooled", "code"}, "the others are proven"
