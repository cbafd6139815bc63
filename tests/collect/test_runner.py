from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.collect.events import Completed, Failed, Finished, Limits, Planned, Retried, Slowed
from evalkit.collect.journal import RunFolder
from evalkit.collect.runner import collect
from evalkit.errors import AuthError, ConnectError, EndpointError, NotFoundError, StoreError
from evalkit.types import Reply, Timing, Usage
from tests.collect.builders import IDENTITY, Collected, FakeSleep, requests
from tests.servers.fake import FakeServer, Fault, Script


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create_or_open(tmp_path / "run")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Collected:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Collected()


def test_everything_is_asked_once_and_recorded(run: Collected, folder: RunFolder) -> None:
    asked = requests(20)
    with FakeServer() as server:
        summary = run.run(server.url, asked, folder)
        prompts = [entry["prompt"] for entry in server.log]
    assert sorted(prompts) == sorted(r.messages[-1].content for r in asked)
    assert (summary.total, summary.answered, summary.failed, summary.reused) == (20, 20, 0, 0)
    assert not summary.interrupted
    # "quiz question 000" has three words, its echo four.
    assert (summary.prompt_tokens, summary.completion_tokens) == (60, 80)
    recorded = {c.sample_id: c for c in folder.completions()}
    for request in asked:
        record = recorded[request.sample_id]
        assert record.text == f"echo: {request.messages[-1].content}"
        assert (record.fingerprint, record.prompt_hash) == (
            request.fingerprint,
            request.prompt_hash,
        )
        assert [attempt.error for attempt in record.attempts] == [None]


def test_events_tell_the_whole_story(run: Collected, folder: RunFolder) -> None:
    faults = (Fault("500", match="001", times=1), Fault("400", match="002"))
    with FakeServer(Script(faults=faults)) as server:
        summary = run.run(server.url, requests(3), folder)
    assert run.events[0] == Planned(total=3, reused=0)
    assert run.events[-1] == Finished(summary)
    assert [(e.sample_id, e.error) for e in run.of(Retried)] == [("quiz-001", "ServerError")]
    assert [e.completion.sample_id for e in run.of(Failed)] == ["quiz-002"]
    assert len(run.of(Completed)) == 2
    assert sorted(e.done for e in [*run.of(Completed), *run.of(Failed)]) == [1, 2, 3]


def test_concurrency_is_bounded_and_used(run: Collected, folder: RunFolder) -> None:
    with FakeServer(Script(delay=0.05)) as server:
        run.run(server.url, requests(12), folder, limits=Limits(max_connections=3))
        assert server.server.most_in_flight == 3


def test_the_order_of_asking_is_the_order_given(run: Collected, folder: RunFolder) -> None:
    asked = requests(10)
    with FakeServer() as server:
        run.run(server.url, asked, folder, limits=Limits(max_connections=1))
        assert [e["prompt"] for e in server.log] == [r.messages[-1].content for r in asked]


class TestResume:
    def test_answers_are_reused_and_failures_asked_again(
        self, run: Collected, folder: RunFolder
    ) -> None:
        with FakeServer(Script(faults=(Fault("400", match="001"),))) as server:
            run.run(server.url, requests(5), folder)
            server.server.script = Script()
            server.log.clear()
            again = Collected()
            summary = again.run(server.url, requests(8), folder)
            prompts = sorted(entry["prompt"] for entry in server.log)
        assert prompts == [f"quiz question {n:03}" for n in (1, 5, 6, 7)]
        assert (summary.total, summary.reused, summary.answered) == (8, 4, 4)
        assert again.events[0] == Planned(total=8, reused=4)
        records = list(folder.completions())
        assert len({c.fingerprint for c in records}) == len(records) == 8
        assert all(c.error is None for c in records)

    def test_nothing_left_to_ask(self, run: Collected, folder: RunFolder) -> None:
        with FakeServer() as server:
            run.run(server.url, requests(3), folder)
            server.log.clear()
            summary = Collected().run(server.url, requests(3), folder)
            assert server.log == []
        assert (summary.reused, summary.answered, summary.interrupted) == (3, 0, False)

    def test_another_identity_shares_nothing(self, run: Collected, folder: RunFolder) -> None:
        other = replace(IDENTITY, quantization="int4")
        with FakeServer() as server:
            run.run(server.url, requests(3), folder)
            summary = Collected().run(server.url, requests(3, other), folder)
        assert summary.reused == 0


