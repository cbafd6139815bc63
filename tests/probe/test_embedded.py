"""A probe of the real embedded model: a server that keeps to no clock."""

from __future__ import annotations

import pytest

from evalkit.api.measuring import probe
from evalkit.config import check_config
from evalkit.probe.plan import ProbePlan
from tests.servers.embedded import needs_model


@pytest.mark.model
@needs_model
def test_two_quantizations_are_measured_with_exact_lengths() -> None:
    plan = ProbePlan(contexts=(64,), concurrency=(1,), output_tokens=8, repeats=5, requests=1)
    raw = {"kind": "local", "context": 256, "threads": 1, "slots": 1}
    endpoints = {name: {**raw, "model": name} for name in ("q8", "q4")}
    found = probe(["q8", "q4"], check_config({"endpoints": endpoints}, where="a test"), plan)
    assert [(point.asked, point.context) for point in found.points] == [(64, 64)]
    for point in found.points:
        for arm in point.arms.values():
            assert arm.failures == {}
            assert arm.prompt_tokens == (point.context, point.context)
            assert arm.completion_tokens == 8
            figures = [arm.quantiles[m][0].value for m in ("ttft", "itl", "decode", "prefill")]
            assert all(value is not None and value > 0 for value in figures)
        assert set(point.ratios) == {"q4"}
    for measured in found.arms:
        (memory,) = measured.memory
        assert memory.source == "growth"
        assert 50e6 < memory.peak_bytes < 2e9
