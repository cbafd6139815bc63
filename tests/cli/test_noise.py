"""The A/A arm over real sockets: what is asked twice, what is found, and what it leaves alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.quiz import answers, question, script, write_quiz
from tests.servers.fake import FakeServer

N = 200


class Wavering(dict[str, str]):
    """Answers that are others from the second asking on, for some prompts."""

    def __init__(self, first: dict[str, str], then: dict[str, str]) -> None:
        super().__init__(first)
        self._then, self._asked = then, Counter[str]()

    def get(self, prompt: str, default: Any = None) -> Any:
        self._asked[prompt] += 1
        if self._asked[prompt] > 1 and prompt in self._then:
            return self._then[prompt]
        return super().get(prompt, default)

    def __getitem__(self, prompt: str) -> str:
        return str(self.get(prompt))


def wavering(n: int, numbers: Collection[int]) -> FakeServer:
    """Serve a baseline that gets some prompts wrong at the second asking."""
    wrong = answers(n, wrong=numbers)
    then = {question(number): wrong[question(number)] for number in numbers}
    return FakeServer(replace(script(n), answers=Wavering(answers(n), then)))


def result(folder: Path) -> dict[str, Any]:
    text = (folder / "comparison.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["results"][0]
    return found


def asked(server: FakeServer) -> Counter[str]:
    return Counter(e["prompt"] for e in server.log if "code word" in e["prompt"])


def test_injected_flips_are_recovered_and_only_the_baseline_is_asked_twice(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    noisy = range(0, N, 10)
    with wavering(N, noisy) as a, FakeServer(script(N, wrong=range(5))) as b:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")
        ended = evalkit(*words, "--aa", "60%", "-j", "8")
        assert ended.code == 4, ended.err
        counts = asked(a)
        twice = {prompt for prompt, count in counts.items() if count == 2}
        assert (len(counts), len(twice), set(asked(b).values())) == (N, 120, {1})
        flipped = twice & {question(number) for number in noisy}
        found = result(tmp_path / "out")
        noise = found["noise"]["pooled"]
        assert noise["repeat_flips"]["value"] == pytest.approx(len(flipped) / 120)
        assert noise["same_text"]["value"] == pytest.approx(1 - len(flipped) / 120)
        assert noise["repeat_flips"]["low"] < 0.10 < noise["repeat_flips"]["high"]
        assert found["noise"]["all_flips"]["n"] == N
        # What is measured stands in every form, and nothing of it in the pairs.
        assert found["pooled"]["baseline"]["n"] == N
        assert found["exclusions"] == dict.fromkeys(found["exclusions"], 0)
        assert "noise floor: 120 prompts asked of the baseline twice" in ended.out
        for name in ("report.html", "report.md"):
            assert "asked of the baseline twice" in (tmp_path / "out" / name).read_text("utf-8")
        # Another look asks nothing again; a larger share asks what is new in it.
        again = evalkit(*words, "--aa", "60%", "--json")
        assert asked(a) == counts
        assert again.json["candidates"][0]["noise_floor"]["repeat_flips"]["value"] is not None
        evalkit(*words, "--aa", "100%")
        assert sum(asked(a).values()) == 2 * N


def test_the_verdict_does_not_depend_on_it_and_recorded_runs_are_never_asked(
    evalkit: Run, tmp_path: Path
) -> None:
    quiz = write_quiz(tmp_path / "quiz", 60)
    with wavering(60, range(0, 60, 3)) as a, FakeServer(script(60, wrong=range(8))) as b:
        for name, url in (("b", b.url), ("plain", a.url)):
            ended = evalkit("run", f"{url}#fake", "-t", quiz, "-o", name)
            assert ended.code == 0, ended.err
        assert set(asked(a).values()) == {1}
    with wavering(60, range(0, 60, 3)) as a:
        ended = evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", "twice", "-j", "1", "--aa", "50",
                        "--json")  # fmt: skip
        assert ended.json["repeats"] == 30
        assert sum(asked(a).values()) == 90
    plain = evalkit("compare", "plain", "b", "-o", "one")
    assert result(tmp_path / "one")["noise"] is None
    assert "run-to-run noise (the baseline against itself) was not measured" in plain.out
    evalkit("compare", "twice", "b", "-o", "two", "--aa", "0")
    noise = result(tmp_path / "two")["noise"]
    assert (noise["asked"], noise["pooled"]["repeat_flips"]["n"]) == (30, 30)
    assert noise["pooled"]["repeat_flips"]["value"] > 0.1
    # As the second asking may come first, the arm itself may hold the other answers; the
    # runs' own pairs are what decides.
    third = evalkit("compare", "b", "twice", "-o", "three")
    assert third.code in (3, 4)
    assert result(tmp_path / "three")["noise"] is None


def test_no_second_asking_with_zero(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 30)
    with FakeServer(script(30)) as a, FakeServer(script(30, wrong=[1])) as b:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")
        evalkit(*words, "--aa", "0")
        assert set(asked(a).values()) == {1}
        without = result(tmp_path / "out")
        evalkit(*words)
        assert sum(asked(a).values()) == 33, "10% by default"
        default = result(tmp_path / "out")
    assert without["noise"] is None
    assert default["noise"]["pooled"]["repeat_flips"]["value"] == 0
    for key in ("verdict", "pooled", "families", "samples", "slices", "causes", "exclusions"):
        assert without[key] == default[key], key


@pytest.mark.parametrize("share", ["110%", "many", "-1"])
def test_a_share_that_is_none_is_refused(evalkit: Run, share: str) -> None:
    ended = evalkit("compare", "q8", "q4", f"--aa={share}")
    assert ended.code == 2
    assert "--aa" in ended.err


def test_plan_tells_what_it_costs(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 60)
    told = evalkit("plan", "-t", quiz)
    assert "126, 6 of them to the baseline a second time (--aa)" in told.out
    cost = evalkit("plan", "-t", quiz, "--aa", "50%", "--json").json["cost"]
    assert (cost["requests"], cost["repeats"], cost["completion_tokens"]) == (150, 30, 150 * 16)
    assert evalkit("plan", "-t", quiz, "--aa", "0", "--json").json["cost"]["repeats"] == 0


def test_redacted_answers_are_compared_by_their_hashes(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 40)
    with wavering(40, range(0, 40, 4)) as a, FakeServer(script(40, wrong=range(8))) as b:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz))
        assert evalkit(*words, "-o", "out", "--aa", "100%", "--redact", "-j", "1").code in (3, 4)
        noise = result(tmp_path / "out")["noise"]["pooled"]
    # A flip is right one time and wrong the other, whichever was asked first.
    assert noise["repeat_flips"]["value"] == pytest.approx(10 / 40)
    assert noise["same_text"]["value"] == pytest.approx(30 / 40)
