"""A short version of the rule's part of `python -m tests.simulate`."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.decision.comparison import decide_pairs
from evalkit.decision.pairing import Pairing
from evalkit.policy import Policy
from tests.builders import RIGHT, WRONG, pairs, taskset
from tests.simulate import Row
from tests.simulate_rule import (
    AT_MARGIN,
    FAMILIES,
    MARGIN,
    SINGLE,
    MetricPlan,
    drawn,
    measure,
    section_f,
    section_g,
    section_i,
    section_rule,
)


def off(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row.agrees]


def test_operating_characteristics_of_the_rule() -> None:
    rows = list(section_rule(100, (300, 1000)))
    assert len(rows) == 6 * 2 * 2
    assert off(rows) == []


def test_sequential_plans_under_peeking() -> None:
    rows = list(section_f(60))
    assert len(rows) == 4 + 3
    assert off(rows) == []


def test_two_stages_keep_the_level() -> None:
    rows = list(section_g(600))
    assert len(rows) == 2
    assert off(rows) == []


def test_judges_are_corrected_for() -> None:
    rows = list(section_i(300))
    assert len(rows) == 4 * 2
    assert off(rows) == []
    naive = [row.here for row in rows if row.method == "as reported"]
    assert naive[-1] > 0.08, "a loose judge helps a bad model pass, unless the rule corrects"


@pytest.mark.parametrize("seed", range(4))
def test_the_simulated_rule_is_the_one_that_decides(seed: int) -> None:
    """The simulation works on tables; from pairs the rule reads the very same numbers."""
    rng = np.random.default_rng(seed)
    tables = {family: drawn(AT_MARGIN, 300, rng) for family in FAMILIES}
    made, sets = [], []
    for family, table in tables.items():
        lost, gained = int(table.baseline.sum()), int(table.candidate.sum())
        spec = [(RIGHT, WRONG, lost), (WRONG, RIGHT, gained), (RIGHT, RIGHT, 300 - lost - gained)]
        group = pairs(spec, taskset=family.value, family=family)
        made += group
        sets.append(taskset([pair.sample for pair in group], family=family))
    policy = Policy.model_validate({"margins": {"families": dict.fromkeys(FAMILIES, 100 * MARGIN)}})
    metrics = decide_pairs(Pairing(tuple(made), ()), sets, policy).metrics
    for family, table in tables.items():
        alone = measure(MetricPlan("accuracy", family.value, MARGIN, True), [table], SINGLE)
        (found,) = (m for m in metrics if m.scope == family and m.metric == "accuracy")
        assert found.gated
        assert found.p_noninferior == pytest.approx(alone.p_noninferior)
        assert found.p_degraded == pytest.approx(alone.p_degraded)
