"""A fault-injecting OpenAI-compatible server on a real socket.

In a test: `with FakeServer(Script(...)) as server: server.url`. As a program:
`python -m tests.servers.fake --port 0 [--script FILE] [--log FILE]` prints its URL.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from tests.servers.faults import BODIES, KINDS, MAKERS, STATUSES, Scene, retry_after
from tests.servers.manners import obey

__all__ = ["KINDS", "FakeServer", "Fault", "Script"]


@dataclass(frozen=True)
class Fault:
    """Goes wrong for prompts that contain `match`: one of KINDS, `leak` (repeats the key)
    or `quote-STATUS` (repeats the prompt).

    `times` is how many tries of each prompt are hit (`None`: all of them), `rate` is the
    share of prompts that are hit at all, chosen by their hash and so always the same.
    `seconds` belong to the slow kinds; `retry_after` may be `date+3`. `burst` hits only the
    first so many requests of all, `after` spares them, and `busy` hits only while more than
    so many are in flight.
    """

    kind: str
    match: str = ""
    times: int | None = None
    rate: float = 1.0
    retry_after: str | None = None
    seconds: float = 0.0
    burst: int | None = None
    after: int = 0
    busy: int | None = None

    def hits(self, prompt: str, tries_before: int, seen: int = 0, in_flight: int = 1) -> bool:
        if seen < self.after or (self.burst is not None and seen >= self.burst):
            return False
        if self.busy is not None and in_flight <= self.busy:
            return False
        if self.match not in prompt or (self.times is not None and tries_before >= self.times):
            return False
        mark = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF
        return mark <= self.rate


@dataclass(frozen=True)
class Script:
    """What the server answers: by the prompt, else `echo: <prompt>`.

    `refuses` maps fields that it does not take to what it says; a `fragile` server never
    answers again once it got a body that is no JSON; once `after` prompts with `mark` came,
    it follows `later`, as if another server had taken its place.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    delay: float = 0.0
    models: tuple[str, ...] | None = ("fake",)
    key: str | None = None
    pages: Mapping[str, Any] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)
    fragile: bool = False
    later: Script | None = None
    after: int = 0
    mark: str = "code word"

    @classmethod
    def read(cls, path: Path) -> Script:
        data = json.loads(path.read_text("utf-8"))
        data["faults"] = tuple(Fault(**fault) for fault in data.get("faults", ()))
        return cls(**data)

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps(asdict(self)), "utf-8")
        return path


