from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from evalkit.stats.bayes import probability_degraded
from tests.stats.strategies import MARGINS, tables


@given(cells=tables(), margin=MARGINS)
def test_a_probability_that_falls_with_the_margin(cells, margin):
    _, gained, lost, _ = cells
    p = probability_degraded(gained, lost, sum(cells), margin=margin)
    assert 0 <= p <= 1
    assert probability_degraded(gained, lost, sum(cells), margin=margin * 1.1) <= p + 1e-9


@pytest.mark.parametrize("cells", [(0, 0, 1), (0, 5, 5), (3, 1, 40), (0, 10, 500)])
def test_by_drawing_from_the_posterior(cells):
    gained, lost, n = cells
    rng = np.random.default_rng(9)
    shares = rng.dirichlet([gained + 0.5, lost + 0.5, n - gained - lost + 1], 400_000)
    drawn = np.mean(shares[:, 0] - shares[:, 1] < -0.03)
    assert probability_degraded(gained, lost, n, margin=0.03) == pytest.approx(drawn, abs=0.004)


def test_certain_with_much_data():
    assert probability_degraded(10**5, 4 * 10**5, 10**7, margin=0.02) == pytest.approx(1)
    assert probability_degraded(10**5, 10**5, 10**7, margin=0.02) == pytest.approx(0)
    assert probability_degraded(0, 0, 10**7, margin=0.5) == 0


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="counts"):
        probability_degraded(3, 3, 5, margin=0.02)
    with pytest.raises(ValueError, match="margin"):
        probability_degraded(1, 1, 5, margin=2)
