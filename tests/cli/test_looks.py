"""Plans, looks and policies through the whole program: real sockets, real folders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ended, Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer, Fault

N = 400


class Bench:
    """Two servers and a taskset, compared again and again in one folder."""

    def __init__(self, evalkit: Run, folder: Path, servers: tuple[FakeServer, FakeServer]) -> None:
        self.evalkit, self.folder, self.servers = evalkit, folder, servers

    @property
    def targets(self) -> tuple[str, str]:
        return f"{self.servers[0].url}#fake", f"{self.servers[1].url}#fake"

    def compare(self, *words: str, output: str = "out") -> Ended:
        return self.evalkit(
            "compare", *self.targets, "-t", self.folder / "quiz", "-o", output, "-j", "16",
            "--json", *words,
        )  # fmt: skip

    def result(self, output: str = "out") -> dict[str, Any]:
        text = (self.folder / output / "comparison.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)["results"][0]
        return found

    def codes(self, output: str = "out") -> set[str]:
        return {code["code"] for code in self.result(output)["verdict"]["codes"]}

    def ledger(self) -> list[dict[str, Any]]:
        lines = (self.folder / "out" / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def asked(self) -> set[str]:
        return {entry["prompt"] for entry in self.servers[1].log if "code word" in entry["prompt"]}


@contextmanager
def _bench(evalkit: Run, tmp_path: Path) -> Iterator[Bench]:
    write_quiz(tmp_path / "quiz", N)
    # As many gains as losses: nothing is shown on few prompts, and nothing is degraded.
    good, other = script(N, wrong=range(6, N, 12)), script(N, wrong=range(0, N, 12))
    with FakeServer(good) as a, FakeServer(other) as b:
        yield Bench(evalkit, tmp_path, (a, b))


@pytest.fixture
def bench(evalkit: Run, tmp_path: Path) -> Iterator[Bench]:
    with _bench(evalkit, tmp_path) as made:
        yield made


def policy(tmp_path: Path, **numbers: Any) -> str:
    path = tmp_path / "policy.yaml"
    path.write_text(json.dumps(numbers), encoding="utf-8")
    return str(path)


def test_more_prompts_than_were_planned_are_an_unplanned_look(bench: Bench) -> None:
    assert bench.compare("-n", "60").code == 4
    again = bench.compare("-n", "60")
    assert again.code == 4, "the same answers decided again are the same look"
    assert "allows no further" not in again.err
    assert len(bench.ledger()) == 1
    grown = bench.compare("-n", "120")
    assert grown.code == 5
    assert "allows no further one" in grown.err, "said before anything is asked"
    assert grown.err.index("allows no further one") < grown.err.index("requests")
    assert bench.codes() == {"UNPLANNED_LOOK"}
    text = grown.json["candidates"][0]["codes"][0]["text"]
    assert "look 2" in text
    assert "10.0%" in text
    assert [row["candidates"][0]["look"] for row in bench.ledger()] == [1, 2]
    assert bench.compare("-n", "60").code == 4, "the planned look stays what it was"
    assert bench.compare("-n", "30").code == 5, "fewer prompts are another chance, too"


def test_asking_again_is_a_look_and_the_ledger_survives_fresh(bench: Bench) -> None:
    assert bench.compare("-n", "60").code == 4
    again = bench.compare("-n", "60", "--fresh")
    assert again.code == 5
    assert "allows no further one" in again.err
    assert bench.codes() == {"UNPLANNED_LOOK"}


def test_another_folder_counts_anew(bench: Bench) -> None:
    assert bench.compare("-n", "60").code == 4
    assert bench.compare("-n", "120", output="other").code == 4


def test_what_was_invalid_is_no_look(bench: Bench) -> None:
    assert bench.compare("-n", "5").code == 5
    assert bench.codes() == {"FEW_CLUSTERS"}
    assert bench.compare("-n", "60").code == 4
    assert [row["candidates"][0]["counts"] for row in bench.ledger()] == [False, True]


def test_asking_again_what_failed_is_the_same_look(evalkit: Run, tmp_path: Path) -> None:
    write_quiz(tmp_path / "quiz", 60)
    broken = (Fault("503", match="box 7?", times=1), Fault("503", match="box 9?", times=1))
    other = script(60, wrong=range(0, 60, 12), faults=broken)
    with FakeServer(script(60, wrong=range(6, 60, 12))) as a, FakeServer(other) as b:
        bench = Bench(evalkit, tmp_path, (a, b))
        words = ("--set", "requests.max_attempts=1")
        assert bench.compare(*words).code == 4
        assert bench.result()["pooled"]["candidate"]["missing"] == 2
        assert [r["sample_id"] for r in bench.result()["reruns"]] == ["box-0007", "box-0009"]
        assert bench.compare(*words).code == 4
        assert bench.result()["pooled"]["candidate"]["missing"] == 0
        assert bench.result()["look"]["number"] == 1


def test_a_changed_ledger_is_refused(bench: Bench, tmp_path: Path) -> None:
    assert bench.compare("-n", "60").code == 4
    path = tmp_path / "out" / "ledger.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"pairs":60', '"pairs":61'), encoding="utf-8")
    ended = bench.compare("-n", "60")
    assert ended.code == 2
    assert "line 1 is not as it was written" in ended.err
    path.write_text(text + '{"torn', encoding="utf-8")
    assert bench.compare("-n", "60").code == 4


def test_two_stages_ask_new_prompts_and_combine_them(bench: Bench, tmp_path: Path) -> None:
    words = ("--policy", policy(tmp_path, plan="two-stage", margins={"accuracy": 5}))
    first = bench.compare("-n", "100", *words)
    assert first.code == 4, first.err
    assert "STAGE_2_DUE" in bench.codes()
    before = bench.asked()
    steps = [code["step"] for code in first.json["candidates"][0]["codes"]]
    assert any("--stage-2" in step for step in steps if step)
    second = bench.compare("-n", "100", "--stage-2", "250", *words)
    assert second.code in (0, 4), second.err
    assert len(bench.asked()) == 350
    assert before < bench.asked()
    assert not {"STAGE_2_DUE", "UNPLANNED_LOOK"} & bench.codes()
    accuracy = bench.result()["pooled"]["accuracy"]
    assert len(accuracy["stage_statistics"]) == 2
    assert bench.result()["look"] == {
        "number": 2, "stage": 2, "plan": "two-stage", "planned": True
    }  # fmt: skip
    assert "stage 2" in json.dumps(second.json["candidates"][0]["threats"])
    # A third look is not planned, and neither is a second one that drew other prompts.
    assert bench.compare("-n", "100", "--stage-2", "300", *words).code == 5
    assert bench.codes() == {"UNPLANNED_LOOK"}


def test_a_larger_draw_is_no_second_stage(bench: Bench, tmp_path: Path) -> None:
    words = ("--policy", policy(tmp_path, plan="two-stage"))
    assert bench.compare("-n", "100", *words).code == 4
    assert bench.compare("-n", "200", *words).code == 5
    assert bench.codes() == {"UNPLANNED_LOOK"}


def test_a_second_stage_without_prompts_or_without_a_plan_is_refused(
    bench: Bench, tmp_path: Path
) -> None:
    asked = bench.compare("--stage-2", "10")
    assert asked.code == 2
    assert "two-stage" in asked.err
    words = ("--policy", policy(tmp_path, plan="two-stage"))
    empty = bench.compare("--stage-2", "10", *words)
    assert empty.code == 2
    assert "no further prompts" in empty.err
    assert not bench.asked()


def test_a_sequential_plan_allows_every_look_that_goes_on(bench: Bench, tmp_path: Path) -> None:
    words = ("--policy", policy(tmp_path, plan="sequential", margins={"accuracy": 5}))
    assert bench.compare("-n", "50", *words).code == 4
    for size in ("120", "200", "400"):
        assert bench.compare("-n", size, *words).code in (0, 4)
        assert "UNPLANNED_LOOK" not in bench.codes()
    assert bench.result()["look"]["number"] == 4
    assert bench.compare("-n", "300", "--seed", "1", *words).code == 5
    assert bench.codes() == {"UNPLANNED_LOOK"}


def test_a_policy_changed_after_the_run_cannot_ship(bench: Bench) -> None:
    assert bench.compare("-n", "100").code == 4
    looser = bench.compare("-n", "100", "--margin", "20", "--set", "policy.margins.degenerate=9",
                           "--set", "policy.margins.hallucination=20")  # fmt: skip
    assert looser.code == 4, looser.out
    readings = bench.result()["readings"]
    assert [r["verdict"]["state"] for r in readings] == ["INCONCLUSIVE", "SHIP"]
    assert [r["gates"] for r in readings] == [True, False]
    assert readings[1]["changes"]["margins.accuracy"] == [2.0, 20.0]
    (told,) = (t for t in looser.json["candidates"][0]["threats"] if t["code"] == "POLICY_CHANGED")
    for word in ("margins.accuracy 2.0 → 20.0", "INCONCLUSIVE", "SHIP"):
        assert word in told["text"]
    assert [v["verdict"] for v in looser.json["candidates"][0]["policies"]] == [
        "INCONCLUSIVE", "SHIP"
    ]  # fmt: skip


def test_a_stricter_policy_may_take_a_ship_away(bench: Bench, tmp_path: Path) -> None:
    loose = policy(
        tmp_path, margins={"accuracy": 20, "hallucination": 20, "degenerate": 9}, max_missing=5
    )
    assert bench.compare("-n", "100", "--policy", loose).code == 0
    assert bench.compare("-n", "100").code == 4
    assert [r["gates"] for r in bench.result()["readings"]] == [False, True]
    assert bench.compare("-n", "100", "--policy", loose).code == 0, "nothing changed for good"


def test_runs_that_were_recorded_under_different_policies_are_named(
    bench: Bench, tmp_path: Path
) -> None:
    a, b = bench.targets
    loose = policy(tmp_path, margins={"accuracy": 20, "hallucination": 20, "degenerate": 9})
    base = ("-t", str(tmp_path / "quiz"), "-n", "100")
    assert bench.evalkit("run", a, *base, "-o", "a", "--policy", loose).code == 0
    assert bench.evalkit("run", b, *base, "-o", "b").code == 0
    ended = bench.evalkit("compare", "a", "b", "-o", "out", "--json", "--policy", loose)
    assert ended.code == 4, ended.out
    (told,) = (t for t in ended.json["candidates"][0]["threats"] if t["code"] == "POLICIES_DIFFER")
    assert "margins.accuracy 20.0 → 2.0" in told["text"]
