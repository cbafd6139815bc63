"""Golden rows without a publication, from a computation outside evalkit.

They were computed before evalkit was written, with scipy 1.17.1, statsmodels 0.15.0 and
numpy 2.4.6. `XC` in an id means that two independent computations agreed to six digits,
`C` that there was one. Numbers in ids are golden rows.
"""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.decision.tables import Table, differences
from evalkit.stats.bayes import probability_degraded
from evalkit.stats.distributions import t_sf
from evalkit.stats.engine import engine_interval, engine_z, from_counts, summarize
from evalkit.stats.judge import (
    JudgeCalibration,
    judge_noninferiority,
    rogan_gladen,
    rogan_gladen_se,
)
from evalkit.stats.mcnemar import mcnemar_asymptotic
from evalkit.stats.multiplicity import benjamini_hochberg, holm
from evalkit.stats.paired import (
    degradation,
    noninferiority,
    restricted_loss_rate,
    tango,
    tango_z,
    tipping_point,
    tost,
)
from evalkit.stats.paired_checks import unpaired
from evalkit.stats.passk import pass_at_k
from evalkit.stats.permutation import sign_flip
from evalkit.stats.pooling import mover, mover_z
from evalkit.stats.power import (
    n_floor,
    n_noninferiority,
    n_ratio_noninferiority,
    power_noninferiority,
    smallest_provable_margin,
)
from evalkit.stats.rates import upper_bound, wilson
from evalkit.stats.recovery import recovery_noninferiority, recovery_score
from evalkit.stats.recovery_checks import recovery_fieller, recovery_log
from evalkit.stats.repeats import variance_split
from evalkit.stats.resampling import acceleration, bootstrap_exact
from evalkit.stats.sequential import (
    log_e_degraded,
    log_e_noninferior,
    log_mixture_sprt,
    lower_confidence_sequence,
)
from evalkit.stats.two_stage import stage_two_boundary

CAVO = (59, 6, 16, 161)
BENT = (1, 1, 7, 21)
ARM = (20, 12, 2, 50)
GSM = (1240, 30, 21, 1319)
SIX = {"abs": 1e-6}


def limits(estimate):
    return estimate.low, estimate.high


@pytest.mark.parametrize(
    ("successes", "n", "expected"),
    [
        pytest.param(81, 263, (0.255289, 0.366210), id="row5-XC"),
        pytest.param(0, 10, (0, 0.277533), id="row5-XC-none"),
        pytest.param(1270, 1319, (0.951227, 0.971787), id="row6-XC"),
        pytest.param(1261, 1319, (0.943575, 0.965831), id="row6-XC-lower"),
    ],
)
def test_wilson(successes, n, expected):
    assert limits(wilson(successes, n)) == pytest.approx(expected, **SIX)


def test_one_sided_bound_row7_xc():
    assert upper_bound(0, 300).high == pytest.approx(0.009936, **SIX)


@pytest.mark.parametrize(
    ("cells", "level", "expected"),
    [
        pytest.param((0, 0, 100), 0.95, (-0.036993, 0.036993), id="row13-XC"),
        pytest.param((1, 7, 21), 0.95, (-0.517232, -0.026003), id="row14-XC"),
        pytest.param((1, 7, 21), 0.90, (-0.481622, -0.074631), id="row14-XC-90"),
        pytest.param((30, 21, 1319), 0.95, (-0.003926, 0.017992), id="row16-C"),
        pytest.param((30, 21, 1319), 0.90, (-0.002136, 0.016085), id="row16-C-90"),
        pytest.param((20, 35, 1319), 0.95, (-0.023028, -0.000364), id="row18-XC"),
        pytest.param((20, 35, 1319), 0.90, (-0.021035, -0.002176), id="row18-XC-90"),
        pytest.param((150, 86, 1600), 0.95, (0.021362, 0.058998), id="row23-C"),
    ],
)
def test_tango(cells, level, expected):
    assert limits(tango(*cells, confidence_level=level)) == pytest.approx(expected, **SIX)


