"""Four counts to every number: the published values, and the gate's own words for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.decision.calculator import Calculation, calculate
from evalkit.decision.metrics import MetricPlan, measure, settle
from evalkit.decision.tables import Table
from evalkit.estimates import Cells, Estimate
from evalkit.policy import Policy
from evalkit.results import POOLED, MetricState

POLICY = Policy()
CAVO = Cells(59, 6, 16, 80)
GSM = Cells(1240, 30, 21, 28)


def of(cells: Cells, margin: float = 0.02) -> Calculation:
    return calculate(cells, margin=margin, policy=POLICY)


def limits(estimate: Estimate) -> tuple[float | None, float | None]:
    return estimate.low, estimate.high


def close(*values: float) -> object:
    return pytest.approx(values, abs=1e-6)


def test_intervals_are_the_published_ones() -> None:
    # Golden rows 8 to 11 (contingencytables 3.0.0 and second computations).
    found = of(CAVO)
    assert limits(found.difference) == close(-0.124023, -0.005433)
    newcombe, agresti_min, bonett_price, wald = found.cross_checks
    assert limits(newcombe) == close(-0.118621, -0.004625)
    assert limits(agresti_min) == close(-0.118242, -0.004457)
    assert limits(bonett_price) == close(-0.119499, -0.003201)
    assert limits(wald) == close(-0.118400, -0.005824)


def test_the_difference_and_its_unpaired_shadow() -> None:
    # Golden rows 16 and 17.
    found = of(GSM)
    assert limits(found.difference) == close(-0.003926, 0.017992)
    assert limits(found.difference_90) == close(-0.002136, 0.016085)
    assert limits(found.unpaired) == close(-0.008230, 0.021877)
    # Golden rows 5 and 6: which arm is which.
    assert limits(found.candidate) == close(0.951227, 0.971787)
    assert limits(found.baseline) == close(0.943575, 0.965831)


def test_recovery_and_its_checks() -> None:
    # Golden rows 24 to 26 and 28.
    gsm, cavo = of(GSM), of(CAVO)
    assert gsm.recovery.value == pytest.approx(1.007137, abs=1e-6)
    assert limits(gsm.recovery) == close(0.995912, 1.018985)
    log, bonett_price, fieller = cavo.recovery_checks
    assert limits(log) == close(0.759750, 0.988630)
    assert limits(bonett_price) == close(0.757903, 0.991039)
    assert limits(fieller) == close(0.759822, 0.988536)


def test_tests_and_second_opinions() -> None:
    # Golden rows 20, 29, 43, 44, 45, 46.
    cavo, lean = of(CAVO), of(Cells(1240, 20, 35, 24))
    assert cavo.mcnemar_exact.pvalue == pytest.approx(0.052479, abs=1e-6)
    assert cavo.mcnemar_midp.pvalue == pytest.approx(0.034690, abs=1e-6)
    assert lean.noninferiority.statistic == pytest.approx(1.477737, abs=1e-6)
    assert lean.noninferiority.pvalue == pytest.approx(0.069739, abs=1e-6)
    assert lean.degradation.pvalue == pytest.approx(1 - 0.069739, abs=1e-6)
    assert lean.equivalence.pvalue == pytest.approx(0.069739, abs=1e-6)
    assert lean.probability_degraded == pytest.approx(0.064408, abs=1e-6)
    assert lean.log_e_noninferior == pytest.approx(-0.153887, abs=1e-6)
    assert lean.log_e_degraded == pytest.approx(-2.660986, abs=1e-6)
    assert lean.lower_confidence_sequence == pytest.approx(-0.028930, abs=1e-6)


def test_sizes() -> None:
    # Golden row 39; row 37 with the flip rate as counted (58 + 1 of 981 + 2 smoothed is 6%).
    assert of(Cells(50, 0, 0, 0)).needed.floor == 133
    assert of(Cells(900, 29, 29, 23)).needed.equal_models == 982
    # Golden row 65, over a table with the same flips.
    assert of(Cells(900, 20, 24, 56)).tipping_point == 5


def test_recovery_is_refused_near_a_zero_baseline() -> None:
    found = of(Cells(2, 1, 1, 96))
    assert found.recovery.value is None
    assert found.recovery.warnings == ("baseline_too_low",)
    assert found.recovery_checks == ()


@pytest.mark.parametrize(
    ("cells", "margin", "state"),
    [
        (Cells(900, 60, 20, 20), 0.02, MetricState.SUPERIOR),
        (GSM, 0.02, MetricState.NONINFERIOR),
        (Cells(9000, 200, 300, 500), 0.02, MetricState.NONINFERIOR_WORSE),
        (Cells(800, 10, 60, 130), 0.02, MetricState.INFERIOR),
        (Cells(45, 0, 0, 5), 0.02, MetricState.INCONCLUSIVE),
        (Cells(1240, 20, 35, 24), 0.02, MetricState.INCONCLUSIVE_WORSE),
        (Cells(9, 0, 0, 0), 0.02, MetricState.TOO_FEW),
    ],
)
def test_every_state_is_reached(cells: Cells, margin: float, state: MetricState) -> None:
    assert of(cells, margin).state is state


counts = st.builds(
    Cells, st.integers(0, 300), st.integers(0, 40), st.integers(0, 40), st.integers(0, 100)
).filter(lambda cells: cells.n > 0)


@settings(max_examples=60, deadline=None)
@given(counts, st.floats(0.005, 0.2))
def test_the_state_is_that_of_the_gate(cells: Cells, margin: float) -> None:
    baseline = [1.0] * cells.both + [0.0] * cells.gained + [1.0] * cells.lost
    candidate = [1.0] * cells.both + [1.0] * cells.gained + [0.0] * cells.lost
    rest = [0.0] * cells.neither
    table = Table(np.array(baseline + rest), np.array(candidate + rest), None)
    measured = measure(MetricPlan("accuracy", POOLED, margin, True), [table], POLICY)
    gate = settle([measured], POLICY)[0]
    found = of(cells, margin)
    assert found.state is gate.state
    assert found.noninferiority.pvalue == gate.p_noninferior
    if gate.prompts_needed is not None:
        assert found.needed == gate.prompts_needed


@settings(max_examples=60, deadline=None)
@given(counts)
def test_swapping_the_arms_negates_the_difference(cells: Cells) -> None:
    swapped = of(Cells(cells.both, cells.lost, cells.gained, cells.neither))
    found = of(cells)
    assert found.difference.value is not None
    assert swapped.difference.value == pytest.approx(-found.difference.value, abs=1e-12)
    assert swapped.baseline == found.candidate
    assert swapped.mcnemar_exact == found.mcnemar_exact


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**10])
def test_any_size_is_computed(scale: int) -> None:
    found = of(Cells(80 * scale, 3 * scale, 4 * scale, 13 * scale))
    assert found.difference.value == pytest.approx(-0.01)
    assert found.difference.low is not None
    assert found.difference.low < -0.01


@pytest.mark.parametrize("cells", [Cells(0, 0, 0, 0), Cells(5, -1, 0, 0)])
def test_what_is_no_table_is_refused(cells: Cells) -> None:
    with pytest.raises(ValueError, match="cells"):
        of(cells)
