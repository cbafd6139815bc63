from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from evalkit.stats.distributions import (
    critical_value,
    normal_cdf,
    normal_quantile,
    normal_sf,
    t_cdf,
    t_quantile,
    t_sf,
)
from evalkit.stats.roots import find_root


@given(root=st.floats(-0.99, 0.99), power=st.sampled_from([1, 3, 9]))
def test_root_within_rounding(root, power):
    found = find_root(lambda x: (x - root) ** power, -1, 1)
    assert found == pytest.approx(root, abs=1e-12 if power == 1 else 1e-2)


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (math.cos, 0, 3),
        (lambda x: math.exp(x) - 5, -9, 9),
        (lambda x: math.atan(1e6 * (x - 0.3)), -1, 1),
        (lambda x: -1 if x < 0.123 else 1, 0, 1),
    ],
)
def test_agrees_with_brent(function, low, high):
    assert find_root(function, low, high) == pytest.approx(brentq(function, low, high), abs=1e-10)


def test_no_change_of_sign_gives_the_nearer_end():
    assert find_root(lambda x: x + 1, 0, 5) == 0
    assert find_root(lambda x: x - 6, 0, 5) == 5
    assert find_root(lambda x: x, 0, 5) == 0


def test_few_evaluations():
    calls = []
    find_root(lambda x: calls.append(x) or math.exp(x) - 2, -1, 5)
    assert len(calls) < 20


@given(x=st.floats(-37, 37))
def test_tails_are_exact(x):
    from scipy.special import log_ndtr, ndtr

    assert normal_cdf(x) == pytest.approx(float(ndtr(x)), rel=1e-9)
    assert normal_cdf(x) == normal_sf(-x)
    assert math.log(normal_cdf(x)) == pytest.approx(float(log_ndtr(x)), rel=1e-9, abs=1e-15)


def test_t_tends_to_the_normal():
    assert t_cdf(-1.7, 10**9) == pytest.approx(normal_cdf(-1.7), rel=1e-6)
    assert t_quantile(0.975, 10**9) == pytest.approx(normal_quantile(0.975), rel=1e-6)
    assert t_sf(2.0, 5) == pytest.approx(1 - t_cdf(2.0, 5))
    assert critical_value(0.95, 4) == pytest.approx(2.776445, abs=1e-6)


@pytest.mark.parametrize("p", [0, 1, -0.1, float("nan")])
def test_quantiles_of_no_probability_are_refused(p):
    with pytest.raises(ValueError, match="p must"):
        normal_quantile(p)
