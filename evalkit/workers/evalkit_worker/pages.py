"""The pages: OpenAI's completions, and what tells who answers."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evalkit_worker.batches import Answer, Engine, Place, Refused, Waves
from evalkit_worker.prompts import Prompts, read_messages

_HOST = "127.0.0.1"
_MOST_BYTES = 64 << 20


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # As many connections may come at once as evalkit opens.
    request_queue_size = 1024


class Pages:
    """What each page says."""

    def __init__(self, engine: Engine, waves: Waves, name: str) -> None:
        """Serve an engine under a name."""
        self._engine = engine
        self._waves = waves
        self._name = name
        self._prompts = Prompts(engine.tokenizer, engine.context)

    def get(self, path: str) -> dict[str, Any]:
        """Return a page that is only read.

        Raises:
            Refused: When there is none.
        """
        engine = self._engine
        if path == "/health":
            return {"status": "ok"}
        if path == "/version":
            return {"version": engine.version}
        if path == "/props":
            return {"chat_template": self._prompts.template}
        if path == "/v1/models":
            entry = {
                "id": self._name,
                "object": "model",
                "owned_by": engine.kind,
                "root": engine.root,
                "max_model_len": engine.context,
                "meta": engine.facts,
            }
            return {"object": "list", "data": [entry]}
        raise Refused("There is no such page", 404)

    def post(self, path: str, body: Any, gone: Callable[[], bool]) -> dict[str, Any]:
        """Answer a request.

        Raises:
            Refused: When it cannot be answered.
        """
        if not isinstance(body, Mapping):
            raise Refused("The body must be an object")
        if path == "/tokenize":
            return self._tokenize(body)
        if path not in ("/v1/chat/completions", "/v1/completions"):
            raise Refused("There is no such page", 404)
        if body.get("model") != self._name:
            raise Refused(f"The model {str(body.get('model'))[:80]!r} does not exist", 404)
        chat = path == "/v1/chat/completions"
        job = self._prompts.job(body, chat=chat)
        job.gone = gone
        self._waves.put(job)
        job.done.wait()
        if not isinstance(job.answer, Answer):
            raise job.answer or Refused("There is no answer", 500)
        return self._completion(job.answer, chat=chat)

    def _tokenize(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if "messages" in body:
            ids = self._prompts.rendered(read_messages(body["messages"]), {})
        elif isinstance(body.get("prompt"), str):
            special = bool(body.get("add_special_tokens", True))
            ids = self._prompts.tokens(body["prompt"], special=special)
        else:
            raise Refused("prompt or messages is missing")
        return {"tokens": list(ids), "count": len(ids), "max_model_len": self._engine.context}

    def _completion(self, answer: Answer, *, chat: bool) -> dict[str, Any]:
        content: dict[str, Any] = {"text": answer.text}
        if chat:
            content = {"message": {"role": "assistant", "content": answer.text}}
        told = None if answer.places is None else {"content": [_told(p) for p in answer.places]}
        return {
            "id": "evalkit-worker",
            "object": "chat.completion" if chat else "text_completion",
            "created": int(time.time()),
            "model": self._name,
            "choices": [
                {"index": 0, **content, "finish_reason": answer.finish_reason, "logprobs": told}
            ],
            "usage": {
                "prompt_tokens": answer.prompt_tokens,
                "completion_tokens": answer.completion_tokens,
                "total_tokens": answer.prompt_tokens + answer.completion_tokens,
            },
        }


def _told(place: Place) -> dict[str, Any]:
    top = [{"token": token, "logprob": logprob} for token, logprob in place.top]
    return {"token": place.token, "logprob": place.logprob, "top_logprobs": top}


def serve(engine: Engine, waves: Waves, name: str, port: int) -> ThreadingHTTPServer:
    """Listen on the loopback address, in threads; 0 lets the system choose the port."""
    server = _Server((_HOST, port), _handler(Pages(engine, waves, name)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _handler(pages: Pages) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        # Head and body leave in one piece.
        wbufsize = 1 << 16

        def do_GET(self) -> None:
            self._say(lambda: pages.get(self.path))

        def do_POST(self) -> None:
            self._say(lambda: pages.post(self.path, self._body(), self._gone))

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: requests are in the journal."""

        def _say(self, act: Callable[[], dict[str, Any]]) -> None:
            try:
                status, told = 200, act()
            except Refused as refused:
                kind = "NotFoundError" if refused.status == 404 else "BadRequestError"
                said = f"{str(refused).rstrip('.')}."
                told = {"error": {"message": said, "type": kind, "code": refused.status}}
                status = refused.status
            data = json.dumps(told).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

        def _body(self) -> Any:
            try:
                length = int(self.headers.get("Content-Length", ""))
            except ValueError:
                self.close_connection = True
                raise Refused("The length of the body is not told", 411) from None
            if not 0 <= length <= _MOST_BYTES:
                self.close_connection = True
                raise Refused("The body is too long", 413)
            try:
                return json.loads(self.rfile.read(length))
            except (ValueError, RecursionError):
                raise Refused("The body is not JSON") from None

        def _gone(self) -> bool:
            try:
                readable, _, _ = select.select([self.connection], [], [], 0)
                return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
            except (OSError, ValueError):
                return True

    return Handler
