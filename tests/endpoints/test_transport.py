"""Deadlines and broken connections, below what an HTTP framework can be made to do."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.errors import ConnectError, CutBody, EndpointError, ProtocolError, Timeout
from evalkit.types import Message, Reply, Sampling
from tests.servers.fake import FakeServer, Fault, Script
from tests.servers.faults import sse
from tests.servers.raw import RawServer, read_request, reset

Ask = Callable[..., Reply]
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

ANSWER = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
BODY = json.dumps(ANSWER).encode()


@pytest.fixture(params=["direct", "aiohttp"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to a server keep the same promises."""
    if request.param == "aiohttp":
        monkeypatch.setattr("evalkit.endpoints.transport.can_send", lambda _headers: False)


def raw(server: FakeServer | RawServer, **more: Any) -> dict[str, Any]:
    return {"base_url": server.url, "model": "fake", **more}


def head(length: int, kind: str = "application/json") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()


class TestDeadlines:
    @STREAMED
    @pytest.mark.parametrize(
        ("fault", "deadlines", "said"),
        [
            ("hang", {"first_byte_timeout": 0.3}, "did not begin to answer within 0.3 s"),
            ("slow", {"first_byte_timeout": 0.3}, "did not begin to answer within 0.3 s"),
            ("hang", {"request_timeout": 0.3}, "did not answer within 0.3 s"),
            ("stall", {"idle_timeout": 0.3}, "stopped in the middle of its answer for 0.3 s"),
            ("drip", {"idle_timeout": 0.3}, "stopped in the middle of its answer for 0.3 s"),
            ("stall", {"request_timeout": 0.3}, "did not answer within 0.3 s"),
        ],
    )
    def test_each_names_itself_and_its_seconds(
        self, ask: Ask, fault: str, deadlines: dict[str, float], said: str, stream: bool
    ) -> None:
        options = EndpointOptions(**deadlines)
        with FakeServer(Script(faults=(Fault(fault, seconds=20.0),))) as server:
            clock = time.perf_counter()
            with pytest.raises(Timeout) as caught:
                ask(raw(server, stream=stream), options=options)
            assert 0.25 < time.perf_counter() - clock < 5
        assert said in str(caught.value)
        assert str(caught.value).startswith(f"Endpoint 'mine' ({server.url}")

    @STREAMED
    def test_a_slow_drip_under_the_idle_deadline_is_an_answer(self, ask: Ask, stream: bool) -> None:
        options = EndpointOptions(idle_timeout=5.0, first_byte_timeout=5.0)
        with FakeServer(Script(faults=(Fault("drip", seconds=0.0005),))) as server:
            reply = ask(raw(server, stream=stream), options=options)
        assert reply.text == "echo: hi"
        assert (reply.timing.first_token is not None) == stream
        if reply.timing.first_token is not None:
            assert 0 < reply.timing.first_token < reply.timing.total

    def test_the_whole_counts_a_drip_too(self, ask: Ask) -> None:
        options = EndpointOptions(idle_timeout=5.0, request_timeout=0.3)
        with (
            FakeServer(Script(faults=(Fault("drip", seconds=0.01),))) as server,
            pytest.raises(Timeout, match=r"did not answer within 0\.3 s"),
        ):
            ask(raw(server), options=options)

    def test_a_connection_that_is_not_accepted(self, ask: Ask) -> None:
        # Connections beyond the backlog of one that accepts none are left without an answer.
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            waiting = []
            for _ in range(3):
                other = socket.socket()
                other.setblocking(False)
                other.connect_ex(deaf.getsockname())
                waiting.append(other)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            options = EndpointOptions(connect_timeout=0.3)
            with pytest.raises(ConnectError, match=r"accepts no connection within 0\.3 s"):
                ask({"base_url": url, "model": "m"}, options=options)
            for other in waiting:
                other.close()

    def test_a_hung_list_of_models_does_not_hold_up_a_refusal(self, ask: Ask) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            if request.startswith(b"GET"):
                await asyncio.Event().wait()
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()

        with RawServer(handle) as server:
            clock = time.perf_counter()
            with pytest.raises(EndpointError, match="404"):
                ask(raw(server))
            assert time.perf_counter() - clock < 2