def test_unpaired_row17_c():
    assert limits(unpaired(1270, 1261, 1319)) == pytest.approx((-0.008230, 0.021877), **SIX)


def test_restricted_rate_row19_c():
    assert restricted_loss_rate(20, 35, 1319, -0.02) == pytest.approx(0.032681, **SIX)


def test_mcnemar_row23_xc():
    assert mcnemar_asymptotic(150, 86).statistic == pytest.approx(17.355932, **SIX)
    corrected = mcnemar_asymptotic(150, 86, correction=True)
    assert corrected.statistic == pytest.approx(16.817797, **SIX)


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        pytest.param(recovery_fieller(*CAVO), (0.759822, 0.988536), id="row26-C-null-variance"),
        pytest.param(
            recovery_fieller(*CAVO, null_variance=False), (0.755099, 0.986660), id="row26-C"
        ),
        pytest.param(recovery_score(*BENT), (0.065279, 0.906881), id="row27-XC"),
        pytest.param(recovery_score(*ARM), (1.118964, 2.001713), id="row27-XC-better"),
        pytest.param(recovery_score(*GSM), (0.995912, 1.018985), id="row28-XC"),
        pytest.param(recovery_log(*GSM), (0.996059, 1.018338), id="row28-C-log"),
    ],
)
def test_ratio(estimate, expected):
    assert limits(estimate) == pytest.approx(expected, **SIX)


def test_recovery_value_row28():
    assert recovery_score(*GSM).value == pytest.approx(1.007137, **SIX)


@pytest.mark.parametrize(
    ("cells", "margin", "z", "p"),
    [
        pytest.param((20, 35, 1319), 0.02, 1.477737, 0.069739, id="row29"),
        pytest.param((30, 21, 1319), 0.01, 2.968362, 0.001497, id="row30"),
        pytest.param((0, 0, 100), 0.03, 1.758631, 0.039320, id="row31"),
        pytest.param((0, 0, 100), 0.02, 1.428571, 0.076564, id="row31-narrow"),
        pytest.param((5, 9, 200), 0.05, 1.465199, 0.071433, id="row32"),
        pytest.param((0, 10, 500), 0.03, 1.310806, 0.094962, id="row32-only-losses"),
    ],
)
def test_noninferiority_c(cells, margin, z, p):
    result = noninferiority(*cells, margin=margin)
    assert result.statistic == pytest.approx(z, **SIX)
    assert result.pvalue == pytest.approx(p, **SIX)


def test_degradation_row33_c():
    result = degradation(10, 60, 1000, margin=0.02)
    assert result.statistic == pytest.approx(-3.865114, **SIX)
    assert result.pvalue == pytest.approx(5.551876e-05, abs=1e-11)


def test_hallucination_guard_row34_c():
    """A rise is bad: 12 only the candidate made up, 7 only the baseline."""
    result = noninferiority(7, 12, 1000, margin=0.01)
    assert -result.statistic == pytest.approx(-1.085740, **SIX)
    assert result.pvalue == pytest.approx(0.138797, **SIX)
    rise = tango(12, 7, 1000, confidence_level=0.90)
    assert limits(rise) == pytest.approx((-0.002326, 0.012913), **SIX)


@pytest.mark.parametrize(
    ("cells", "minimum", "z", "p"),
    [
        pytest.param(GSM, 0.99, 2.906739, 0.001826, id="row35-gsm"),
        pytest.param((1226, 20, 35, 1319), 0.98, 1.340666, 0.090014, id="row35"),
    ],
)
def test_ratio_noninferiority_c(cells, minimum, z, p):
    result = recovery_noninferiority(*cells, minimum=minimum)
    assert result.statistic == pytest.approx(z, **SIX)
    assert result.pvalue == pytest.approx(p, **SIX)


@pytest.mark.parametrize(
    ("p10", "p01", "margin", "power", "expected"),
    [
        pytest.param(0.03, 0.03, 0.02, 0.8, 981.3996, id="row37-XC"),
        pytest.param(0.03, 0.03, 0.01, 0.8, 3767.8121, id="row38-C"),
        pytest.param(0.025, 0.035, 0.02, 0.8, 3813.1200, id="row38-C-leaning"),
        pytest.param(0.03, 0.03, 0.02, 0.9, 1348.0149, id="row38-C-power90"),
    ],
)
def test_n_noninferiority(p10, p01, margin, power, expected):
    n = n_noninferiority(p10, p01, margin=margin, power=power)
    assert n == pytest.approx(expected, abs=1e-4)


