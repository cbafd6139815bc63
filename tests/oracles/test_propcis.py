"""Paired data of Agresti & Min, as shipped with the R package PropCIs.

The limits are Tango's, on which two independent computations agree to six digits.
"""

from __future__ import annotations

import pytest

from evalkit.stats.paired import tango


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param((40, 20, 160), (0.030865, 0.218064), id="row15"),
        pytest.param((16, 8, 86), (-0.019659, 0.206911), id="row15-smaller"),
    ],
)
def test_tango(cells, expected):
    estimate = tango(*cells)
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-6)
