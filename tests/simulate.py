"""Error rates of evalkit's intervals and gates, by enumeration and simulation.

Run as `python -m tests.simulate` (some minutes; `--runs N` for fewer). Every figure is set
against the one published with the method's description (section 4 of the specification: a,
b, d here; the table of section 2, f, g, i in `simulate_rule`), and the command fails when
one is off by more than chance allows.

Enumerated figures hold no chance. Simulated ones differ from the published by the Monte
Carlo error of both; the clustered ones also by the spread of cluster sizes, which the
description leaves open.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri, xlogy
from scipy.stats import binom

from evalkit.stats.cluster_checks import cluster_t
from evalkit.stats.clusters import cluster_sums
from evalkit.stats.distributions import normal_quantile
from evalkit.stats.engine import engine_interval, engine_noninferiority, summarize
from evalkit.stats.paired import noninferiority, restricted_loss_rate, tango

Floats = NDArray[np.float64]
Z95, Z90 = normal_quantile(0.975), normal_quantile(0.95)
BASE_ACCURACY = 0.85
RUNS = 4000


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside the published one; `error` is the largest difference by chance."""

    section: str
    setting: str
    method: str
    published: float
    here: float
    error: float

    @property
    def agrees(self) -> bool:
        return abs(self.here - self.published) <= self.error


def tables(n: int, p10: float, p01: float) -> tuple[Floats, Floats, Floats]:
    """All likely counts of gains and losses with their probabilities (flattened)."""

    def likely(p: float) -> Floats:
        spread = 7 * math.sqrt(n * p * (1 - p)) + 12
        low, high = max(0, int(n * p - spread)), min(n, int(n * p + spread))
        return np.arange(low, high + 1, dtype=np.float64)

    b, c = (grid.ravel() for grid in np.meshgrid(likely(p10), likely(p01)))
    b, c = b[b + c <= n], c[b + c <= n]
    rest = n - b - c
    log_mass = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(rest + 1)
    log_mass += xlogy(b, p10) + xlogy(c, p01) + xlogy(rest, 1 - p10 - p01)
    return b, c, np.exp(log_mass)


def tango_z(b: Floats, c: Floats, n: int, delta0: float) -> Floats:
    """Tango's statistic of many tables at once, from evalkit's own restricted rate."""
    variance = n * (2 * restricted_loss_rate(b, c, float(n), delta0) + delta0 * (1 - delta0))
    return (b - c - n * delta0) / np.sqrt(variance)


def wald(b: Floats, c: Floats, n: int, each: float, total: float) -> tuple[Floats, Floats]:
    """Estimate and standard error after adding `each` to both kinds of flips."""
    centre, flips = (b - c) / (n + total), (b + c + 2 * each) / (n + total)
    return centre, np.sqrt(np.maximum(0, flips - centre**2) / (n + total))


def coverage(n: int, flips: float) -> dict[str, float]:
    """Exact coverage of 95% intervals at a true difference of minus half the flips."""
    delta = -flips / 2
    b, c, mass = tables(n, flips / 4, 3 * flips / 4)
    covered = {"tango": np.abs(tango_z(b, c, n, delta)) <= Z95}
    for name, each, total in (("wald", 0.0, 0.0), ("agresti-min", 0.5, 2.0)):
        centre, error = wald(b, c, n, each, total)
        covered[name] = np.abs(centre - delta) <= Z95 * error + 1e-12
    return {name: float(mass[hit].sum()) for name, hit in covered.items()}


