"""The short way to a server: plain HTTP/1.1, below what an HTTP framework can be made to do."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Sequence

import pytest

from evalkit.endpoints.deadlines import Deadlines, Watch
from evalkit.endpoints.direct import Direct, can_send
from evalkit.endpoints.http1 import CutShort, Endless, NotHttp, Response
from tests.servers.raw import RawServer, read_request

BODY = json.dumps({"choices": []}).encode()
OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (
    b"5\r\n%b\r\n%x;x=y\r\n%b\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])
)
UPGRADE = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
ZIPPED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"


def talk(
    parts: Sequence[bytes], requests: int = 1, *, most: int = 1 << 20, close: bool = False
) -> tuple[list[Response], RawServer]:
    """Ask a server that says these parts, one at a time, to each request."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)
            if close:
                return

    async def go(url: str) -> list[Response]:
        direct = Direct({"User-Agent": "t"}, 5.0, most)
        try:
            found = []
            for _ in range(requests):
                watch = Watch(Deadlines(total=5.0), None, asyncio.get_running_loop().time())
                found.append(await direct.exchange("POST", f"{url}/v1/x?y=z", b"{}", watch, None))
                await asyncio.sleep(0.01)
            return found
        finally:
            direct.close()

    with RawServer(handle) as server:
        return asyncio.run(go(server.url)), server


@pytest.mark.parametrize("whole", [OK, CHUNKED], ids=["length", "chunked"])
def test_a_response_cut_into_two_parts_at_any_byte_is_the_same(whole: bytes) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for at in range(len(whole)):
            await read_request(reader)
            writer.write(whole[:at])
            await writer.drain()
            await asyncio.sleep(0.001)
            writer.write(whole[at:])

    async def go(url: str) -> None:
        direct = Direct({}, 5.0, 1 << 20)
        for _ in range(len(whole)):
            watch = Watch(Deadlines(), None, asyncio.get_running_loop().time())
            got = await direct.exchange("POST", url, b"{}", watch, None)
            assert (got.status, got.body) == (200, BODY)
        direct.close()

    with RawServer(handle) as server:
        asyncio.run(go(server.url))
        assert server.connections == 1


@pytest.mark.parametrize(
    ("parts", "close"),
    [
        ([b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\n", OK], False),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" + OK], False),
        ([b"HTTP/1.1 200 OK\r\n\r\n", BODY], True),
        ([b"HTTP/1.0 200 OK\r\n\r\n" + BODY], True),
        ([OK.replace(b"\r\n", b"\n")], False),
        ([ZIPPED, gzip.compress(BODY)], True),
        ([b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + zlib.compress(BODY)], True),
    ],
    ids=["continue", "continue-at-once", "to-the-end", "old", "bare-lf", "gzip", "deflate"],
)
def test_what_servers_say_besides_is_understood(parts: list[bytes], close: bool) -> None:
    (got,), _ = talk(parts, close=close)
    assert (got.status, got.body) == (200, BODY)
    assert "X" not in got.headers


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([OK], True),
        ([OK + OK], False),
        ([OK + b"\x00garbage"], False),
        ([OK.replace(b"200 OK\r\n", b"200 OK\r\nConnection: close\r\n")], False),
    ],
    ids=["sound", "a-second-response", "garbage", "close"],
)
def test_a_connection_is_used_again_only_when_nothing_else_came(
    parts: list[bytes], kept: bool
) -> None:
    found, server = talk(parts, requests=3)
    assert [got.body for got in found] == [BODY] * 3
    assert server.connections == (1 if kept else 3)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], NotHttp),
        ([OK[:-3]], CutShort),
        ([CHUNKED[:-3]], CutShort),
        ([b""], ConnectionError),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 60_000], Endless),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" * 12_000], Endless),
        ([b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nx"], NotHttp),
        ([ZIPPED + b"x" * 9], NotHttp),
        ([ZIPPED + gzip.compress(BODY)[:-9]], CutShort),
        ([ZIPPED + gzip.compress(bytes(4 << 20))], Endless),
        (
            [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
            OSError,
        ),
    ],
    ids=[
        *("ssh", "cut", "cut-chunk", "nothing", "heads", "interim"),
        *("br", "no-gzip", "half-a-gzip", "bomb", "101"),
    ],
)
def test_what_is_no_answer_says_why(parts: list[bytes], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        talk(parts, close=True)
    assert caught.type is error or error is OSError


def test_a_connection_that_comes_back_after_the_end_is_closed() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        await writer.drain()
        # The other side's end: nothing is left open there.
        assert await reader.read() == b""

    async def go(url: str) -> int:
        direct = Direct({}, 5.0, 1 << 20)
        watch = Watch(Deadlines(total=5.0), None, asyncio.get_running_loop().time())
        late = asyncio.create_task(direct.exchange("GET", f"{url}/v1", None, watch, None))
        await asyncio.sleep(0)
        direct.close()
        return (await late).status

    with RawServer(handle) as server:
        assert asyncio.run(go(server.url)) == 200


def test_a_request_says_what_it_must_and_keeps_the_path_as_it_is() -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK)

    async def go(url: str) -> None:
        direct = Direct({"Authorization": "Bearer x"}, 5.0, 1 << 20)
        watch = Watch(Deadlines(), None, asyncio.get_running_loop().time())
        await direct.exchange("POST", f"{url}/a b/é?q=1#f", b"{}", watch, None)
        direct.close()

    with RawServer(handle) as server:
        asyncio.run(go(server.url))
        host = server.url.removeprefix("http://")
    first, *lines = seen[0].decode().rstrip("\r\n").split("\r\n")
    assert first == "POST /a%20b/%C3%A9?q=1 HTTP/1.1"
    assert {f"Host: {host}", "Authorization: Bearer x", "Content-Length: 2"} <= set(lines)


@pytest.mark.parametrize(
    ("headers", "fine"),
    [({"X-Team": "a"}, True), ({"host": "other"}, False), ({"Transfer-Encoding": "x"}, False)],
)
def test_headers_that_change_the_framing_are_not_for_it(
    headers: dict[str, str], fine: bool
) -> None:
    assert can_send(headers) is fine
