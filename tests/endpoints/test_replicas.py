"""Several servers behind one name, on real sockets; the clock alone is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from evalkit.collect.events import Limits
from evalkit.collect.journal import RunFolder
from evalkit.collect.preflight import compare_identities
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.openai import OpenAIEndpoint, openai_endpoint
from evalkit.endpoints.replicas import ReplicatedEndpoint
from evalkit.errors import (
    AuthError,
    ConfigError,
    ConnectError,
    EndpointError,
    NotFoundError,
    ServerError,
)
from evalkit.fingerprint import identity_key
from evalkit.types import Identity, Message, Sampling
from tests.collect.builders import Collected, requests
from tests.servers.embedded import needs_model, served
from tests.servers.fake import FakeServer, Fault, Script

SAMPLING = Sampling(max_tokens=8)
OPTIONS = EndpointOptions(connect_timeout=2.0, request_timeout=5.0)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def raw(urls: Sequence[str], **more: Any) -> dict[str, Any]:
    return {"kind": "openai", "base_url": list(urls), "model": "fake", **more}


def run(
    urls: Sequence[str],
    act: Callable[[ReplicatedEndpoint], Any],
    *,
    clock: Clock | None = None,
    options: EndpointOptions = OPTIONS,
    **more: Any,
) -> Any:
    async def go() -> Any:
        endpoint = openai_endpoint("pool", raw(urls, **more), options)
        assert isinstance(endpoint, ReplicatedEndpoint)
        if clock is not None:
            endpoint._clock = clock
        async with endpoint:
            return await act(endpoint)

    return asyncio.run(go())


async def say(endpoint: ReplicatedEndpoint, prompt: str = "hi") -> str | None:
    return (await endpoint.send((Message("user", prompt),), SAMPLING)).text


async def many(endpoint: ReplicatedEndpoint, count: int) -> None:
    await asyncio.gather(*(say(endpoint, f"{number}") for number in range(count)))


def vllm(version: str = "1", root: str = "org/model") -> Script:
    entry = {"id": "fake", "owned_by": "vllm", "root": root, "max_model_len": 64}
    return Script(pages={"/v1/models": {"data": [entry]}, "/version": {"version": version}})


def closed_port() -> str:
    with FakeServer() as server:
        return server.url


def test_requests_go_to_the_server_with_the_fewest_in_flight() -> None:
    async def act(endpoint: ReplicatedEndpoint) -> None:
        await endpoint.identity()
        await many(endpoint, 12)

    with FakeServer(Script(delay=0.4)) as slow, FakeServer() as quick:
        run([slow.url, quick.url], act)
        assert len(slow.log) + len(quick.log) == 12
        assert len(slow.log) == len(quick.log) == 6, "a burst is shared out"

        async def one_by_one(endpoint: ReplicatedEndpoint) -> None:
            await endpoint.identity()
            pending = asyncio.ensure_future(say(endpoint, "a"))
            await asyncio.sleep(0.05)
            for _ in range(3):
                await say(endpoint, "b")
            await pending

        before = len(slow.log), len(quick.log)
        run([slow.url, quick.url], one_by_one)
        assert (len(slow.log) - before[0], len(quick.log) - before[1]) == (1, 3)


def test_a_server_that_is_down_is_survived(tmp_path: Path) -> None:
    told: list[str] = []
    options = EndpointOptions(log_path=tmp_path / "log.txt", notify=told.append)

    async def act(endpoint: ReplicatedEndpoint) -> None:
        await endpoint.identity()
        await many(endpoint, 6)

    down = closed_port()
    with FakeServer() as up:
        run([down, up.url], act, options=options)
        assert len(up.log) == 6
    assert told == [
        f"pool: answers by server: {down}/v1 0, {up.url}/v1 6",
    ]
    log = (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert f"{down}/v1: 0 answered, 0 failed, 1 times out\n" in log


def test_it_comes_back_with_one_request_first() -> None:
    clock = Clock()

    async def act(endpoint: ReplicatedEndpoint) -> None:
        await endpoint.identity()
        with pytest.raises(ServerError):
            await many(endpoint, 2)
        other.server.script = Script()
        await many(endpoint, 4)
        assert len(other.log) == 1, "it is left out"
        clock.now += 1.1
        other.server.script = Script(delay=0.3)
        trying = asyncio.ensure_future(many(endpoint, 4))
        await asyncio.sleep(0.1)
        await many(endpoint, 4)
        await trying
        assert len(other.log) == 2, "one request tries it, until it is answered"
        other.server.script = Script()
        await many(endpoint, 4)
        assert len(other.log) == 4, "then it has its share again"

    with FakeServer() as steady, FakeServer(Script(faults=(Fault("503"),))) as other:
        run([steady.url, other.url], act, clock=clock)


def test_each_time_it_is_left_out_for_longer() -> None:
    clock = Clock()
    seen = []

    async def act(endpoint: ReplicatedEndpoint) -> None:
        await endpoint.identity()
        for _ in range(8):
            for wait in range(1, 200):
                clock.now += 1
                before = len(other.log)
                for result in await asyncio.gather(
                    say(endpoint), say(endpoint), return_exceptions=True
                ):
                    assert result == "echo: hi" or isinstance(result, ServerError)
                if len(other.log) > before:
                    seen.append(wait)
                    break

    with FakeServer() as steady, FakeServer(Script(faults=(Fault("503"),))) as other:
        run([steady.url, other.url], act, clock=clock)
    assert seen == [1, 1, 2, 4, 8, 16, 32, 60]


def test_a_burst_that_fails_together_counts_once() -> None:
    clock = Clock()

    async def act(endpoint: ReplicatedEndpoint) -> None:
        await endpoint.identity()
        results = await asyncio.gather(
            *(say(endpoint, f"{n}") for n in range(16)), return_exceptions=True
        )
        assert sum(isinstance(one, ServerError) for one in results) == 8
        clock.now += 1.1
        other.server.script = Script()
        await many(endpoint, 2)
        assert len(other.log) == 9

    with FakeServer() as steady, FakeServer(Script(faults=(Fault("503"),))) as other:
        run([steady.url, other.url], act, clock=clock)


@pytest.mark.parametrize("kind", ["400", "429", "500"])
def test_what_one_request_meets_is_not_held_against_the_server(kind: str) -> None:
    async def act(endpoint: ReplicatedEndpoint) -> None:
        await endpoint.identity()
        for _ in range(2):
            with pytest.raises(EndpointError):
                await say(endpoint, "poison")
        await many(endpoint, 8)

    script = Script(faults=(Fault(kind, match="poison"),))
    with FakeServer(script) as a, FakeServer(script) as b:
        run([a.url, b.url], act)
        assert len(a.log) == len(b.log) == 5


def test_all_down_is_an_outage() -> None:
    urls = [closed_port(), closed_port()]
    with pytest.raises(ConnectError, match="cannot be reached"):
        run(urls, lambda endpoint: endpoint.identity())
    with pytest.raises(ConnectError, match="cannot be reached"):
        run(urls, say)


def test_a_refusal_by_one_is_a_refusal() -> None:
    with (
        FakeServer() as open_,
        FakeServer(Script(key="k")) as locked,
        pytest.raises(AuthError, match=locked.url),
    ):
        run([open_.url, locked.url], lambda endpoint: endpoint.identity())


class TestIdentity:
    def test_it_depends_neither_on_the_order_nor_on_who_is_up(self) -> None:
        found: list[Identity] = []
        with FakeServer(vllm()) as a, FakeServer(vllm()) as b:
            urls = [a.url, b.url]
            for order in (urls, urls[::-1]):
                found.append(run(order, lambda endpoint: endpoint.identity()))
        with FakeServer(vllm()) as again:
            down = urls[0] if again.url != urls[0] else urls[1]
            both = sorted([down, again.url])
            found_down = run(both, lambda endpoint: endpoint.identity())
        assert found[0] == found[1]
        assert found[0].base_url == " ".join(sorted(f"{url}/v1" for url in urls))
        assert found_down.base_url == " ".join(f"{url}/v1" for url in both)
        keys = [dict(identity_key(one)) for one in (found[0], found_down)]
        for key in keys:
            del key["base_url"]
        assert keys[0] == keys[1]

    @pytest.mark.parametrize(
        ("other", "named"),
        [
            (vllm("2"), "engine_version is '1' at"),
            (vllm(root="org/model-AWQ"), "root is 'org/model' at"),
        ],
    )
    def test_two_that_differ_are_refused_by_name(self, other: Script, named: str) -> None:
        with FakeServer(vllm()) as a, FakeServer(other) as b:
            with pytest.raises(EndpointError, match=named) as caught:
                run([a.url, b.url], lambda endpoint: endpoint.identity())
            assert a.url in str(caught.value)
            assert b.url in str(caught.value)

    def test_one_that_comes_back_as_something_else_answers_nothing(self) -> None:
        told: list[str] = []
        options = EndpointOptions(notify=told.append)
        clock = Clock()

        async def act(endpoint: ReplicatedEndpoint) -> None:
            await endpoint.identity()
            with pytest.raises(ServerError):
                await many(endpoint, 2)
            other.server.script = vllm("2")
            asked = len(other.log)
            clock.now += 10
            with pytest.raises(ConnectError, match="engine_version '1' → '2'"):
                await many(endpoint, 2)
            clock.now += 100
            await many(endpoint, 6)
            assert len(other.log) == asked

        failing = Script(pages=vllm().pages, faults=(Fault("503"),))
        with FakeServer(vllm()) as steady, FakeServer(failing) as other:
            run([steady.url, other.url], act, clock=clock, options=options)
            assert "left out" in told[0]

    def test_when_all_are_something_else_the_run_stops(self) -> None:
        clock = Clock()

        async def act(endpoint: ReplicatedEndpoint) -> None:
            await endpoint.identity()
            for server in (a, b):
                server.server.script = Script(pages=vllm().pages, faults=(Fault("503"),))
            for _ in range(2):
                with pytest.raises(ServerError):
                    await say(endpoint)
            for server in (a, b):
                server.server.script = vllm("2")
            clock.now += 10
            for _ in range(2):
                with pytest.raises(ConnectError, match="something else"):
                    await say(endpoint)
            with pytest.raises(NotFoundError, match="No server of endpoint 'pool' is left"):
                await say(endpoint)

        with FakeServer(vllm()) as a, FakeServer(vllm()) as b:
            run([a.url, b.url], act, clock=clock)

    def test_two_arms_that_share_a_server_are_not_two(self) -> None:
        pool = Identity(kind="openai", model="m", base_url="http://a:1/v1 http://b:1/v1")
        one = Identity(kind="openai", model="m", base_url="http://b:1/v1")
        other = Identity(kind="openai", model="m", base_url="http://c:1/v1")
        assert compare_identities(pool, one)[0].status == "differs"
        assert compare_identities(pool, other)[0].status == "ok"


def test_labels_and_names_hold_no_password() -> None:
    endpoint = openai_endpoint("pool", raw(["http://u:hush@a:1", "http://b:2/v1"]), OPTIONS)
    assert endpoint.label == "fake at a:1, b:2"
    for text in (endpoint.label, repr(endpoint)):
        assert "hush" not in text
    many = openai_endpoint("pool", raw([f"http://h:{port}" for port in range(1, 9)]), OPTIONS)
    assert many.label == "fake at h:1, h:2, h:3 and 5 more"


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        ([], "a list of addresses"),
        (["http://h", 3], "addresses, as texts"),
        (["http://h", "ftp://h"], "must be http"),
        (["http://h:80", "http://h/v1/"], "same server twice"),
        ({"a": 1}, "a list of addresses"),
    ],
)
def test_lists_that_make_no_sense(urls: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_endpoint("pool", {"kind": "openai", "base_url": urls, "model": "m"}, OPTIONS)


def test_a_list_of_one_is_one_server() -> None:
    assert isinstance(openai_endpoint("one", raw(["http://h"]), OPTIONS), OpenAIEndpoint)


@pytest.mark.parametrize("fault", ["503", "reset"])
def test_a_run_is_complete_though_one_server_never_works(tmp_path: Path, fault: str) -> None:
    collected = Collected()
    asked = requests(40)
    with FakeServer(Script(faults=(Fault(fault),))) as broken, FakeServer() as steady:
        folder = RunFolder.create_or_open(tmp_path / "run")
        summary = collected.run([broken.url, steady.url], asked, folder)
    assert (summary.answered, summary.failed) == (40, 0)
    assert len(broken.log) < 10
    assert len({one.fingerprint for one in folder.completions() if one.error is None}) == 40


def test_a_run_in_which_every_server_dies_is_an_outage(tmp_path: Path) -> None:
    collected = Collected()
    dead = Script(faults=(Fault("503"),))
    with FakeServer(dead) as a, FakeServer(dead) as b:
        folder = RunFolder.create_or_open(tmp_path / "run")
        limits = Limits(max_attempts=2, give_up_after=3)
        with pytest.raises(EndpointError, match="seems to be down"):
            collected.run([a.url, b.url], requests(40), folder, limits=limits)


@needs_model
@pytest.mark.model
def test_two_real_servers_and_the_death_of_one() -> None:
    async def act(endpoint: ReplicatedEndpoint) -> set[str | None]:
        found = await endpoint.identity()
        assert found.quantization == "Q8_0"
        texts = {await say(endpoint, "Say one.") for _ in range(4)}
        stack.close()
        outcomes = []
        for _ in range(4):
            try:
                outcomes.append(await say(endpoint, "Say one."))
            except ConnectError:
                outcomes.append(None)
        assert outcomes.count(None) <= 1, "after one failure it is left out"
        return texts | set(outcomes) - {None}

    with ExitStack() as stack, served("q8", "--alias", "m") as steady:
        mortal = stack.enter_context(served("q8", "--alias", "m"))
        assert len(run([steady, mortal], act, options=EndpointOptions())) == 1


@needs_model
@pytest.mark.model
def test_two_real_quantizations_are_not_one_endpoint() -> None:
    with (
        served("q8", "--alias", "m") as a,
        served("q4", "--alias", "m") as b,
        pytest.raises(EndpointError, match="quantization is 'Q8_0' at"),
    ):
        run([a, b], lambda endpoint: endpoint.identity())
