"""Scores that are made while answers come are those that the journal gives."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit import api
from evalkit.collect.events import Completed, Event, Failed, Planned
from evalkit.collect.journal import RunFolder
from evalkit.config import Config
from evalkit.scoring.base import SCORERS
from evalkit.stages import live_scoring, scoring_pool
from evalkit.stages.live_scoring import LiveScores, joined
from evalkit.stages.rescoring import rescore
from evalkit.stages.scoring_pool import score_all
from evalkit.types import Completion, CompletionError, Family, Logprobs, Score, Taskset
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer
from tests.stages.test_scoring_pool import COMPLETIONS, SAMPLES

TASKSET = Taskset("t", 1, Family.MATH, "", "math", 8, 1.0, False, tuple(SAMPLES.values()), "h")


def scored_live(completions: Iterable[Completion], taskset: Taskset = TASKSET) -> LiveScores:
    async def go() -> LiveScores:
        live = LiveScores((taskset,), {(taskset.name, s.id): s for s in taskset.samples})
        live.load()
        for completion in completions:
            live.take(completion)
            await asyncio.sleep(0)
        live.end()
        return live

    return asyncio.run(go())


def serial() -> list[tuple[Completion, Score]]:
    return list(score_all(SAMPLES, COMPLETIONS, {"t": SCORERS.get("math")}, total=400, processes=1))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("missing", [1, 3, 400])
def test_with_some_or_all_made_already_the_scores_are_the_same(
    monkeypatch: pytest.MonkeyPatch, workers: int, missing: int
) -> None:
    live = scored_live(
        c for n, c in enumerate(COMPLETIONS) if c.error is None and (n - 1) % missing == 0
    )
    assert live.n > 0
    if workers > 1:
        monkeypatch.setattr(scoring_pool, "_WORTH_SECONDS", -1e9)
        monkeypatch.setattr(scoring_pool, "_FIRST", 5)
    scorers = {"t": SCORERS.get("math")}
    again = score_all(SAMPLES, COMPLETIONS, scorers, total=400, processes=workers, live=live)
    assert list(again) == serial()


def test_a_score_that_belongs_to_no_answer_holds_up_no_other() -> None:
    scores = [score for _, score in serial()]
    strange = replace(scores[0], fingerprint="strange")
    found = list(joined(iter(COMPLETIONS), iter([strange, scores[1], scores[0], *scores[2:]])))
    assert [score for _, score in found] == scores


def test_a_run_is_scored_when_its_last_answer_comes_and_again_to_the_same_bytes(
    tmp_path: Path,
) -> None:
    write_quiz(tmp_path / "quiz", 300)
    config = Config(tasks=(str(tmp_path / "quiz"),), allow_confounded=True, max_connections=8)
    with FakeServer(script(300, wrong=range(0, 300, 7), abstained=range(3, 300, 7))) as server:
        scored = api.run(f"{server.url}#fake", config, output=tmp_path / "run")
    live = scored.run.live
    assert live is not None
    # Those that came before the scorer was loaded may be left to the end.
    assert live.n > 0
    path = tmp_path / "run" / "scores.jsonl"
    before = path.read_bytes()
    assert before.count(b"\n") == 300
    rescore(tmp_path / "run", allow_code=False)
    assert path.read_bytes() == before


def test_held_answers_are_those_that_the_journal_gives(tmp_path: Path) -> None:
    right, *others = (c for c in COMPLETIONS if c.error is None and c.text)
    late = next(c for c in COMPLETIONS if c.error is not None)
    numbers = Logprobs(("a",), (math.inf,), ((("a", -0.5), ("b", math.nan)),))
    records = [
        right,
        replace(late, fingerprint=others[0].fingerprint),
        replace(others[1], text="7 \ud800", finish_reason="\udfff"),
        replace(others[2], reasoning="\ud800", logprobs=numbers),
        replace(late, error=CompletionError("ServerError", "\ud800")),
        others[0],
        # The same prompt asked twice: the first answer stays.
        replace(right, text="8", sample_id="s9"),
        replace(late, fingerprint="also late"),
    ]

    async def heard(*events: Event) -> LiveScores:
        live = LiveScores((TASKSET,), SAMPLES, hold=True)
        for event in events:
            live.hear(event)
        return live

    folder = RunFolder.create_or_open(tmp_path)
    with folder:
        folder.append(*records)
    told = [Failed(r, 1, 9) if r.error else Completed(r, 1, 9, 0) for r in records]
    live = asyncio.run(heard(Planned(9, 0), *told))
    held = live.completions()
    assert held is not None
    assert list(held) == list(folder.completions())
    # What an earlier session answered is not among them.
    assert asyncio.run(heard(Planned(9, 1), *told)).completions() is None
    assert scored_live([right]).completions() is None


def test_a_comparison_that_goes_on_decides_on_what_was_answered_before(tmp_path: Path) -> None:
    write_quiz(tmp_path / "quiz", 120)
    settings = {"tasks": (str(tmp_path / "quiz"),), "allow_confounded": True, "aa": 0.1}
    made = []
    with (
        FakeServer(script(120, wrong=range(0, 300, 7))) as one,
        FakeServer(script(120, wrong=range(0, 300, 5))) as other,
    ):
        arms = f"{one.url}#fake", f"{other.url}#fake"
        for limit in (120, 50, 120):
            config = Config(**settings, limit=None if limit == 120 else limit)
            out = tmp_path / ("whole" if not made else "twice")
            made.append(api.compare(*arms, config=config, output=out).content)
    whole, _, twice = made
    assert [r.pooled for r in whole.results] == [r.pooled for r in twice.results]
    assert whole.results[0].noise == twice.results[0].noise
    assert whole.results[0].samples == twice.results[0].samples


def test_what_would_hold_up_requests_is_left_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(c for c in COMPLETIONS if c.error is None and c.text)
    assert scored_live([one]).n == 1
    assert scored_live([replace(one, text="1 " * 20_000)]).n == 0
    assert scored_live([replace(one, text="7 \ud800")]).n == 0
    formula = replace(SAMPLES["t", one.sample_id], target={"expression": "x"})
    assert scored_live([one], replace(TASKSET, samples=(formula,))).n == 0
    assert scored_live([one], replace(TASKSET, scorer="code")).n == 0
    monkeypatch.setattr(live_scoring, "_SLOW_SECONDS", -1.0)
    assert scored_live([one] * 20).n == 5
