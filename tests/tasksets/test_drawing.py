"""Drawing in stages: whole units, one order, nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.tasksets.drawing import draw_units, ordered_units
from evalkit.types import Taskset
from tests.builders import sample, taskset


def passages(sizes: list[int]) -> Taskset:
    """One passage of each size; a size of 1 stands by itself."""
    made = []
    for place, size in enumerate(sizes):
        cluster = f"p{place}" if size > 1 else None
        made += [sample(f"s{place}-{k}", cluster=cluster) for k in range(size)]
    return taskset(made)


SIZES = st.lists(st.integers(1, 5), min_size=3, max_size=30)


@given(SIZES, st.integers(0, 40), st.integers(1, 40), st.integers(0, 5))
def test_stages_share_no_unit_and_a_larger_draw_begins_with_the_smaller(
    sizes: list[int], first: int, second: int, seed: int
) -> None:
    whole = passages(sizes)
    one = draw_units(whole, first, None, seed)
    ids = {s.id for s in one.taskset.samples}
    assert len(ids) <= first
    try:
        both = draw_units(whole, first, second, seed)
    except UsageError as error:
        # Nothing is left, or the next unit is larger than the stage.
        left = [unit for unit in ordered_units(whole, seed) if unit[0].id not in ids]
        assert not left or len(left[0]) > second
        assert "no further prompts" in error.message  # noqa: PT017 - one of two good ends
        return
    assert {s.id for s in both.taskset.samples} == ids | both.second
    assert not ids & both.second
    assert 0 < len(both.second) <= second
    assert both.left == len(whole.samples) - len(ids) - len(both.second)
    units_of = {s.unit for s in whole.samples if s.id in ids}
    assert not units_of & {s.unit for s in whole.samples if s.id in both.second}
    larger = draw_units(whole, first + second, None, seed)
    assert ids <= {s.id for s in larger.taskset.samples}


def test_equal_prompts_are_one_unit() -> None:
    one, other, third = sample("a"), sample("b"), sample("c")
    twin = replace(other, messages=one.messages)
    units = ordered_units(taskset([one, twin, third]), 0)
    assert sorted(len(unit) for unit in units) == [1, 2]


def test_the_order_depends_on_the_seed_and_samples_keep_their_old_order() -> None:
    whole = passages([1] * 50)
    draws = [
        tuple(s.id for s in draw_units(whole, 20, None, seed).taskset.samples) for seed in (0, 1)
    ]
    assert draws[0] != draws[1]
    places = {s.id: place for place, s in enumerate(whole.samples)}
    for drawn in draws:
        assert [places[id] for id in drawn] == sorted(places[id] for id in drawn)


def test_without_a_limit_stage_1_takes_everything() -> None:
    with pytest.raises(UsageError, match="stage 1 takes 5 of 5"):
        draw_units(passages([1] * 5), None, 3, 0)
