"""`evalkit selftest`: what it prints of a recorded run, and what it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from evalkit.cli.selftest import parse_damages
from evalkit.decision.damage import Damage, DamageKind
from evalkit.errors import UsageError
from tests.cli.conftest import Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

N = 60


@pytest.fixture
def compared(evalkit: Run, tmp_path: Path) -> Path:
    """A comparison folder: 12 of 60 wrong, 6 abstained; the candidate lost six more."""
    quiz = write_quiz(tmp_path / "quiz", N)
    good = script(N, wrong=range(12), abstained=range(12, 18))
    bad = script(N, wrong=range(12), abstained=range(12, 24))
    with FakeServer(good) as a, FakeServer(bad) as b:
        words = (f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")
        ended = evalkit("compare", *words, "--margin", "3")
    assert ended.code in (3, 4), ended.err
    return tmp_path / "out"


def baseline(folder: Path) -> Path:
    name = json.loads((folder / "comparison.json").read_text())["baseline"]["endpoint"]
    return folder / "runs" / str(name)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["wrong=5%"], [(DamageKind.WRONG, 0.05)]),
        (["wrong=2%,0.05"], [(DamageKind.WRONG, 0.02), (DamageKind.WRONG, 0.05)]),
        (["wrong=2,loop=3"], [(DamageKind.WRONG, 0.02), (DamageKind.LOOP, 0.03)]),
        (["none", "assert = 20%"], [(DamageKind.ASSERT, 0.2)]),
        (["wrong=2%", "wrong=2%"], [(DamageKind.WRONG, 0.02)]),
        (["none"], []),
    ],
)
def test_damages_are_read(words: list[str], expected: list[tuple[DamageKind, float]]) -> None:
    assert parse_damages(words) == tuple(Damage(kind, rate) for kind, rate in expected)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["5%"], "--damage '5%'"),
        (["wrong=2%", "5%"], "--damage '5%'"),
        (["wrong"], "--damage 'wrong'"),
        (["wrong=0"], "no damage"),
        (["wrong=six"], "--damage is 'six'"),
        (["wrong=120%"], "more than 100%"),
        (["wrnog=5%"], "Did you mean wrong"),
    ],
)
def test_what_is_no_damage_is_refused(words: list[str], match: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_damages(words)
    assert match in str(caught.value)


def test_a_comparison_gives_its_baseline_its_flips_and_its_policy(
    evalkit: Run, compared: Path
) -> None:
    words = ("selftest", str(compared), "--repeats", "30", "--damage", "wrong=50%,loop=30%")
    ended = evalkit(*words, "--json")
    assert ended.code == 0, ended.err
    body = ended.json
    assert (body["prompts"], body["independent"], body["repeats"]) == (60, 60, 30)
    assert body["flips_from"] == "measured"
    # Six of sixty flipped, and one is added, as `evalkit plan` does.
    assert body["flip_rates"] == {"facts": pytest.approx(7 / 62)}
    policy = json.loads((compared / "comparison.json").read_text())["policy_hash"]
    assert body["policy_hash"] == policy

    clean, wrong, loop = body["results"]
    assert [row["damage"] for row in body["results"]] == ["none", "wrong", "loop"]
    # 42 of 60 are right, and flips move that to 0.7 * 0.94 + 0.3 * 0.06.
    right = 0.7 * (1 - 3.5 / 62) + 0.3 * 3.5 / 62
    off = 4 * math.sqrt(right * (1 - right) / (30 * 60))
    assert wrong["accuracy_lost"] == pytest.approx(right / 2, abs=off)
    assert wrong["hallucination_gained"] == pytest.approx(wrong["accuracy_lost"])
    assert loop["degenerate_gained"] == pytest.approx(0.3, abs=off)
    for row in body["results"]:
        shares = row["states"].values()
        assert sum(state["share"] for state in shares) == pytest.approx(1)
        assert all(state["low"] <= state["share"] <= state["high"] for state in shares)
    assert clean["states"]["SHIP"] == {
        "share": 0,
        "low": 0,
        "high": pytest.approx(0.1135, abs=1e-4),
    }
    assert wrong["states"]["HOLD"]["share"] == loop["states"]["HOLD"]["share"] == 1

    # The same seed gives the same bytes, another does not; nothing was written.
    before = {path: path.stat().st_mtime_ns for path in compared.rglob("*")}
    assert evalkit(*words, "--json").out == ended.out
    assert evalkit(*words, "--json", "--seed", "1").out != ended.out
    assert {path: path.stat().st_mtime_ns for path in compared.rglob("*")} == before

    # The run alone has no flips and no policy of its own.
    alone = evalkit("selftest", baseline(compared), "--repeats", "1", "--json").json
    assert (alone["flips_from"], alone["flip_rates"]) == ("assumed", {"facts": 0.06})
    assert alone["policy_hash"] != policy
    given = evalkit("selftest", compared, "--repeats", "1", "--flips", "2%", "--json").json
    assert (given["flips_from"], given["flip_rates"]) == ("given", {"facts": 0.02})


def test_the_table_says_what_the_gate_catches_and_what_it_cannot(
    evalkit: Run, compared: Path
) -> None:
    words = ("selftest", str(compared), "--repeats", "20", "--family", "facts")
    ended = evalkit(*words, "--damage", "wrong=2%,60%,truncated=30%,assert=1%")
    assert ended.code == 0, ended.err
    assert "20 simulated runs of each damage, on 60 prompts; pooled accuracy may lose 3 points" in (
        ended.out
    )
    assert "True change in points (in facts)" in ended.out
    lines = [line.split() for line in ended.out.splitlines() if line.startswith("  ")]
    assert lines[0][-4:] == ["SHIP", "HOLD", "INCONCLUSIVE", "INVALID"]
    assert "Without damage this gate ships in 0% [0, 16.1] of runs, and cries wolf (HOLD)" in (
        ended.out
    )
    assert "with 60 prompts it finds damage or stays open" in ended.out
    caught = next(line for line in ended.out.splitlines() if line.startswith("wrong=60%"))
    assert "points of accuracy) is caught (HOLD) in 100% [83.9, 100] of runs." in caught
    assert "is stopped as INVALID in 100% [83.9, 100] of runs." in ended.out
    assert "Caught (HOLD) in fewer than 80% of runs: wrong=2% in facts (−" in ended.out
    assert "No damaged run was shipped, in 20 runs of each." in ended.out


def test_more_prompts_and_a_wide_margin_ship(evalkit: Run, compared: Path) -> None:
    run = baseline(compared)
    (compared.parent / "policy.yaml").write_text(
        "margins: {accuracy: 10, hallucination: 10, degenerate: 2}\n"
    )
    words = ("selftest", str(run), "--repeats", "15", "--policy", "policy.yaml", "--flips", "2%")
    body = evalkit(
        *words, "--prompts", "250", "--damage", "wrong=2%", "--damage", "wrong=60%", "--json"
    ).json
    assert body["prompts"] == 250
    clean, slight, heavy = (row["states"] for row in body["results"])
    assert clean["SHIP"]["share"] > 0.7
    assert slight["SHIP"]["share"] > 0.5
    assert heavy["HOLD"]["share"] == 1
    shipped = [line for line in body["conclusions"] if "is shipped in" in line]
    assert [line.split()[0] for line in shipped] == ["wrong=2%"]
    assert shipped[0].endswith("as it may be: that is within the margin.")


def test_nothing_to_damage_is_told(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a:
        assert evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", "run").code == 0
    ended = evalkit("selftest", "run", "--repeats", "2", "--flips", "0", "--damage", "assert=50%")
    assert ended.code == 0, ended.err
    assert "There was nothing to damage" in ended.out


def test_what_is_no_run_is_one_sentence_and_exit_two(
    evalkit: Run, tmp_path: Path, compared: Path
) -> None:
    (tmp_path / "empty").mkdir()
    run = baseline(compared)
    cases = [
        (["nowhere"], "'nowhere' does not exist."),
        (["empty"], "'empty' is neither a run folder nor a comparison folder."),
        ([str(run), "--family", "fcts"], "Unknown family in this run 'fcts'. Did you mean facts?"),
        ([str(run), "--margin", "0"], "margins.accuracy"),
        ([str(run), "--flips", "200%"], "more than 100%"),
        ([str(run), "--damage", "wrong"], "--damage 'wrong'"),
    ]
    for words, expected in cases:
        ended = evalkit("selftest", *words)
        assert ended.code == 2, (words, ended.err)
        assert expected in ended.err
        assert ended.err.count("\n") == 1
        assert ended.out == ""
    (run / "scores.jsonl").unlink()
    unscored = evalkit("selftest", run)
    assert unscored.code == 2
    assert "holds answers that are not scored" in unscored.err
    (run / "completions.jsonl").write_text("")
    bare = evalkit("selftest", run)
    assert bare.code == 2
    assert "holds no answer" in bare.err
    run.rename(tmp_path / "elsewhere")
    moved = evalkit("selftest", compared)
    assert moved.code == 2
    assert "does not hold the run of its baseline" in moved.err


def test_a_damaged_comparison_is_one_sentence(evalkit: Run, compared: Path) -> None:
    file = compared / "comparison.json"
    raw = json.loads(file.read_text())
    raw["policy"] = {"alpha": 3}
    file.write_text(json.dumps(raw))
    ended = evalkit("selftest", compared, "--margin", "2")
    assert ended.code == 2
    assert "is it damaged?" in ended.err