def test_exact_power_row37_c():
    assert power_noninferiority(0.03, 0.03, 982, margin=0.02) == pytest.approx(0.807602, **SIX)


@pytest.mark.parametrize(
    ("margin", "floor"),
    [
        pytest.param(0.01, 268, id="row39"),
        pytest.param(0.02, 133, id="row39-2pp"),
        pytest.param(0.03, 88, id="row39-3pp"),
        pytest.param(0.05, 52, id="row39-5pp"),
    ],
)
def test_floor_c(margin, floor):
    """The score test itself agrees: `floor` pairs without a flip pass, one fewer fail."""
    assert n_floor(margin) == floor
    assert noninferiority(0, 0, floor, margin=margin).pvalue <= 0.05
    assert noninferiority(0, 0, floor - 1, margin=margin).pvalue > 0.05


@pytest.mark.parametrize(
    ("rates", "minimum", "expected"),
    [
        pytest.param((0.956, 0.956, 0.02), 0.98, 745.2446, id="row40"),
        pytest.param((0.10, 0.10, 0.03), 0.80, 801.6371, id="row40-low-rate"),
    ],
)
def test_n_ratio_c(rates, minimum, expected):
    assert n_ratio_noninferiority(*rates, minimum=minimum) == pytest.approx(expected, abs=1e-4)


PVALUES = (0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(holm, [0.01, 0.072] + [0.312] * 5 + [0.615] * 3, id="row41-holm"),
        pytest.param(
            benjamini_hochberg,
            [0.01, 0.04] + [0.084] * 3 + [0.1, 0.105714] + [0.216] * 3,
            id="row42-bh",
        ),
    ],
)
def test_adjusted_pvalues(function, expected):
    assert function(PVALUES) == pytest.approx(expected, **SIX)


def test_tost_row43_c():
    assert tost(20, 35, 1319, margin=0.02).pvalue == pytest.approx(0.069739, **SIX)
    upper = degradation(20, 35, 1319, margin=0.02)
    assert upper.pvalue == pytest.approx(1 - 0.069739, **SIX)
    assert noninferiority(35, 20, 1319, margin=0.02).pvalue < 1e-6


THREE = [from_counts(5, 9, 200), from_counts(20, 35, 1319), from_counts(3, 6, 100)]


def test_mover_row62_c():
    estimate = mover(THREE, confidence_level=0.90)
    assert estimate.value == pytest.approx(-0.020457, **SIX)
    assert limits(estimate) == pytest.approx((-0.042755, 0.000071), **SIX)


def test_mover_z_is_where_the_limit_meets_the_margin():
    low = mover(THREE, confidence_level=0.90).low
    assert mover_z(THREE, None, low) == pytest.approx(1.6448536, **SIX)


# The engine: ten graded differences, and the twenty of rows 59 and 60.
D10 = (0.25, 0, -0.5, 0.125, -0.25, -0.125, 0, -0.375, 0, -0.25)
D20 = (*D10, 0, 0, 0, 0.5, 0, 0, 0, -0.125, 0, 0)


def test_engine_graded_row59_c():
    summary = summarize(D20, sparse_cap=False)
    assert summary.r == pytest.approx(2.918819, **SIX)
    assert limits(engine_interval(summary)) == pytest.approx((-0.153829, 0.072411), **SIX)
    ninety = engine_interval(summary, confidence_level=0.90)
    assert limits(ninety) == pytest.approx((-0.129950, 0.049361), **SIX)
    assert engine_z(summary, -0.15) == pytest.approx(2.036218, **SIX)
    assert t_sf(engine_z(summary, -0.15), summary.df) == pytest.approx(0.027956, **SIX)


