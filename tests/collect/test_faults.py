"""Every fault of the server, whole and streamed: through endpoint, runner and journal."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path

import pytest

from evalkit.collect.events import Failed, Limits, Retried
from evalkit.collect.journal import RunFolder
from evalkit.errors import EndpointError
from evalkit.types import Completion
from tests.collect.builders import Collected, requests
from tests.servers.fake import FakeServer, Fault, Script
from tests.servers.faults import HARMLESS, HEALS, KINDS, NULL, STAYS, STOPS
from tests.servers.raw import RawServer, read_request, reset

STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
DEADLINES = {"request_timeout": 0.6, "idle_timeout": 0.4}
SECONDS = {"slow": 3.0, "drip": 0.0005}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create_or_open(tmp_path / "run")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Collected:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Collected()


def fault(kind: str, match: str = "", times: int | None = None, rate: float = 1.0) -> Fault:
    return Fault(kind, match=match, times=times, rate=rate, seconds=SECONDS.get(kind, 0.0))


def deadlines(kind: str) -> dict[str, float]:
    return DEADLINES if kind in {"hang", "slow", "stall"} else {}


def by_sample(folder: RunFolder) -> dict[str, Completion]:
    found = {c.sample_id: c for c in folder.completions()}
    assert len(found) == len(list(folder.records())), "one record for each request"
    return found


def right(sample_id: str) -> str:
    return f"echo: quiz question {sample_id[-3:]}"


def test_the_tables_know_every_kind() -> None:
    assert {*HEALS, *STAYS, *STOPS, *NULL, *HARMLESS} == set(KINDS)


@STREAMED
@pytest.mark.parametrize("kind", HEALS)
def test_a_fault_that_passes_costs_no_answer(
    run: Collected, folder: RunFolder, kind: str, stream: bool
) -> None:
    count = 12 if deadlines(kind) else 30
    asked = requests(count)
    hit = [r.sample_id for r in asked if fault(kind, rate=0.2).hits(r.messages[-1].content, 0)]
    assert hit, "the fault must strike"
    with FakeServer(Script(faults=(fault(kind, times=2, rate=0.2),))) as server:
        summary = run.run(server.url, asked, folder, stream=stream, **deadlines(kind))
    assert (summary.answered, summary.failed, summary.retries) == (count, 0, 2 * len(hit))
    for sample_id, record in by_sample(folder).items():
        assert record.text == right(sample_id)
        assert record.error is None
        tries = [attempt.error for attempt in record.attempts]
        assert tries == ([HEALS[kind]] * 2 + [None] if sample_id in hit else [None])


def test_connections_that_break_before_the_request_is_read_cost_no_answer(
    run: Collected, folder: RunFolder
) -> None:
    seen = itertools.count()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if next(seen) % 4 == 0:
            reset(writer)
            return
        prompt = json.loads(await read_request(reader))["messages"][-1]["content"]
        choice = {"message": {"content": f"echo: {prompt}"}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        writer.write(body)
        await writer.drain()

    with RawServer(handle) as server:
        summary = run.run(server.url, requests(40), folder, limits=Limits(max_attempts=30))
    assert (summary.answered, summary.failed) == (40, 0)
    assert summary.retries >= 10
    assert {event.error for event in run.of(Retried)} == {"ConnectError"}
    assert all(c.text == right(c.sample_id) for c in folder.completions())


@STREAMED
@pytest.mark.parametrize("kind", [*HEALS, *STAYS])
def test_a_fault_that_stays_costs_one_answer_and_is_named(
    run: Collected, folder: RunFolder, kind: str, stream: bool
) -> None:
    name = (HEALS | STAYS)[kind]
    tries = 2 if kind in HEALS else 1
    with FakeServer(Script(faults=(fault(kind, match="004"),))) as server:
        limits = Limits(max_attempts=2)
        summary = run.run(
            server.url, requests(8), folder, limits=limits, stream=stream, **deadlines(kind)
        )
    assert (summary.answered, summary.failed, summary.failures) == (7, 1, {name: 1})
    assert [event.completion.sample_id for event in run.of(Failed)] == ["quiz-004"]
    records = by_sample(folder)
    failed = records.pop("quiz-004")
    assert failed.error is not None
    assert failed.error.kind == name
    assert failed.error.message.startswith(("Endpoint 'mine'", "The "))
    assert "\n" not in failed.error.message
    assert (failed.text, failed.reasoning, failed.finish_reason) == (None, None, None)
    assert [attempt.error for attempt in failed.attempts] == [name] * tries
    assert {sample_id: record.text for sample_id, record in records.items()} == {
        sample_id: right(sample_id) for sample_id in records
    }


@STREAMED
@pytest.mark.parametrize("kind", NULL)
def test_null_is_an_answer_without_text(
    run: Collected, folder: RunFolder, kind: str, stream: bool
) -> None:
    with FakeServer(Script(faults=(fault(kind, match="001"),))) as server:
        summary = run.run(server.url, requests(3), folder, stream=stream)
    assert (summary.answered, summary.failed, summary.retries) == (3, 0, 0)
    record = by_sample(folder)["quiz-001"]
    assert record.text is None
    assert record.error is None
    assert record.finish_reason == NULL[kind]
    assert record.reasoning == ("long thoughts" if kind == "null-length" else None)


@STREAMED
@pytest.mark.parametrize("kind", HARMLESS)
def test_oddities_change_no_answer(
    run: Collected, folder: RunFolder, kind: str, stream: bool
) -> None:
    with FakeServer(Script(faults=(fault(kind),))) as server:
        summary = run.run(server.url, requests(4), folder, stream=stream)
    assert (summary.answered, summary.retries) == (4, 0)
    for sample_id, record in by_sample(folder).items():
        assert (record.text, record.finish_reason) == (right(sample_id), "stop")
        told = kind != "sse-no-usage" and (stream or kind == "drip")
        assert (record.usage.completion_tokens is not None) == told


@STREAMED
@pytest.mark.parametrize("kind", STOPS)
@pytest.mark.parametrize("connections", [4, 64])
def test_a_refusal_stops_everything_at_once(
    run: Collected, folder: RunFolder, kind: str, stream: bool, connections: int
) -> None:
    limits = Limits(max_connections=connections)
    with FakeServer(Script(faults=(Fault(kind),), delay=0.01)) as server:
        with pytest.raises(EndpointError) as caught:
            run.run(server.url, requests(200), folder, limits=limits, stream=stream)
        assert server.server.requests <= 16
        assert server.url in str(caught.value)
    assert type(caught.value).__name__ == STOPS[kind]
    assert ("OPENAI_API_KEY" in str(caught.value)) == (kind != "404")
    assert "mine" in str(caught.value)
    assert list(folder.records()) == []


@STREAMED
@pytest.mark.parametrize("kind", HEALS)
def test_an_endpoint_that_dies_with_any_fault_is_an_outage_and_loses_nothing(
    run: Collected, folder: RunFolder, kind: str, stream: bool
) -> None:
    first, rest = requests(5), requests(60)
    limits = Limits(max_attempts=1, give_up_after=3)
    with FakeServer() as server:
        run.run(server.url, first, folder, stream=stream)
        kept = by_sample(folder)
        server.server.script = Script(faults=(fault(kind),))
        said = "'mine'.* cannot be reached" if kind == "reset" else "'mine' seems to be down"
        with pytest.raises(EndpointError, match=said) as caught:
            run.run(server.url, rest, folder, limits=limits, stream=stream, **deadlines(kind))
        assert "the same command goes on" in str(caught.value)
        server.server.script = Script()
        assert {c.sample_id: c for c in folder.records() if c.error is None} == kept
        summary = Collected().run(server.url, rest, folder, stream=stream)
    assert (summary.reused, summary.answered, summary.failed) == (5, 55, 0)
    assert all(c.text == right(c.sample_id) for c in folder.completions())