def simulated_coverage(
    n: int, flips: float, rng: np.random.Generator, runs: int, resamples: int = 2000
) -> dict[str, float]:
    """Coverage of the bootstrap and of unpaired intervals, and how wide the latter are."""
    delta = -flips / 2
    p10, p01 = flips / 4, 3 * flips / 4
    shares = [p10, p01, BASE_ACCURACY - p01, 1 - BASE_ACCURACY - p10]
    hits = {"percentile": 0, "bca": 0, "unpaired": 0}
    ratio = 0.0
    for b, c, both, _ in rng.multinomial(n, shares, size=runs):
        cells = rng.multinomial(n, [b / n, c / n, 1 - (b + c) / n], size=resamples)
        means = np.sort((cells[:, 0] - cells[:, 1]) / n)
        for name, (low, high) in (
            ("percentile", np.quantile(means, (0.025, 0.975))),
            ("bca", _bca(means, int(b), int(c), n)),
        ):
            hits[name] += bool(low - 1e-12 <= delta <= high + 1e-12)
        p, q = (both + b) / n, (both + c) / n
        half = Z95 * math.sqrt((p * (1 - p) + q * (1 - q)) / n)
        hits["unpaired"] += abs(p - q - delta) <= half
        estimate = tango(int(b), int(c), n)
        ratio += 2 * half / (estimate.high - estimate.low) / runs
    return {name: hit / runs for name, hit in hits.items()} | {"ratio": ratio}


def _bca(means: Floats, b: int, c: int, n: int) -> tuple[float, float]:
    value = (b - c) / n
    below = np.searchsorted(means, value - 1e-12), np.searchsorted(means, value + 1e-12)
    bias = ndtri(sum(below) / 2 / means.size)
    if not math.isfinite(bias):
        return value, value
    flips = (b + c) / n
    squares = n * (flips - value**2)
    cubes = n * (value - 3 * flips * value + 2 * value**3)
    skew = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    z = np.array([-Z95, Z95]) + bias
    levels = binomial_levels(bias + z / (1 - skew * z))
    low, high = np.quantile(means, levels)
    return float(low), float(high)


def binomial_levels(z: Floats) -> Floats:
    """Normal distribution function of a few values."""
    return np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in z])


def type_one(n: int, margin: float, flips: float) -> dict[str, float]:
    """Exact chance that each rule ships a candidate that is exactly one margin worse."""
    b, c, mass = tables(n, (flips - margin) / 2, (flips + margin) / 2)
    ships = {"tango": tango_z(b, c, n, -margin) >= Z90}
    for name, each, total in (
        ("wald", 0.0, 0.0),
        ("agresti-min", 0.5, 2.0),
        ("bonett-price", 1.0, 2.0),
    ):
        centre, error = wald(b, c, n, each, total)
        ships[name] = centre - Z90 * error > -margin
    ships["not significant"] = 2 * binom.cdf(np.minimum(b, c), b + c, 0.5) > 0.05
    ships["point estimate"] = b - c > -margin * n + 1e-9
    return {name: float(mass[ship].sum()) for name, ship in ships.items()}


@dataclass(frozen=True, slots=True)
class ClusterSetting:
    """Clusters, their mean size, flips, margin and intraclass correlation."""

    clusters: int
    size: int
    flips: float
    margin: float
    icc: float


def clustered(setting: ClusterSetting, rng: np.random.Generator, runs: int) -> dict[str, float]:
    """Type I error of the non-inferiority gate and 95% coverage with clustered pairs."""
    delta = -setting.margin
    hits = dict.fromkeys(
        f"{name} {what}"
        for name in ("naive", "CR1 t", "bootstrap", "engine")
        for what in ("type I", "coverage")
    )
    counts = dict.fromkeys(hits, 0)
    for _ in range(runs):
        d, codes = _draw_clusters(setting, rng)
        gained, lost = int((d > 0).sum()), int((d < 0).sum())
        summary = summarize(d, codes)
        means = _resampled_means(d, codes, setting.clusters, rng)
        low90, low, high = np.quantile(means, (0.05, 0.025, 0.975))
        t90, t95 = cluster_t(d, codes, confidence_level=0.90), cluster_t(d, codes)
        naive, engine = tango(gained, lost, d.size), engine_interval(summary)
        p_naive = noninferiority(gained, lost, d.size, margin=setting.margin).pvalue
        p_engine = engine_noninferiority(summary, margin=setting.margin).pvalue
        counts["naive type I"] += p_naive <= 0.05
        counts["naive coverage"] += naive.low <= delta <= naive.high
        counts["CR1 t type I"] += t90.low > delta
        counts["CR1 t coverage"] += t95.low <= delta <= t95.high
        counts["bootstrap type I"] += bool(low90 > delta)
        counts["bootstrap coverage"] += bool(low <= delta <= high)
        counts["engine type I"] += p_engine <= 0.05
        counts["engine coverage"] += engine.low <= delta <= engine.high
    return {name: count / runs for name, count in counts.items()}


