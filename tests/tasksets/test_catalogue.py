"""Choosing tasksets: names, families, folders, limits, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import TasksetError, UnknownNameError
from evalkit.tasksets.catalogue import builtin_names, draw, load_taskset, select
from evalkit.types import Family
from tests.tasksets.test_jsonl import folder


def test_the_five_families_ship_in_two_languages() -> None:
    tasksets = [load_taskset(name) for name in builtin_names()]
    assert {t.family for t in tasksets} == set(Family)
    for taskset in tasksets:
        assert len(taskset.samples) >= 40
        assert {s.language for s in taskset.samples} == {"en", "zh"}
        assert taskset.description.endswith(".")


def test_code_is_left_out_and_said_so_unless_it_may_run() -> None:
    without = select([], limit=None, seed=0, allow_code=False)
    assert [(t.name, why) for t, why in without.skipped] == [("code", "needs --allow-code")]
    assert "code" not in {t.name for t in without.tasksets}
    allowed = select([], limit=None, seed=0, allow_code=True)
    assert "code" in {t.name for t in allowed.tasksets}
    assert not allowed.skipped
    with pytest.raises(TasksetError, match="--allow-code"):
        select(["code"], limit=None, seed=0, allow_code=False)


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown taskset 'fact'.*facts"):
        select(["fact"], limit=None, seed=0, allow_code=False)
    with pytest.raises(TasksetError, match="not a taskset folder"):
        load_taskset("no/such/folder")


def test_a_folder_of_the_user_is_a_taskset(tmp_path: Path) -> None:
    chosen = select([str(folder(tmp_path)), "math"], limit=None, seed=0, allow_code=False)
    assert [t.name for t in chosen.tasksets] == ["mine", "math"]
    (tmp_path / "copy").mkdir()
    twice = [str(tmp_path), str(folder(tmp_path / "copy"))]
    with pytest.raises(TasksetError, match="Two tasksets are named"):
        select(twice, limit=None, seed=0, allow_code=False)


def test_a_limit_is_a_seeded_draw_and_larger_ones_keep_what_smaller_ones_drew() -> None:
    facts = load_taskset("facts")
    ten = [s.id for s in draw(facts, 10, 0).samples]
    assert len(ten) == 10
    assert ten != [s.id for s in facts.samples[:10]]
    assert ten == [s.id for s in draw(facts, 10, 0).samples]
    assert ten != [s.id for s in draw(facts, 10, 1).samples]
    assert set(ten) <= {s.id for s in draw(facts, 20, 0).samples}
    assert draw(facts, None, 0) is facts


def test_names_are_asked_once() -> None:
    chosen = select(["math", "facts", "math"], limit=3, seed=0, allow_code=False)
    assert [t.name for t in chosen.tasksets] == ["math", "facts"]