def test_engine_clustered_row60_c():
    summary = summarize(D20, [i // 4 for i in range(20)], sparse_cap=False)
    assert summary.r == pytest.approx(2.622462, **SIX)
    assert limits(engine_interval(summary)) == pytest.approx((-0.213860, 0.132803), **SIX)
    assert engine_z(summary, -0.25) == pytest.approx(3.223668, **SIX)


def test_engine_without_flips_row61_c():
    summary = summarize([0.0] * 100, [i // 5 for i in range(100)])
    assert limits(engine_interval(summary)) == pytest.approx((-0.179681, 0.179681), **SIX)


@pytest.mark.parametrize(
    ("cells", "margin", "expected"),
    [
        pytest.param((20, 35, 1319), 0.02, 0.064408, id="row44-XC"),
        pytest.param((30, 21, 1319), 0.01, 0.001117, id="row44-XC-better"),
        pytest.param((5, 9, 200), 0.03, 0.285236, id="row44-XC-few"),
    ],
)
def test_posterior(cells, margin, expected):
    assert probability_degraded(*cells, margin=margin) == pytest.approx(expected, **SIX)


@pytest.mark.parametrize(
    ("cells", "noninferior", "degraded"),
    [
        pytest.param((20, 35, 1319), -0.153887, -2.660986, id="row45"),
        pytest.param((30, 21, 1319), 9.522847, -3.597418, id="row45-better"),
        pytest.param((10, 60, 1000), -3.499047, 6.248178, id="row45-worse"),
    ],
)
def test_e_values_c(cells, noninferior, degraded):
    assert log_e_noninferior(*cells, margin=0.02) == pytest.approx(noninferior, **SIX)
    assert log_e_degraded(*cells, margin=0.02) == pytest.approx(degraded, **SIX)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param((30, 21, 1319), -0.009146, id="row46"),
        pytest.param((20, 35, 1319), -0.028930, id="row46-worse"),
    ],
)
def test_lower_confidence_sequence_c(cells, expected):
    assert lower_confidence_sequence(*cells) == pytest.approx(expected, **SIX)


def test_mixture_sprt_row47_c():
    assert log_mixture_sprt(35, 20) == pytest.approx(-0.162649, **SIX)
    assert log_mixture_sprt(6, 16) == pytest.approx(0.573643, **SIX)


def test_two_stage_boundary_row48_c():
    assert stage_two_boundary(0.05, 0.005) == pytest.approx(1.659655, **SIX)


@pytest.mark.parametrize(
    ("n", "correct", "k", "expected"),
    [
        pytest.param(10, 3, 5, 0.916667, id="row49"),
        pytest.param(200, 13, 10, 0.497551, id="row49-many"),
        pytest.param(5, 0, 1, 0, id="row49-none"),
    ],
)
def test_pass_at_k_c(n, correct, k, expected):
    """The first is 1 - 21/252 by hand."""
    assert pass_at_k(n, correct, k) == pytest.approx(expected, **SIX)


CALIBRATION = JudgeCalibration(0.92, 0.88, 200, 150)


def test_rogan_gladen_row51_c():
    assert rogan_gladen(0.70, 1000, CALIBRATION).value == pytest.approx(0.725000, **SIX)
    assert rogan_gladen_se(0.70, 1000, CALIBRATION) == pytest.approx(0.026712, **SIX)


def test_judge_noninferiority_row52_c():
    """Believing the judge gives 0.97; undoing its errors leaves 0.52."""
    assert tango_z(60, 75, 1319, -0.02) == pytest.approx(0.974238, **SIX)
    assert tango_z(60, 75, 1319, -0.02 * 0.80) == pytest.approx(0.524349, **SIX)
    result = judge_noninferiority(from_counts(60, 75, 1319), CALIBRATION, margin=0.02)
    assert result.statistic == pytest.approx(0.524233, **SIX)


def test_variance_split_row53_xc():
    rows = ["1101", "0010", "1111", "0000", "1011", "1110"]
    split = variance_split([[int(digit) for digit in row] for row in rows])
    assert split.within == pytest.approx(0.166667, **SIX)
    assert split.between == pytest.approx(0.100000, **SIX)
    assert split.variance_of_mean == pytest.approx(0.023611, **SIX)


def test_sign_flip_row54_xc():
    assert sign_flip(D10, alternative="less").pvalue == pytest.approx(0.109375, **SIX)


NAN = float("nan")
# (baseline, candidate, how many): complete (880, 20, 24, 46), then the missing ones.
PARTLY_MISSING = [
    (1, 1, 880),
    (0, 1, 20),
    (1, 0, 24),
    (0, 0, 46),
    (1, NAN, 18),
    (0, NAN, 6),
    (NAN, 1, 3),
    (NAN, 0, 1),
    (NAN, NAN, 2),
]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        pytest.param("CC", -0.004124, (-0.015779, 0.007327), id="row63-complete"),
        pytest.param("WORST", -0.025, (-0.038815, -0.011994), id="row64-worst"),
        pytest.param("BEST", 0.007, (-0.005317, 0.019589), id="row64-best"),
    ],
)
def test_missing_data_c(name, value, expected):
    baseline, candidate = (
        np.repeat([row[arm] for row in PARTLY_MISSING], [row[2] for row in PARTLY_MISSING])
        for arm in (0, 1)
    )
    d, clusters = differences(Table(baseline, candidate, None), name)
    estimate = engine_interval(summarize(d, clusters), confidence_level=0.90)
    assert estimate.value == pytest.approx(value, **SIX)
    assert limits(estimate) == pytest.approx(expected, **SIX)


