"""The statistics: from graded answers to a comparison, without any endpoint.

Goals stand in the table; a run that takes more than twice as long ends with an error.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evalkit.collect.journal import RunFolder
from evalkit.config import Config, SamplingOptions
from evalkit.decision.metrics import MetricPlan, settle
from evalkit.decision.metrics import measure as measure_metric
from evalkit.decision.pairing import Answer, Key
from evalkit.decision.slices import Cut, screen
from evalkit.decision.tables import Table as Goodness
from evalkit.policy import Policy
from evalkit.results import POOLED, Comparison
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.comparing import GradedRun, build_comparison
from evalkit.stages.plan import Plan
from evalkit.stats.engine import engine_interval, engine_noninferiority, summarize
from evalkit.stats.resampling import bootstrap_counts
from evalkit.tasksets.catalogue import Selection
from evalkit.types import Family, Identity, Taskset
from tests.bench.tables import Table
from tests.builders import RIGHT, WRONG, answer, sample, taskset

PAIRS, RESAMPLES, CATEGORIES = 1_000_000, 10_000, 20
FAMILIES, CANDIDATES, SAMPLES = 100, 5, 100_000
_SLACK = 2


def measure(prompts: int | None) -> Table:
    samples = prompts or SAMPLES
    small = samples / SAMPLES
    pairs = round(PAIRS * small)
    baseline, candidate, categories = million(pairs)
    tables = [families(seed) for seed in range(CANDIDATES)]
    runs, plan = graded(samples)
    rows = [
        told(
            f"bootstrap of {pairs:,} pairs, {RESAMPLES:,} resamples, counting included",
            0.05,
            lambda: bootstrap(baseline, candidate),
        ),
        told(
            f"interval, test, bootstrap and {CATEGORIES} slices of {pairs:,} pairs",
            5.0 * small,
            lambda: analyse(baseline, candidate, categories),
        ),
        told(
            f"every metric of {FAMILIES} families × {CANDIDATES} candidates",
            1.0,
            lambda: decide_all(tables),
        ),
        told(
            f"graded answers to comparison, {samples:,} samples of five families",
            3.0 * small,
            lambda: compare(runs, plan),
        ),
    ]
    return Table(("work", "CPU-s", "goal"), rows)


def million(pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return right answers of both arms and the category of each pair: 6% flips."""
    rng = np.random.default_rng(20261130)
    baseline = rng.random(pairs) < 0.8
    candidate = baseline ^ (rng.random(pairs) < 0.06)
    return baseline, candidate, rng.integers(0, CATEGORIES, pairs)


def bootstrap(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    gained = int(np.count_nonzero(candidate & ~baseline))
    lost = int(np.count_nonzero(baseline & ~candidate))
    rng = np.random.default_rng(0)
    return bootstrap_counts(gained, lost, baseline.size, rng=rng, n_resamples=RESAMPLES)


def analyse(baseline: np.ndarray, candidate: np.ndarray, categories: np.ndarray) -> object:
    table = Goodness(baseline.astype(float), candidate.astype(float), None)
    summary = summarize(table.candidate - table.baseline)
    keys = tuple((f"c{code:02d}", None) for code in range(CATEGORIES))
    return (
        engine_interval(summary),
        engine_noninferiority(summary, margin=0.02),
        bootstrap(baseline, candidate),
        screen(table, [Cut("category", keys, categories)]),
    )


def families(seed: int) -> list[Goodness]:
    """Return the tables of many families of a thousand pairs."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(FAMILIES):
        baseline = rng.random(1000) < 0.8
        candidate = baseline ^ (rng.random(1000) < 0.06)
        made.append(Goodness(baseline.astype(float), candidate.astype(float), None))
    return made


def decide_all(candidates: Sequence[Sequence[Goodness]]) -> None:
    policy = Policy()
    for tables in candidates:
        results = [measure_metric(MetricPlan("accuracy", POOLED, 0.002, True), tables, policy)]
        for index, table in enumerate(tables):
            plan = MetricPlan("accuracy", f"f{index}", 0.05, True)
            results.append(measure_metric(plan, [table], policy))
        settle(results, policy)


def graded(samples: int) -> tuple[list[GradedRun], Plan]:
    """Return two graded runs over five families: 80% right, 6% flips, 2% of the right lost."""
    rng = np.random.default_rng(20261130)
    kinds = list(Family)
    made = [
        replace(
            sample(f"s{number:06d}", taskset=kinds[number % 5].value, family=kinds[number % 5]),
            category=f"c{number % CATEGORIES}",
        )
        for number in range(samples)
    ]
    right = rng.random(samples) < 0.8
    flipped = rng.random(samples) < 0.06
    arms = [("a", right), ("b", right ^ flipped)]
    sets: list[Taskset] = [
        taskset(
            [one for one in made if one.family is family],
            family=family,
            measures_hallucination=family is Family.FACTS,
        )
        for family in kinds
    ]
    plan = Plan(Selection(tuple(sets), ()), SamplingOptions(), None, 1, 0)
    runs = []
    for name, rights in arms:
        answers: dict[Key, Answer] = {
            (one.taskset, one.id, 0): answer(
                one,
                RIGHT if ok else WRONG,
                arm=name,
                text=f"{one.id}, {name if ok else 'something else'}. " * 12,
            )
            for one, ok in zip(made, rights, strict=True)
        }
        identity = Identity(kind="openai", model=name, base_url=f"http://{name}")
        run = CollectedRun(name, name, identity, RunFolder(Path(name)), ())
        runs.append(GradedRun(run, answers))
    return runs, plan


def compare(runs: Sequence[GradedRun], plan: Plan) -> Comparison:
    baseline, *candidates = runs
    return build_comparison(baseline, candidates, plan, Config(), {})


def told(name: str, goal: float, work: Callable[[], object]) -> tuple[str, str, str]:
    gc.collect()
    cpu = min(_cpu(work) for _ in range(2))
    if cpu > _SLACK * goal:
        raise SystemExit(f"{name}: {cpu:.2f} CPU-s, and the goal is {goal:g}")
    return name, f"{cpu:.3g}", f"≤ {goal:g}"


def _cpu(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before