class TestBrokenConnections:
    def test_a_reset_before_the_request_is_read(self, ask: Ask) -> None:
        async def handle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            reset(writer)

        with RawServer(handle) as server:
            with pytest.raises(ConnectError, match="cannot be reached") as caught:
                ask(raw(server))
            assert server.connections == 1, "one attempt, no hidden retry"
        assert caught.value.retryable

    @STREAMED
    def test_a_reset_anywhere_in_the_reply_is_never_an_answer(self, ask: Ask, stream: bool) -> None:
        body = sse({"choices": [{"delta": {"content": "x"}}]}) if stream else BODY
        whole = head(len(body) + 100, "text/event-stream" if stream else "application/json") + body

        for at in range(0, len(whole) + 1, 16):

            async def handle(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, at: int = at
            ) -> None:
                await read_request(reader)
                writer.write(whole[:at])
                await writer.drain()
                reset(writer)

            with RawServer(handle) as server, pytest.raises((ConnectError, CutBody)):
                ask(raw(server, stream=stream))

    def test_a_server_that_closes_idle_connections_costs_no_answer(self) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(head(len(BODY)) + BODY)
            await writer.drain()

        async def go(url: str) -> list[str | None]:
            settings = {"kind": "openai", "base_url": url, "model": "m"}
            async with parse_endpoint("mine", settings, EndpointOptions()) as endpoint:
                found = []
                for _ in range(5):
                    reply = await endpoint.send((Message("user", "hi"),), Sampling(max_tokens=1))
                    found.append(reply.text)
                    await asyncio.sleep(0.01)
                return found

        with RawServer(handle) as server:
            assert asyncio.run(go(server.url)) == ["x"] * 5

    @STREAMED
    def test_a_body_without_end_is_given_up(
        self, ask: Ask, stream: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalkit.endpoints.transport._MOST_BYTES", 1 << 20)

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            kind = b"text/event-stream" if stream else b"application/json"
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n")
            while True:
                writer.write(b": " + b" " * 65536)
                await writer.drain()

        with RawServer(handle) as server, pytest.raises(ProtocolError, match="does not end"):
            ask(raw(server, stream=stream))


class TestStreams:
    def test_connections_are_used_again(self) -> None:
        async def go(url: str) -> None:
            settings = {"kind": "openai", "base_url": url, "model": "m", "stream": True}
            async with parse_endpoint("mine", settings, EndpointOptions()) as endpoint:
                for _ in range(5):
                    await endpoint.send((Message("user", "hi"),), Sampling(max_tokens=1))

        with FakeServer() as server:
            asyncio.run(go(server.url))
            assert len(server.server.ports) == 1

    def test_a_stream_that_is_complete_is_not_waited_for(self, ask: Ask) -> None:
        with FakeServer(Script(faults=(Fault("sse-open"),))) as server:
            clock = time.perf_counter()
            options = EndpointOptions(idle_timeout=20.0, request_timeout=20.0)
            assert ask(raw(server, stream=True), options=options).text == "echo: hi"
            assert time.perf_counter() - clock < 5

    def test_a_stream_that_nobody_asked_for_is_read(self, ask: Ask) -> None:
        with FakeServer() as server:
            reply = ask(raw(server, extra_body={"stream": True}))
        assert reply.text == "echo: hi"

    def test_a_server_that_does_not_stream_is_read(self, ask: Ask) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(head(len(BODY)) + BODY)
            await writer.drain()

        with RawServer(handle) as server:
            reply = ask(raw(server, stream=True))
        assert (reply.text, reply.timing.first_token) == ("x", None)

    def test_a_stream_under_another_name_is_read(self, ask: Ask) -> None:
        body = sse({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]})

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(head(len(body), "text/plain") + body)
            await writer.drain()

        with RawServer(handle) as server:
            assert ask(raw(server, stream=True)).text == "x"
