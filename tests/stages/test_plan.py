"""A plan can be made again from what a run recorded, and says so when it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.config import Config
from evalkit.errors import StoreError
from evalkit.stages.plan import make_plan, plan_difference, recorded_plan
from tests.quiz import write_quiz


def plan_of(folder: Path, **more: object):  # type: ignore[no-untyped-def]
    return make_plan(Config.model_validate({"tasks": (str(folder),), **more}))


def test_a_recorded_plan_asks_the_same(tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path, 30)
    plan = plan_of(quiz, limit=10, seed=3, epochs=2, sampling={"max_tokens": 7, "top_p": 0.5})
    again = recorded_plan({"plan": plan.record()}, tmp_path, allow_code=False)
    assert plan_difference(plan, again) == []
    assert again.samples() == plan.samples()
    sampling = again.sampling_for(again.tasksets[0])
    assert (sampling.max_tokens, sampling.top_p) == (7, 0.5)


def test_a_recorded_plan_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_quiz(tmp_path / "quiz", 30)
    monkeypatch.chdir(tmp_path)
    plan = plan_of(Path("quiz"))
    record = plan.record()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = recorded_plan({"plan": record}, tmp_path, allow_code=False)
    assert plan_difference(plan, again) == []


def test_the_same_prompts_in_another_place_are_no_difference(tmp_path: Path) -> None:
    one, other = write_quiz(tmp_path / "a" / "quiz", 30), write_quiz(tmp_path / "b" / "quiz", 30)
    assert plan_difference(plan_of(one), plan_of(other)) == []


def test_a_changed_taskset_is_refused(tmp_path: Path) -> None:
    record = plan_of(write_quiz(tmp_path, 30)).record()
    write_quiz(tmp_path, 31)
    with pytest.raises(StoreError, match="'quiz' has changed"):
        recorded_plan({"plan": record}, tmp_path, allow_code=False)


@pytest.mark.parametrize("header", [{}, {"plan": {}}, {"plan": {"tasksets": [{}]}}, {"plan": 3}])
def test_a_header_without_a_plan_is_one_sentence(header: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="does not say what was asked"):
        recorded_plan(header, Path("run"), allow_code=False)


def test_differences_are_named(tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path, 30)
    assert plan_difference(plan_of(quiz), plan_of(quiz, seed=1, epochs=2)) == ["epochs", "seed"]


def test_the_taskset_s_own_budget_is_used_unless_one_is_given(tmp_path: Path) -> None:
    plan = plan_of(write_quiz(tmp_path, 3))
    assert plan.sampling_for(plan.tasksets[0]).max_tokens == 16
