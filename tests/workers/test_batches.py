from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalkit.workers


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The worker's module, as its own interpreter finds it: evalkit is not on that path."""
    monkeypatch.syspath_prepend(str(Path(evalkit.workers.__file__).parent))
    from evalkit_worker import batches

    yield batches
    for name in [name for name in sys.modules if name.startswith("evalkit_worker")]:
        del sys.modules[name]


def job(batches: Any, *ids: int, **more: Any) -> Any:
    return batches.Job(ids, batches.Fields(max_tokens=4), **more)


def taken(waves: Any) -> list[tuple[int, ...]]:
    return [one.ids for one in waves.take()]


def test_a_wave_is_what_came_together_in_the_order_of_the_prompts(batches: Any) -> None:
    waves = batches.Waves()
    for ids in ((5, 5), (9,), (2, 7), (3,)):
        waves.put(job(batches, *ids))
    assert taken(waves) == [(3,), (9,), (2, 7), (5, 5)]


def test_a_bound_cuts_the_same_batches_whatever_came_first(batches: Any) -> None:
    for order in ((1, 2, 3, 4, 5), (5, 3, 1, 4, 2)):
        waves = batches.Waves(2)
        for n in order:
            waves.put(job(batches, n))
        assert [taken(waves) for _ in range(3)] == [[(1,), (2,)], [(3,), (4,)], [(5,)]]


def test_nobody_is_answered_who_does_not_wait_any_more(batches: Any) -> None:
    waves = batches.Waves()
    left = job(batches, 1, gone=lambda: True)
    waves.put(left)
    waves.put(job(batches, 2))
    assert taken(waves) == [(2,)]
    assert left.done.is_set()
    assert left.answer.status == 499


def test_answers_come_back_to_their_questions(batches: Any) -> None:
    jobs = [job(batches, n) for n in (4, 1, 3, 2)]
    groups: list[list[int]] = []

    def together(group: Any) -> list[Any]:
        groups.append([one.ids[0] for one in group])
        return [f"answer {one.ids[0]}" for one in group]

    found = batches.in_groups(jobs, lambda _, one: one.ids[0] % 2, together)
    assert found == ["answer 4", "answer 1", "answer 3", "answer 2"]
    assert groups == [[4, 2], [1, 3]]


def test_the_worker_knows_nothing_of_evalkit() -> None:
    for path in Path(evalkit.workers.__file__).parent.rglob("evalkit_worker/*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import evalkit." not in text
        assert "from evalkit." not in text
