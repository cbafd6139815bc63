"""The gate reads a folder again: what follows from the scores passes, everything else does not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from evalkit import load
from evalkit.errors import StoreError
from evalkit.policy import Margins, Policy
from evalkit.stages.gating import gate_folder
from evalkit.stages.history import read_history
from evalkit.stages.reviewing import reviewed
from tests.gated import compare_quiz

N = 150
WIDE = {"accuracy": 10.0, "hallucination": 10.0, "degenerate": 5.0}
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As many gains as losses on enough prompts: SHIP."""
    folder = tmp_path_factory.mktemp("shipped")
    policy = folder / "policy.yaml"
    policy.write_bytes(orjson.dumps({"margins": WIDE}))
    words = ("--policy", str(policy))
    made = compare_quiz(folder, N, range(1, N, 30), range(0, N, 30), words=words)
    assert states(made) == ["SHIP"]
    return made


def read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((folder / "comparison.json").read_bytes())
    return found


def states(folder: Path) -> list[str]:
    return [result["verdict"]["state"] for result in read(folder)["results"]]


def copied(folder: Path, to: Path, *, runs: bool = True) -> Path:
    to.mkdir()
    for name in ("comparison.json", "ledger.jsonl"):
        shutil.copy(folder / name, to / name)
    if runs:
        (to / "runs").symlink_to(folder / "runs")
    return to


def edited(folder: Path, edit: Edit) -> Path:
    raw = read(folder)
    edit(raw)
    (folder / "comparison.json").write_bytes(orjson.dumps(raw))
    return folder


def ship_it(raw: dict[str, Any]) -> None:
    """Turn a HOLD into a SHIP with all that a careful hand would change beside it."""
    result = raw["results"][0]
    scopes = [result["pooled"], *result["families"]]
    for metric in [scope[name] for scope in scopes for name in ("accuracy", "hallucination")]:
        metric |= {"noninferior": True, "degraded": False, "state": "non-inferior", "code": None}
        metric |= {"p_noninferior": 0.001, "p_noninferior_worst": 0.001}
        metric |= {"p_degraded": 1.0, "p_degraded_adjusted": 1.0, "prompts_needed": None}
    result["degenerate"] |= {"noninferior": True, "p_noninferior": 0.0, "gated": True}
    result["degenerate"] |= {"p_noninferior_worst": 0.0, "code": None}
    result["verdict"] = {
        "state": "SHIP",
        "codes": [{"code": "ALL_NI", "scope": None, "metric": None, "values": {}}],
        "exit_code": 0,
    }
    raw["recommendation"] = {"action": "ship_candidate", "endpoint": "int4", "candidate": "int4"}
    raw["exit_code"] = 0


def set_exit_code(raw: dict[str, Any]) -> None:
    raw["exit_code"] = 0


def set_state(raw: dict[str, Any]) -> None:
    raw["results"][0]["verdict"] |= {"state": "SHIP", "exit_code": 0}
    raw["recommendation"] = {"action": "ship_candidate", "endpoint": "int4", "candidate": "int4"}
    raw["exit_code"] = 0


def widen_policy(raw: dict[str, Any]) -> None:
    raw["policy"]["margins"]["accuracy"] = 60.0


def move_counts(raw: dict[str, Any]) -> None:
    raw["results"][0]["families"][0]["accuracy"]["cells"] |= {"lost": 0, "both": 60}


def rename(raw: dict[str, Any]) -> None:
    raw["candidates"][0]["endpoint"] = "../../etc"