def _draw_clusters(
    setting: ClusterSetting, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.intp]]:
    """Dirichlet-multinomial clusters; sizes are even from half the mean to one and a half."""
    spread = setting.size // 2
    sizes = rng.integers(setting.size - spread, setting.size + spread + 1, setting.clusters)
    gains, losses = (setting.flips - setting.margin) / 2, (setting.flips + setting.margin) / 2
    concentration = (1 - setting.icc) / setting.icc
    shares = np.array([gains, losses, 1 - gains - losses]) * concentration
    chances = rng.dirichlet(shares, size=setting.clusters)
    codes = np.repeat(np.arange(setting.clusters), sizes)
    draw = rng.random(codes.size)
    gained = draw < chances[codes, 0]
    lost = ~gained & (draw < chances[codes, 0] + chances[codes, 1])
    return gained.astype(float) - lost, codes


def _resampled_means(
    d: Floats, codes: NDArray[np.intp], clusters: int, rng: np.random.Generator
) -> Floats:
    sums = cluster_sums(d, codes, clusters)
    sizes = np.bincount(codes, minlength=clusters)
    index = rng.integers(0, clusters, (500, clusters))
    return sums[index].sum(axis=1) / sizes[index].sum(axis=1)


# n, flips: Tango, Wald, Agresti-Min, percentile, BCa, unpaired, ratio of widths.
COVERAGE = {
    (50, 0.02): (0.999, 0.634, 1.00, 0.522, 0.497, 1.00, 1.8),
    (50, 0.05): (0.990, 0.846, 0.994, 0.851, 0.831, 1.00, 1.6),
    (50, 0.10): (0.962, 0.935, 0.961, 0.939, 0.917, 0.999, 1.4),
    (50, 0.20): (0.949, 0.937, 0.948, 0.950, 0.946, 0.983, 1.2),
    (100, 0.02): (0.986, 0.777, 0.996, 0.766, 0.755, 1.00, 2.2),
    (100, 0.05): (0.962, 0.933, 0.960, 0.922, 0.912, 1.00, 1.9),
    (100, 0.10): (0.952, 0.938, 0.958, 0.956, 0.951, 0.999, 1.5),
    (100, 0.20): (0.952, 0.947, 0.952, 0.960, 0.957, 0.989, 1.2),
    (500, 0.02): (0.950, 0.941, 0.959, 0.958, 0.946, 1.00, 3.2),
    (500, 0.05): (0.951, 0.947, 0.952, 0.947, 0.946, 1.00, 2.2),
    (500, 0.10): (0.951, 0.948, 0.952, 0.957, 0.952, 1.00, 1.7),
    (500, 0.20): (0.950, 0.949, 0.951, 0.950, 0.948, 0.989, 1.3),
    (1319, 0.02): (0.952, 0.948, 0.953, 0.948, 0.947, 1.00, 3.5),
    (1319, 0.05): (0.950, 0.949, 0.951, 0.947, 0.944, 1.00, 2.3),
    (1319, 0.10): (0.950, 0.950, 0.950, 0.947, 0.947, 0.999, 1.7),
    (1319, 0.20): (0.950, 0.950, 0.950, 0.949, 0.949, 0.990, 1.3),
}
# n, margin, flips: Tango, Wald, Agresti-Min, Bonett-Price, not significant, point.
TYPE_ONE = {
    (50, 0.02, 0.05): (0.033, 0.171, 0.033, 0.008, 0.996, 0.385),
    (100, 0.01, 0.02): (0.021, 0.221, 0.021, 0.003, 0.997, 0.378),
    (100, 0.05, 0.05): (0.037, 0.118, 0.118, 0.037, 0.616, 0.436),
    (500, 0.02, 0.05): (0.049, 0.058, 0.058, 0.050, 0.560, 0.464),
    (1319, 0.01, 0.05): (0.049, 0.053, 0.051, 0.051, 0.674, 0.517),
    (1319, 0.02, 0.05): (0.049, 0.055, 0.055, 0.052, 0.108, 0.509),
    (1319, 0.02, 0.02): (0.054, 0.083, 0.083, 0.054, 0.000, 0.522),
}
# Type I and coverage of: Tango ignoring clusters, CR1 with t, cluster bootstrap, engine.
CLUSTERED = {
    ClusterSetting(10, 5, 0.06, 0.02, 0.3): (
        0.100,
        0.866,
        0.268,
        0.788,
        0.349,
        0.643,
        0.005,
        0.998,
    ),
    ClusterSetting(50, 5, 0.06, 0.02, 0.3): (
        0.156,
        0.769,
        0.092,
        0.934,
        0.110,
        0.888,
        0.059,
        0.954,
    ),
    ClusterSetting(200, 5, 0.15, 0.03, 0.3): (
        0.157,
        0.773,
        0.054,
        0.944,
        0.058,
        0.939,
        0.051,
        0.947,
    ),
    ClusterSetting(50, 20, 0.15, 0.03, 0.1): (
        0.183,
        0.703,
        0.052,
        0.944,
        0.062,
        0.923,
        0.050,
        0.947,
    ),
    ClusterSetting(50, 20, 0.06, 0.02, 0.3): (
        0.290,
        0.499,
        0.083,
        0.950,
        0.104,
        0.912,
        0.060,
        0.968,
    ),
}


