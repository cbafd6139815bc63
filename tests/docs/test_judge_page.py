"""docs/judge.md: what it shows is what is read, and its numbers are those of the program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from evalkit.collect.judge_prompt import ANSWER_LIMIT, GRADES, QUESTION_LIMIT, REFERENCE_LIMIT
from evalkit.collect.judge_requests import AGAIN, judge_sampling
from evalkit.collect.judge_rubric import RUBRICS
from evalkit.config import JudgeOptions, check_config
from evalkit.policy import Policy
from evalkit.scoring.agreement import LEAST_AGREEMENT
from evalkit.scoring.judge import read_verdict
from evalkit.stages.judge_labels import read_labelled
from evalkit.stages.judge_verbs import DEFAULT_FOLDER
from evalkit.stats.judge import MIN_LABELS, MIN_YOUDEN
from evalkit.tasksets.targets import target_problem
from evalkit.types import Outcome, Sampling

TEXT = (Path(__file__).parents[2] / "docs" / "judge.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_its_configuration_says_the_defaults() -> None:
    config, policy = map(yaml.safe_load, blocks("yaml"))
    judge = check_config(config, where="the page").judge
    assert judge is not None
    shown = judge.model_copy(update={"endpoint": None, "tasks": ()})
    assert shown == JudgeOptions()
    assert judge.rubric in RUBRICS
    assert Policy.model_validate(policy).judges["my-set"].judge


def test_its_rows_are_read(tmp_path: Path) -> None:
    sample, label = map(json.loads, blocks("json"))
    assert target_problem("judge", sample["target"]) is None
    assert target_problem("judge", {"answer": "Ibsen"}) is not None
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(label))
    (row,) = read_labelled(path, RUBRICS["answers"], "my-set")
    assert row.label is Outcome.CORRECT


def test_its_verdict_is_one() -> None:
    verdict = blocks("text")[0]
    assert read_verdict(verdict, "stop", "0a1b2c3d") is Outcome.CORRECT
    assert all(grade in TEXT for grade in GRADES)


def test_its_numbers() -> None:
    for limit in (ANSWER_LIMIT, QUESTION_LIMIT, REFERENCE_LIMIT):
        assert f"{limit:,}" in TEXT
    warm = judge_sampling(Sampling(max_tokens=1), AGAIN).temperature
    assert f"at temperature {warm:g}" in TEXT
    assert f"below {MIN_YOUDEN:g}, or with fewer than {MIN_LABELS} labels" in TEXT
    assert f"fewer than {LEAST_AGREEMENT:.0%} of the answers" in TEXT
    assert f"`{DEFAULT_FOLDER}`" in TEXT
