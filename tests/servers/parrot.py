"""A server that repeats whatever secret it is sent, in every way that it knows.

It answers questions about code words with `The code word is alphaN.` and the secrets of the
request, fails with them, redirects to them, and tells them on every page. It is a proxy too:
a request for another host is answered as if it were that host.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aiohttp import web

from tests.servers.fake import FakeServer, Script, Server
from tests.servers.manners import obey

STEPS = ("answer", "bad", "html", "error-200", "redirect", "late", "cut", "deny")


class Parrot(Server):
    """`secrets` are those that the test sends; `heard` are those that came."""

    def __init__(self, secrets: Collection[str], steps: Sequence[str] = STEPS) -> None:
        super().__init__(Script())
        self._known = secrets
        self._steps = steps
        self.heard: set[str] = set()
        self.seen_in_arguments: set[str] = set()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{page:.*}", self.repeat)
        app.on_shutdown.append(self._leave)
        return app

    async def repeat(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        found = sorted(self._secrets(request, body))
        if set(found) - self.heard:
            self.heard.update(found)
            self.seen_in_arguments.update(secret for secret in found if _in_arguments(secret))
        if request.method == "GET":
            return self._page(request, found)
        try:
            asked = json.loads(body)
        except ValueError:
            return self._step("bad", 0, found, {})
        if "messages" not in asked:
            return self._page(request, found)
        prompt = asked["messages"][-1]["content"]
        self.log.append({"prompt": prompt})
        number = int(found_number[0]) if (found_number := re.findall(r"\d+", prompt)) else 0
        step = self._steps[number % len(self._steps)]
        if asked.get("stream") and step in ("answer", "error-200"):
            return await _stream(request, list(_parts(step, number, found)))
        return self._step(step, number, found, asked)

    def _secrets(self, request: web.Request, body: bytes) -> Iterator[str]:
        said = [*request.headers.values(), str(request.url), body.decode()]
        for value in request.headers.values():
            scheme, _, token = value.partition(" ")
            if scheme == "Basic":
                said.append(base64.b64decode(token).decode())
        for secret in self._known:
            if any(secret in text for text in said):
                yield secret

    def _page(self, request: web.Request, found: list[str]) -> web.StreamResponse:
        told = " ".join(found)
        if request.path.endswith("/models"):
            entry = {"id": "fake", "root": told, "owned_by": told, "object": "model"}
            return web.json_response({"data": [entry, {"id": told}]})
        if request.path.endswith("/version"):
            return web.json_response({"version": f"1 {told}"})
        return web.json_response({"detail": told, "model_ftype": told}, status=200)

    def _step(
        self, step: str, number: int, found: list[str], asked: dict[str, Any]
    ) -> web.StreamResponse:
        told = " ".join(form for secret in found for form in forms(secret))
        match step:
            case "bad":
                return web.json_response({"error": {"message": f"wrong: {told}"}}, status=400)
            case "html":
                page = f"<html><body>{html.escape(told)}</body></html>"
                return web.Response(text=page, status=500, content_type="text/html")
            case "error-200":
                return web.json_response({"error": {"message": "x" * 290 + told}})
            case "redirect":
                headers = {"Location": f"http://127.0.0.1:9/?k={quote(found[0] if found else '')}"}
                return web.Response(text=told, status=307, headers=headers)
            case "late":
                return web.Response(text=told, status=429, headers={"Retry-After": "0"})
            case "cut":
                return web.Response(text="{" + told, content_type="application/json")
            case "deny":
                body = {"error": {"message": f"Incorrect API key provided: {told}"}}
                return web.json_response(body, status=422)
        content, finish = _answer(number, found), "stop"
        quiz = "code word" in asked["messages"][-1]["content"]
        if not quiz:
            # To the preflight it is a server like any other; half a secret is none to mask.
            content, finish, _ = obey(content, asked)
        message = {"role": "assistant", "content": content, "reasoning_content": " ".join(found)}
        ended = told if quiz and number % 2 == 0 else finish
        choice = {"message": message, "finish_reason": ended}
        return web.json_response({"model": told, "choices": [choice]})


def _answer(number: int, found: list[str]) -> str:
    return f"The code word is alpha{number}. " + " ".join(answered(found))


def _parts(step: str, number: int, found: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a stream, which cut every secret in pieces."""
    if step == "error-200":
        yield {"error": {"message": "x" * 280 + " ".join(found)}}
        return
    for name, text in (("content", _answer(number, found)), ("reasoning", " ".join(found))):
        for i in range(0, len(text), 5):
            yield {"choices": [{"index": 0, "delta": {name: text[i : i + 5]}}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


async def _stream(request: web.Request, parts: list[dict[str, Any]]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    events = "".join(f"data: {json.dumps(part)}\n\n" for part in parts)
    await response.write(f"{events}data: [DONE]\n\n".encode())
    return response


def forms(secret: str) -> Iterator[str]:
    """Yield what an error may hold of a secret."""
    yield from answered([secret])
    yield "".join(f"%{byte:02X}" for byte in secret.encode())
    yield "".join(f"\\u{ord(character):04x}" for character in secret)
    yield secret[:10]
    yield secret[-9:]


def answered(secrets: list[str]) -> Iterator[str]:
    """Yield what an answer may hold of secrets."""
    for secret in secrets:
        yield secret
        yield quote(secret, safe="")
        yield secret.encode().hex()
        yield secret[:-3]
        yield secret[4:]
        for before in ("", "u", "me", "user:"):
            yield base64.b64encode(f"{before}{secret}".encode()).decode()


def leaks(text: str, secrets: set[str], *, least: int = 15) -> list[str]:
    """Return what a text holds of secrets: parts of so many characters, and encodings."""
    readings = [text, re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)]
    found = []
    for secret in secrets:
        windows = [secret[i : i + least] for i in range(max(1, len(secret) - least + 1))]
        coded = [secret.encode().hex(), quote(secret, safe="")]
        for before in range(3):
            whole = base64.b64encode(b"x" * before + secret.encode() + b"xx").decode()
            coded += [whole[i : i + 16] for i in range(4, len(whole) - 24)]
        parts = [*windows, *coded]
        found += [part for reading in readings for part in parts if part in reading]
    return found


def _in_arguments(secret: str) -> bool:
    """Whether any process was started with a secret among its words."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if secret.encode() in words:
            return True
    return False


def told(folder: Path, *more: str) -> dict[str, str]:
    """Return every text that a command left: files by name, and what is given."""
    files = {
        str(path.relative_to(folder)): path.read_text("utf-8", "replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return files | {f"output {number}": text for number, text in enumerate(more)}


class ParrotServer(FakeServer):
    """The parrot in a thread of this process."""

    def __init__(self, parrot: Parrot) -> None:
        super().__init__()
        self.server = self.parrot = parrot