def chance(published: float, runs: int, published_runs: int = RUNS) -> float:
    """Three and a half Monte Carlo standard errors of a difference, and a rounded digit."""
    p = min(max(published, 0.01), 0.99)
    return 3.5 * math.sqrt(p * (1 - p) * (1 / runs + 1 / published_runs)) + 0.0006


def section_a(runs: int) -> Iterator[Row]:
    """Coverage of 95% intervals of the difference."""
    for index, ((n, flips), published) in enumerate(COVERAGE.items()):
        setting, exact = f"n={n} flips={flips:.0%}", coverage(n, flips)
        for (name, here), value in zip(exact.items(), published, strict=False):
            yield Row("a", setting, name, value, here, 0.0006)
        if not runs:
            continue
        found = simulated_coverage(n, flips, np.random.default_rng(20250000 + index), runs)
        for (name, here), value in zip(found.items(), published[3:], strict=True):
            error = chance(value, runs)
            if name == "ratio":  # published with one decimal
                error = 0.051 + 1.5 / math.sqrt(runs)
            yield Row("a", setting, name, value, here, error)


def section_b() -> Iterator[Row]:
    """Type I error of the gate."""
    for (n, margin, flips), published in TYPE_ONE.items():
        setting = f"n={n} margin={margin:.0%} flips={flips:.0%}"
        for (name, here), value in zip(type_one(n, margin, flips).items(), published, strict=True):
            yield Row("b", setting, name, value, here, 0.0006)


def section_d(runs: int) -> Iterator[Row]:
    """Type I error and coverage with clusters."""
    for index, (s, published) in enumerate(CLUSTERED.items()):
        setting = f"{s.clusters}x{s.size} flips={s.flips:.0%} icc={s.icc}"
        found = clustered(s, np.random.default_rng(5150 + index), runs)
        for (name, here), value in zip(found.items(), published, strict=True):
            yield Row("d", setting, name, value, here, chance(value, runs, 2000) + 0.02)


def main(arguments: list[str] | None = None) -> int:
    """Print every figure beside the published one; 1 when any is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each simulated setting")
    runs = parser.parse_args(arguments).runs
    # They need Row and chance from here.
    from tests.simulate_rule import section_f, section_g, section_i, section_rule

    off = 0
    sections = (
        section_a(runs),
        section_b(),
        section_d(max(1, runs // 2)),
        section_rule(runs),
        section_f(max(1, runs // 4)),
        section_g(runs),
        section_i(runs),
    )
    for rows in sections:
        for row in rows:
            off += not row.agrees
            sys.stdout.write(
                f"{row.section:4} {row.setting:34} {row.method:20} published {row.published:.3f}"
                f"  here {row.here:.3f}  {'ok' if row.agrees else 'OFF'}\n"
            )
    sys.stdout.write(f"{off} figures off\n")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
