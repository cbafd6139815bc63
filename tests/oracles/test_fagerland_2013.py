"""Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009).

Data and mid-p formula: Fagerland, Lydersen & Laake, BMC Medical Research Methodology 13:91
(2013). One child improved and seven worsened, of 21.
"""

from __future__ import annotations

import pytest

from evalkit.stats.mcnemar import mcnemar_exact, mcnemar_midp


@pytest.mark.parametrize(
    ("function", "pvalue"),
    [
        pytest.param(mcnemar_exact, 0.070313, id="row21-exact"),
        pytest.param(mcnemar_midp, 0.039063, id="row21-midp"),
    ],
)
def test_pvalue(function, pvalue):
    assert function(1, 7).pvalue == pytest.approx(pvalue, abs=1e-6)
