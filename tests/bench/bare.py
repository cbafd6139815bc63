"""A bare loop over one HTTP client: what the work costs with nothing around it.

A program of its own, `python tests/bench/bare.py CLIENT URL N CONNECTIONS`, so that it runs
in any environment that has the client. It asks the questions of `tests.quiz` N times and
reads each answer out of the JSON; it journals nothing, retries nothing and scores nothing.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import orjson
import uvloop

HEADERS = {"Content-Type": "application/json", "User-Agent": "bare"}
OWN = "evalkit"
"""What evalkit itself takes for plain HTTP; found in its own environment alone."""
Post = Callable[[bytes], Awaitable[bytes]]


@asynccontextmanager
async def _aiohttp(url: str, connections: int) -> AsyncIterator[Post]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:

        async def post(data: bytes) -> bytes:
            async with session.post(url, data=data) as response:
                return await response.read()

        yield post


@asynccontextmanager
async def _httpx(url: str, connections: int, module: str = "httpx") -> AsyncIterator[Post]:
    httpx = __import__(module)
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    async with httpx.AsyncClient(limits=limits, headers=HEADERS) as client:

        async def post(data: bytes) -> bytes:
            return bytes((await client.post(url, content=data)).content)

        yield post


@asynccontextmanager
async def _httpx2(url: str, connections: int) -> AsyncIterator[Post]:
    async with _httpx(url, connections, "httpx2") as post:
        yield post


@asynccontextmanager
async def _niquests(url: str, connections: int) -> AsyncIterator[Post]:
    import niquests

    async with niquests.AsyncSession(
        pool_connections=1, pool_maxsize=connections, headers=HEADERS
    ) as session:

        async def post(data: bytes) -> bytes:
            return (await session.post(url, data=data)).content or b""

        yield post


@asynccontextmanager
async def _pyreqwest(url: str, connections: int) -> AsyncIterator[Post]:
    from pyreqwest.client import ClientBuilder

    builder = ClientBuilder().max_connections(connections).default_headers(HEADERS)
    async with builder.build() as client:

        async def post(data: bytes) -> bytes:
            response = await client.post(url).body_bytes(data).build().send()
            return bytes(await response.bytes())

        yield post


@asynccontextmanager
async def _aiosonic(url: str, connections: int) -> AsyncIterator[Post]:
    import aiosonic

    connector = aiosonic.TCPConnector(
        pool_configs={":default": aiosonic.pools.PoolConfig(connections)}
    )
    async with aiosonic.HTTPClient(connector) as client:

        async def post(data: bytes) -> bytes:
            response = await client.post(url, data=data, headers=HEADERS)
            return bytes(await response.content())

        yield post


@asynccontextmanager
async def _direct(url: str, connections: int) -> AsyncIterator[Post]:
    from evalkit.endpoints.deadlines import Deadlines, Watch
    from evalkit.endpoints.direct import Direct

    client, now = Direct(HEADERS, 10.0, 1 << 26), asyncio.get_running_loop().time

    async def post(data: bytes) -> bytes:
        watch = Watch(Deadlines(), None, now())
        return (await client.exchange("POST", url, data, watch, None)).body

    yield post
    client.close()


CLIENTS = {
    OWN: _direct,
    "aiohttp": _aiohttp,
    "httpx": _httpx,
    "httpx2": _httpx2,
    "niquests": _niquests,
    "pyreqwest": _pyreqwest,
    "aiosonic": _aiosonic,
}


async def loop(client: str, url: str, n: int, connections: int) -> None:
    async with CLIENTS[client](f"{url}/v1/chat/completions", connections) as post:
        numbers = iter(range(n))
        await asyncio.gather(*(_work(post, numbers) for _ in range(connections)))


async def _work(post: Post, numbers: Iterator[int]) -> None:
    for number in numbers:
        content = f"What is the code word of box {number}?"
        data = {
            "model": "fake",
            "messages": [{"role": "user", "content": content}],
            "max_tokens": 16,
            "temperature": 0.0,
        }
        reply = orjson.loads(await post(orjson.dumps(data)))
        assert reply["choices"][0]["message"]["content"].endswith(f"{number}.")


if __name__ == "__main__":
    uvloop.run(loop(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