def test_missing_data_as_failures_row64_c():
    """Intention to treat: a missing answer fails, so 20 + 3 gained and 24 + 18 lost."""
    estimate = tango(23, 42, 1000, confidence_level=0.90)
    assert estimate.value == pytest.approx(-0.019, **SIX)
    assert limits(estimate) == pytest.approx((-0.032753, -0.005858), **SIX)


def test_tipping_point_row65_c():
    assert tipping_point(20, 24, 1000, margin=0.02) == 5
    assert noninferiority(20, 24 + 4, 1000, margin=0.02).pvalue <= 0.05
    assert noninferiority(20, 24 + 5, 1000, margin=0.02).pvalue > 0.05


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param((20, 35, 1319), (-0.022745, -0.000758), id="row66-XC"),
        pytest.param((6, 16, 161), (-0.118012, -0.006211), id="row67-C"),
    ],
)
def test_ideal_bootstrap(cells, expected):
    assert limits(bootstrap_exact(*cells)) == pytest.approx(expected, **SIX)


def test_acceleration_row67_c():
    d = [1.0] * 20 + [-1.0] * 35 + [0.0] * (1319 - 55)
    assert acceleration(d) == pytest.approx(-0.005389, **SIX)


SIZES = {
    0.01: (1397, 3768, 7445, 12378),
    0.02: (425, 982, 1880, 3104),
    0.03: (225, 461, 849, 1386),
    0.05: (107, 188, 319, 507),
}


@pytest.mark.parametrize("margin", SIZES)
def test_table_of_sample_sizes(margin):
    """The table of section 1.8: n at equal arms for 2, 6, 12 and 20% flips."""
    n = [n_noninferiority(f / 2, f / 2, margin=margin) for f in (0.02, 0.06, 0.12, 0.20)]
    assert [-(-value // 1) for value in n] == list(SIZES[margin])


PROVABLE = {
    0.02: (8.6, 5.2, 1.8, 1.0, 0.5),
    0.06: (11.3, 7.3, 2.9, 1.7, 0.9),
    0.12: (14.1, 9.5, 3.9, 2.4, 1.2),
    0.20: (17.0, 11.7, 5.0, 3.1, 1.6),
}


@pytest.mark.parametrize("flip_rate", PROVABLE)
def test_table_of_provable_margins(flip_rate):
    """The same table: points provable with 50, 100, 500, 1319 and 5000 pairs."""
    points = [100 * smallest_provable_margin(n, flip_rate) for n in (50, 100, 500, 1319, 5000)]
    assert points == pytest.approx(PROVABLE[flip_rate], abs=0.05)
