"""What a run costs: estimates from characters, means of an earlier run, time."""

from __future__ import annotations

import pytest

from evalkit.stages.cost import Load, Measured, cost, estimated_tokens

LOADS = [Load("math", 10, 300.0, 2560), Load("facts", 30, 600.0, 3840)]


def test_without_a_run_tokens_are_estimates_and_bounds() -> None:
    found = cost(LOADS, Measured(), arms=2)
    assert (found.requests, found.prompt_tokens, found.completion_tokens) == (80, 1800, 12800)
    assert not found.prompts_measured
    assert not found.completions_measured
    assert found.wall_seconds is None


def test_measured_means_replace_them_and_a_family_without_any_takes_the_mean_of_all() -> None:
    measured = Measured({"math": 50.0}, {"math": 100.0, "code": 20.0}, 40.0)
    found = cost(LOADS, measured, arms=3)
    assert found.prompt_tokens == 3 * 40 * 50
    assert found.completion_tokens == 3 * (10 * 100 + 30 * 60)
    assert found.wall_seconds == pytest.approx(3 * 2800 / 40)
    assert cost(LOADS, measured, arms=3, rate=80.0).wall_seconds == pytest.approx(3 * 2800 / 80)


def test_prompt_tokens_that_nobody_knows_are_no_number() -> None:
    assert cost([Load("math", 10, None, 2560)], Measured(), arms=2).prompt_tokens is None


def test_chinese_takes_more_tokens_a_character() -> None:
    assert estimated_tokens("abcd" * 3) == 3
    assert estimated_tokens("计算一下吧。") == pytest.approx(5 / 1.5 + 1 / 4, abs=1)
    assert estimated_tokens("计算") > estimated_tokens("ab")