class Server:
    """The handlers. `log` holds every chat request; `requests` counts all."""

    def __init__(self, script: Script, log_path: Path | None = None) -> None:
        self.script = script
        self.log: list[dict[str, Any]] = []
        self.in_flight = self.most_in_flight = 0
        self.requests = 0
        self.ports: set[int] = set()
        self._tries: Counter[str] = Counter()
        self._log_path = log_path
        self._marked = 0
        self._dead = False
        self._leaving = asyncio.Event()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/{page:.*}", self.page)
        app.on_shutdown.append(self._leave)
        return app

    async def _leave(self, _app: web.Application) -> None:
        self._leaving.set()

    async def page(self, request: web.Request) -> web.Response:
        self.requests += 1
        if self._refused(request):
            return web.json_response({"error": {"message": "wrong key"}}, status=401)
        if request.path in self.script.pages:
            return web.json_response(self.script.pages[request.path])
        if request.path == "/v1/models" and self.script.models is not None:
            entries = [{"id": name, "object": "model", "created": 1} for name in self.script.models]
            return web.json_response({"object": "list", "data": entries})
        return web.json_response({"detail": "Not Found"}, status=404)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        self.in_flight += 1
        if request.transport is not None:
            self.ports.add(request.transport.get_extra_info("peername")[1])
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._chat(request)
        finally:
            self.in_flight -= 1

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        try:
            body = await request.json()
        except ValueError:
            self._dead = self.script.fragile
            return web.json_response({"error": {"message": "no JSON"}}, status=400)
        prompt = body["messages"][-1]["content"]
        tries, self._tries[prompt] = self._tries[prompt], self._tries[prompt] + 1
        self._write({"prompt": prompt, "try": tries + 1, "body": body}, request)
        self._marked += self.script.mark in prompt
        if self.script.later is not None and self._marked > self.script.after:
            self.script = self.script.later
        if self._dead and request.transport is not None:
            request.transport.abort()
        for name in self.script.refuses.keys() & body.keys():
            said = {"error": {"message": self.script.refuses[name]}}
            return web.json_response(said, status=400)
        if self._refused(request):
            return web.json_response({"error": {"message": "wrong key"}}, status=401)
        scene = self._scene(request, prompt, body)
        seen = len(self.log) - 1, self.in_flight
        fault = next((one for one in self.script.faults if one.hits(prompt, tries, *seen)), None)
        if self.script.delay and (fault is None or fault.busy is None):
            await asyncio.sleep(self.script.delay)
        if fault is not None:
            scene.seconds = fault.seconds
            return await self._fail(fault, scene)
        if not scene.streamed:
            return web.json_response(scene.answer)
        response = await scene.begin()
        await response.write(scene.body)
        return response

    def _scene(self, request: web.Request, prompt: str, body: Mapping[str, Any]) -> Scene:
        options = body.get("stream_options") or {}
        return Scene(
            request,
            self._answer(prompt, body),
            streamed=bool(body.get("stream")),
            usage=bool(options.get("include_usage")),
            seconds=0.0,
            leaving=self._leaving,
        )

    def _refused(self, request: web.Request) -> bool:
        key = self.script.key
        return key is not None and request.headers.get("Authorization") != f"Bearer {key}"

    def _write(self, entry: dict[str, Any], request: web.Request) -> None:
        at = asyncio.get_running_loop().time()
        self.log.append({**entry, "at": at, "headers": dict(request.headers)})
        if self._log_path is not None:
            with self._log_path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def _answer(self, prompt: str, body: Mapping[str, Any]) -> dict[str, Any]:
        text = self.script.answers.get(prompt, f"echo: {prompt}")
        text, finish, tokens = obey(text, body)
        message = {"role": "assistant", "content": text, **self.script.message}
        return {
            "id": "x",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": len(prompt.split()),
                "completion_tokens": tokens,
            },
        }

    async def _fail(self, fault: Fault, scene: Scene) -> web.StreamResponse:
        if fault.kind == "leak":
            said = f"bad key {scene.request.headers.get('Authorization')}"
            return web.json_response({"error": {"message": said}}, status=400)
        kind, _, status_text = fault.kind.partition("-")
        if kind == "quote":
            said = (await scene.request.json())["messages"][-1]["content"]
            error = {"error": {"message": f"I do not like: {said}"}}
            return web.json_response(error, status=int(status_text))
        headers = {"Retry-After": retry_after(fault.retry_after)} if fault.retry_after else {}
        if fault.kind in STATUSES:
            status, text = STATUSES[fault.kind]
            error = {"error": {"message": text, "code": status}}
            return web.json_response(error, status=status, headers=headers)
        if fault.kind in BODIES:
            return web.json_response(BODIES[fault.kind])
        return await MAKERS[fault.kind](scene)


class FakeServer:
    """The server in a thread of this process, on a free port."""

    def __init__(
        self, script: Script | None = None, port: int = 0, server: Server | None = None
    ) -> None:
        self.server = server or Server(script or Script())
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every chat request so far."""
        return self.server.log

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner, self.url = self._loop.run_until_complete(start(self.server, self._port))
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


async def start(server: Server, port: int) -> tuple[web.AppRunner, str]:
    """Start serving on 127.0.0.1."""
    runner = web.AppRunner(server.app(), shutdown_timeout=0.5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, bound = runner.addresses[0][:2]
    return runner, f"http://{host}:{bound}"


async def _serve(script: Script, port: int, log_path: Path | None) -> None:
    _, url = await start(Server(script, log_path), port)
    print(url, flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    parser.add_argument("--log", type=Path)
    arguments = parser.parse_args()
    script = Script.read(arguments.script) if arguments.script else Script()
    asyncio.run(_serve(script, arguments.port, arguments.log))


if __name__ == "__main__":
    main()
