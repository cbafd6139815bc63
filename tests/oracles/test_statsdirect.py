"""Two culture media for tubercle bacilli, from the StatsDirect help (Armitage & Berry 1994).

50 sputa: 20 positive on both, 12 on the first only, 2 on the second only, 16 on neither.
"""

from __future__ import annotations

import pytest

from evalkit.stats.mcnemar import mcnemar_asymptotic, mcnemar_exact


def test_exact_row22():
    assert mcnemar_exact(12, 2).pvalue == pytest.approx(0.012939, abs=1e-6)
    assert round(mcnemar_exact(12, 2).pvalue, 4) == 0.0129


def test_corrected_chi_square_row22():
    result = mcnemar_asymptotic(12, 2, correction=True)
    assert result.statistic == pytest.approx(5.785714, abs=1e-6)
    assert result.pvalue == pytest.approx(0.016157, abs=1e-6)
    assert round(result.pvalue, 4) == 0.0162