class TestBackoff:
    def test_full_jitter_under_a_growing_cap(self, run: Collected, folder: RunFolder) -> None:
        limits = Limits(max_attempts=6, backoff_base=1.0, backoff_cap=4.0)
        with FakeServer(Script(faults=(Fault("500"),))) as server:
            run.run(server.url, requests(15), folder, limits=limits)
        ceilings = {1: 1.0, 2: 2.0, 3: 4.0, 4: 4.0, 5: 4.0}
        for number, ceiling in ceilings.items():
            delays = [e.delay for e in run.of(Retried) if e.attempt == number]
            assert len(delays) == 15
            assert all(0 <= delay <= ceiling for delay in delays)
            assert max(delays) - min(delays) > ceiling / 10, "jitter"
        assert {e.delay for e in run.of(Retried)} <= set(run.sleep.delays)

    @pytest.mark.parametrize("kind", ["429", "503"])
    def test_retry_after_is_honoured(self, run: Collected, folder: RunFolder, kind: str) -> None:
        fault = Fault(kind, match="001", times=1, retry_after="7")
        with FakeServer(Script(faults=(fault,))) as server:
            summary = run.run(server.url, requests(3), folder, limits=Limits(backoff_base=0.5))
        assert summary.answered == 3
        (retried,) = run.of(Retried)
        assert 7.0 <= retried.delay <= 7.5

    def test_a_rate_limit_slows_all_workers(self, run: Collected, folder: RunFolder) -> None:
        asked = requests(30)
        first = asked[0].messages[-1].content
        fault = Fault("429", match=first, times=1, retry_after="50")
        with FakeServer(Script(faults=(fault,))) as server:
            run.run(server.url, asked, folder, limits=Limits(max_connections=2))
        # Sleeping is faked, so that each later request finds the pause still on.
        assert sum(40 < delay <= 50 for delay in run.sleep.delays) > 20

    def test_a_long_retry_after_is_capped(self, run: Collected, folder: RunFolder) -> None:
        fault = Fault("429", match="001", times=1, retry_after="86400")
        with FakeServer(Script(faults=(fault,))) as server:
            run.run(server.url, requests(3), folder, limits=Limits(retry_after_cap=10.0))
        assert max(run.sleep.delays) <= 10.5