def empty(raw: dict[str, Any]) -> None:
    raw |= {"candidates": [], "results": []}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("pooled", "candidate", "hallucination", "value"), 0.01),
        (("pooled", "flips", "lost"), 1),
        (("families", 0, "transitions"), [[60, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (("pooled", "recovery", "low"), 0.99),
        (("families", 0, "mcnemar_midp", "pvalue"), 0.5),
        (("families", 0, "accuracy", "margin"), 0.9),
        (("degenerate", "p_degraded"), 0.9),
        (("causes", "facts"), {"loop": 30}),
        (("verdict", "codes", 0, "values", "difference"), -0.001),
        (("exclusions", "only_in_baseline"), 7),
    ],
)
def test_every_number_is_one_that_the_runs_give(
    held: Path, tmp_path: Path, path: tuple[str | int, ...], value: Any
) -> None:
    def edit(raw: dict[str, Any]) -> None:
        *parents, last = path
        inner: Any = raw["results"][0]
        for part in parents:
            inner = inner[part]
        assert last in inner
        inner[last] = value

    folder = edited(copied(held, tmp_path / "c"), edit)
    with pytest.raises(StoreError, match=r"the runs say|does not follow"):
        gate_folder(folder)


TAMPERED: tuple[tuple[Edit, str], ...] = (
    (set_exit_code, "exit code 0 does not follow"),
    (set_state, "it says SHIP, its own numbers say HOLD"),
    (widen_policy, "its policy is not the one"),
    (move_counts, "difference does not follow from its counts"),
    (rename, "candidates are not those"),
    (empty, "candidates are not those"),
)


@pytest.mark.parametrize("runs", [True, False], ids=["with runs", "without"])
@pytest.mark.parametrize(("edit", "words"), TAMPERED, ids=lambda v: getattr(v, "__name__", ""))
def test_what_contradicts_itself_is_refused(
    held: Path, tmp_path: Path, edit: Edit, words: str, runs: bool
) -> None:
    folder = edited(copied(held, tmp_path / "c", runs=runs), edit)
    with pytest.raises(StoreError, match=words) as caught:
        gate_folder(folder)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    for read in (reviewed, load, lambda path: load(path / "comparison.json"), read_history):
        with pytest.raises(StoreError, match=words):
            read(folder)


def test_a_careful_forgery_does_not_follow_from_the_runs(held: Path, tmp_path: Path) -> None:
    folder = edited(copied(held, tmp_path / "c"), ship_it)
    with pytest.raises(StoreError, match="it says SHIP of int4, the runs say HOLD"):
        gate_folder(folder)
    (folder / "runs").unlink()
    with pytest.raises(StoreError, match="ledger of the folder knows no such verdict"):
        gate_folder(folder)


def test_scores_of_another_verdict_are_noticed(shipped: Path, tmp_path: Path) -> None:
    folder = copied(shipped, tmp_path / "c", runs=False)
    shutil.copytree(shipped / "runs", folder / "runs")
    path = folder / "runs" / "int4" / "scores.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(place for place, line in enumerate(lines) if b'"outcome":"correct"' in line)
    score = {**orjson.loads(lines[at]), "outcome": "incorrect", "value": 0.0}
    path.write_bytes(b"".join([*lines[:at], orjson.dumps(score) + b"\n", *lines[at + 1 :]]))
    with pytest.raises(
        StoreError, match=r"int4: pooled\.candidate\.correct is 145, the runs say 144"
    ):
        gate_folder(folder)
    path.write_bytes(b"".join(lines[:100]))
    with pytest.raises(StoreError, match="without a score"):
        gate_folder(folder)


def test_runs_decide_and_alone_the_comparison_does(shipped: Path, tmp_path: Path) -> None:
    full = gate_folder(shipped)
    assert (full.checked, full.comparison.exit_code, full.note) == ("runs", 0, "")
    bare = copied(shipped, tmp_path / "c", runs=False)
    for place in (bare, bare / "comparison.json"):
        alone = gate_folder(place)
        assert (alone.checked, alone.comparison.exit_code) == ("comparison", 0)
        assert alone.note == "its run folders are not there"
    assert gate_folder(bare, runs=[shipped / "runs"]).checked == "runs"


def test_a_later_policy_only_takes_a_ship_away(shipped: Path, held: Path, tmp_path: Path) -> None:
    strict = Policy(margins=Margins(**{**WIDE, "accuracy": 0.5}))
    judged = gate_folder(shipped, strict)
    assert judged.comparison.exit_code == 4
    (result,) = judged.comparison.results
    assert [r.gates for r in result.readings] == [False, True]
    assert result.readings[1].changes == {"margins.accuracy": (10.0, 0.5)}
    assert "POLICY_CHANGED" in {threat.code for threat in result.threats}
    loose = Policy(margins=Margins(accuracy=90, hallucination=90))
    assert gate_folder(held, loose).comparison.exit_code == 3
    assert gate_folder(copied(held, tmp_path / "h", runs=False), loose).comparison.exit_code == 3
    bare = copied(shipped, tmp_path / "c", runs=False)
    with pytest.raises(StoreError, match=r"another policy.*--runs"):
        gate_folder(bare, strict)


def test_a_comparison_under_two_policies_is_judged_as_it_was(held: Path, tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("alpha: 0.1\nmargins: {families: {facts: 3}}\n", encoding="utf-8")
    runs = [held / "runs" / name for name in ("fp8", "int4")]
    words = ["compare", *runs, "-o", tmp_path / "out", "--policy", policy, "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *words], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 3, done.stderr
    assert len(read(tmp_path / "out")["results"][0]["readings"]) == 2
    judged = gate_folder(tmp_path / "out")
    assert (judged.checked, judged.comparison.exit_code) == ("runs", 3)


def test_prompts_that_are_not_there_any_more_leave_the_comparison(
    held: Path, tmp_path: Path
) -> None:
    samples = held.parent / "quiz" / "samples.jsonl"
    samples.rename(tmp_path / "away")
    try:
        judged = gate_folder(held)
    finally:
        (tmp_path / "away").rename(samples)
    assert (judged.checked, judged.comparison.exit_code) == ("comparison", 3)
    assert "quiz" in judged.note
