"""IFBench's instructions, by its authors' own checkers and without a network."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.config import check_config
from evalkit.errors import MissingExtraError, ScoringError
from evalkit.scoring import ifbench
from evalkit.scoring.base import SCORERS
from evalkit.stages.plan import make_plan
from evalkit.tasksets.catalogue import load_taskset
from evalkit.types import Family, Outcome
from tests.scoring.samples import make_sample

pytest.importorskip("if_verifiable")


def said(text: str, *instructions: tuple[str, dict[str, Any]]) -> Any:
    target = {"instructions": [{"id": id, "kwargs": kwargs} for id, kwargs in instructions]}
    return SCORERS.get("ifbench")(make_sample(Family.INSTRUCTIONS, target), text)


def test_every_instruction_must_be_followed() -> None:
    both = (("count:numbers", {"N": 2, "word": None}), ("format:parentheses", {}))
    followed = said("3 and 4 (((((a)))))", both[0], both[1])
    assert (followed.outcome, followed.answer) == (Outcome.CORRECT, "2 of 2 followed")
    one = said("3 and 4.", *both)
    assert (one.outcome, one.answer) == (Outcome.INCORRECT, "1 of 2 followed")
    assert "format:parentheses" in one.explanation


def test_what_no_checker_knows_is_a_fault_and_no_wrong_answer() -> None:
    with pytest.raises(ScoringError, match="nothing:known"):
        said("text", ("nothing:known", {}))


def test_without_the_checkers_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ifbench.jsonl"
    row = {"key": "1", "prompt": "Go.", "instruction_id_list": ["count:numbers"], "kwargs": [{}]}
    path.write_text(json.dumps(row))
    monkeypatch.setitem(sys.modules, "if_verifiable.ifbench.instructions_registry", None)
    ifbench._checkers.cache_clear()
    config = check_config({"tasks": [f"ifbench:{path}"]}, where="here")
    with pytest.raises(MissingExtraError, match=r"quant-evalkit\[ifbench\]"):
        make_plan(config)


@pytest.mark.public_data
def test_no_published_prompt_needs_a_download() -> None:
    default = Path(__file__).parents[3] / "shared/data"
    path = Path(os.environ.get("EVALKIT_PUBLIC_DATA", default)) / (
        "instructions/ifbench/IFBench_test.jsonl"
    )
    if not path.exists():
        pytest.skip(f"{path} is not there")
    score = SCORERS.get("ifbench")
    samples = load_taskset(f"ifbench:{path}").samples
    outcomes = [score(one, "A short answer, with 3 words.").outcome for one in samples]
    assert len(outcomes) == 271
    assert set(outcomes) == {Outcome.CORRECT, Outcome.INCORRECT}
    assert json.dumps([str(one) for one in outcomes]).count("incorrect") > 200