class TestOverload:
    """With real waits: what the server sees is what counts."""

    @pytest.mark.parametrize("asked", ["1", "date+2"])
    def test_a_pause_is_kept_by_all_and_nobody_storms_out_of_it(
        self, run: Collected, folder: RunFolder, asked: str
    ) -> None:
        run.sleep = asyncio.sleep  # type: ignore[assignment]
        limits = Limits(max_connections=16, first_connections=16)
        fault = Fault("429", burst=16, retry_after=asked)
        with FakeServer(Script(delay=0.02, faults=(fault,))) as server:
            summary = run.run(server.url, requests(60), folder, limits=limits)
            at = [entry["at"] for entry in server.log]
        assert (summary.answered, summary.retries) == (60, 16)
        burst, rest = at[:16], at[16:]
        pause = rest[0] - burst[0]
        # A date has whole seconds: two from now are more than one.
        assert 0.9 <= pause < 3.5, "the pause is kept, once"
        assert sum(time < rest[0] + 0.02 for time in rest) <= 5, "they come one by one"
        assert (summary.slowdowns, summary.least_connections) == (1, 8)
        (slowed,) = run.of(Slowed)
        assert slowed.connections == 8
        assert 0.9 <= slowed.pause <= 2.0

    @pytest.mark.parametrize("kind", ["429", "503"])
    def test_an_endpoint_that_takes_less_is_given_less(
        self, run: Collected, folder: RunFolder, kind: str
    ) -> None:
        run.sleep = asyncio.sleep  # type: ignore[assignment]
        limits = Limits(max_connections=32, backoff_base=0.05, max_attempts=8)
        with FakeServer(Script(delay=0.02, faults=(Fault(kind, busy=6),))) as server:
            summary = run.run(server.url, requests(250), folder, limits=limits)
            asked = len(server.log)
        assert (summary.answered, summary.failed) == (250, 0)
        assert summary.slowdowns >= 2
        assert summary.least_connections is not None
        assert 1 <= summary.least_connections <= 10
        assert asked < 1.6 * 250, "refusals stay few"

    def test_an_endpoint_that_refuses_everything_is_given_up_after_minutes_not_hours(
        self, run: Collected, folder: RunFolder
    ) -> None:
        with FakeServer(Script(faults=(Fault("429"),))) as server:
            limits = Limits(max_connections=16)
            with pytest.raises(EndpointError, match=r"seems to be down.*slow down"):
                run.run(server.url, requests(200), folder, limits=limits)
            assert len(server.log) <= 16 + 30
        assert max(event.pause for event in run.of(Slowed)) > 4, "longer and longer pauses"

    def test_without_overload_the_concurrency_is_what_was_asked_for(
        self, run: Collected, folder: RunFolder
    ) -> None:
        faults = (Fault("500", rate=0.2, times=1), Fault("400", rate=0.1))
        with FakeServer(Script(delay=0.02, faults=faults)) as server:
            summary = run.run(server.url, requests(60), folder, limits=Limits(max_connections=12))
            assert server.server.most_in_flight == 12
        assert (summary.slowdowns, summary.least_connections) == (0, None)
        assert run.of(Slowed) == []

    def test_a_slow_first_answer_does_not_hold_up_the_others(
        self, run: Collected, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalkit.collect.runner._OPENING_SECONDS", 0.05)
        with FakeServer(Script(delay=0.4)) as server:
            run.run(server.url, requests(12), folder, limits=Limits(max_connections=12))
            assert server.server.most_in_flight == 12


class TestAbort:
    @pytest.mark.parametrize(("kind", "error"), [("401", AuthError), ("404", NotFoundError)])
    def test_the_first_refusal_stops_the_run(
        self, run: Collected, folder: RunFolder, kind: str, error: type[EndpointError]
    ) -> None:
        with FakeServer(Script(faults=(Fault(kind),))) as server:
            with pytest.raises(error):
                run.run(server.url, requests(100), folder)
            assert len(server.log) <= 16
        assert list(folder.completions()) == []

    def test_nobody_there(self, run: Collected, folder: RunFolder) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            with pytest.raises(ConnectError):
                run.run(url, requests(100), folder, limits=Limits(max_attempts=3))
        assert len(run.sleep.delays) <= 4 * 3

    def test_an_endpoint_that_dies_ends_the_run_and_keeps_what_it_said(
        self, run: Collected, folder: RunFolder
    ) -> None:
        first, rest = requests(5), requests(200)
        with FakeServer() as server:
            run.run(server.url, first, folder)
            server.server.script = Script(faults=(Fault("500"),))
            with pytest.raises(EndpointError, match=r"down.*something broke"):
                run.run(server.url, rest, folder, limits=Limits(max_attempts=2, give_up_after=6))
            assert len(server.log) <= 5 + 2 * (6 + 4) + 1
        assert len(folder.answered()) == 5

    def test_poison_alone_is_no_outage_however_much_of_it_is_left(
        self, run: Collected, folder: RunFolder
    ) -> None:
        limits = Limits(max_attempts=2, give_up_after=3)
        faults = (Fault("500", match="quiz question"),)
        with FakeServer(Script(faults=faults)) as server:
            summary = run.run(server.url, requests(10), folder, limits=limits)
            others = {e["prompt"] for e in server.log if "quiz" not in e["prompt"]}
        assert (summary.answered, summary.failed) == (0, 10)
        assert others == {"What is the capital of France? Answer with one word."}

    @pytest.mark.parametrize("connections", [1, 16])
    def test_poison_that_looks_like_overload_takes_seconds_a_prompt_not_minutes(
        self, run: Collected, folder: RunFolder, connections: int
    ) -> None:
        run.sleep = asyncio.sleep  # type: ignore[assignment]
        limits = Limits(max_connections=connections, backoff_base=0.005, backoff_cap=0.1)
        faults = (Fault("503", match="quiz question"),)
        with FakeServer(Script(faults=faults)) as server:
            summary = run.run(server.url, requests(20), folder, limits=limits)
        assert (summary.failed, summary.failures) == (20, {"ServerError": 20})
        assert sum(event.pause for event in run.of(Slowed)) < 20 * limits.backoff_cap

    def test_a_first_prompt_that_breaks_its_connection_does_not_end_the_run(
        self, run: Collected, folder: RunFolder
    ) -> None:
        asked = requests(5)
        limits = Limits(max_connections=1, max_attempts=2)
        fault = Fault("reset", match=asked[0].messages[-1].content)
        with FakeServer(Script(faults=(fault,))) as server:
            summary = run.run(server.url, asked, folder, limits=limits)
        assert (summary.answered, summary.failures) == (4, {"ConnectError": 1})

    def test_many_refused_requests_are_no_outage(self, run: Collected, folder: RunFolder) -> None:
        with FakeServer(Script(faults=(Fault("400"),))) as server:
            limits = Limits(max_attempts=1, give_up_after=3)
            summary = run.run(server.url, requests(10), folder, limits=limits)
        assert summary.failed == 10

    def test_failures_between_answers_are_no_outage(
        self, run: Collected, folder: RunFolder
    ) -> None:
        asked = requests(12)
        bad = [Fault("500", match=r.messages[-1].content) for r in asked[::2]]
        limits = Limits(max_connections=1, max_attempts=2, give_up_after=2)
        with FakeServer(Script(faults=tuple(bad))) as server:
            summary = run.run(server.url, asked, folder, limits=limits)
        assert (summary.answered, summary.failed) == (6, 6)

    def test_a_full_disk_stops_the_run(
        self, run: Collected, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_completions: object) -> None:
            raise StoreError("No space left on device.")

        monkeypatch.setattr(folder, "append", full)
        with FakeServer(Script(delay=0.01)) as server:
            with pytest.raises(StoreError, match="No space"):
                run.run(server.url, requests(100), folder)
            assert len(server.log) <= 8


class TestStop:
    def test_requests_in_flight_are_finished_and_no_other_begun(
        self, run: Collected, folder: RunFolder
    ) -> None:
        with FakeServer(Script(delay=0.05)) as server:
            run.stop_after = 3
            summary = run.run(server.url, requests(50), folder)
            sent = len(server.log)
        assert summary.interrupted
        assert summary.answered == sent == len(list(folder.completions()))
        assert 3 <= sent <= 3 + 4

    def test_a_pause_of_the_endpoint_ends_at_once(self, run: Collected, folder: RunFolder) -> None:
        run.sleep = asyncio.sleep  # type: ignore[assignment]
        run.stop_at = Slowed
        limits = Limits(max_connections=8, first_connections=1)
        with FakeServer(Script(faults=(Fault("429", retry_after="60"),))) as server:
            summary = run.run(server.url, requests(20), folder, limits=limits)
            assert len(server.log) == 1
        assert summary.interrupted
        assert summary.seconds < 10
        assert list(folder.records()) == []

    def test_a_wait_for_another_try_ends_at_once(self, run: Collected, folder: RunFolder) -> None:
        class Endless(FakeSleep):
            async def __call__(self, delay: float) -> None:
                run.stop.set()
                await asyncio.Event().wait()

        run.sleep = Endless()
        with FakeServer(Script(faults=(Fault("500"),))) as server:
            summary = run.run(server.url, requests(5), folder)
        assert summary.interrupted
        assert list(folder.completions()) == []

    def test_a_reply_that_came_just_before_the_end_is_kept(self, folder: RunFolder) -> None:
        class Last:
            name = label = "mine"

            async def send(self, _messages: object, _sampling: object) -> Reply:
                # Runs while the worker waits for others to share its write.
                asyncio.get_running_loop().call_soon(task.cancel)
                timing = Timing(started=0.0, total=0.0)
                return Reply("yes", None, "stop", Usage(), timing)

        async def go() -> None:
            nonlocal task
            task = asyncio.ensure_future(
                collect(
                    Last(),  # type: ignore[arg-type]
                    requests(5),
                    folder,
                    limits=Limits(max_connections=1),
                    on_event=told.append,
                    stop=asyncio.Event(),
                )
            )
            with pytest.raises(asyncio.CancelledError):
                await task

        task: asyncio.Future[object]
        told: list[object] = []
        with folder:
            asyncio.run(go())
        assert [c.text for c in folder.completions()] == ["yes"]
        assert told == [Planned(total=5, reused=0)], "nothing is told before it is written"
