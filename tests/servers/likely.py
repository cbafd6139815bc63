"""A language model of words that repeats prompts with log-probabilities, as vLLM does.

A word's probability is made of a hash of it and the word before, so that every client must
find the same. `/tokenize`, `/detokenize` and `/tokenizer_info` are vLLM's.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

_WORD = re.compile(r"\s*\S+|\s+\Z")


class WordModel:
    """Words are numbered as they are first seen."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._words: list[str] = []
        self._lock = threading.Lock()

    def encode(self, text: str) -> list[int]:
        with self._lock:
            for word in _WORD.findall(text):
                if word not in self._ids:
                    self._ids[word] = len(self._words)
                    self._words.append(word)
            return [self._ids[word] for word in _WORD.findall(text)]

    def decode(self, tokens: list[int]) -> list[str]:
        return [self._words[token] for token in tokens]

    def logprob(self, before: str, word: str) -> float:
        mark = hashlib.sha256(f"{before}|{word}".encode()).digest()
        return -mark[0] / 32 - 0.01

    def completion(self, tokens: list[int]) -> dict[str, Any]:
        words = [*self.decode(tokens), " end"]
        chosen: list[float | None] = [None]
        top: list[dict[str, float] | None] = [None]
        for before, word in pairwise(words):
            value = self.logprob(before, word)
            chosen.append(value)
            # Words of even rank are what greed would write.
            best = {word: value} if len(word) % 2 else {word: value, " best": value + 1}
            top.append(best)
        starts = [sum(map(len, words[:n])) for n in range(len(words))]
        logprobs = {
            "tokens": words,
            "token_logprobs": chosen,
            "top_logprobs": top,
            "text_offset": starts,
        }
        choice = {
            "index": 0,
            "text": "".join(words),
            "logprobs": logprobs,
            "finish_reason": "length",
        }
        return {"object": "text_completion", "model": "words", "choices": [choice]}


@contextmanager
def serve_words() -> Iterator[str]:
    """Serve a model of words, and yield the base of its URL."""
    model = WordModel()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/tokenizer_info":
                self.reply({"eos_token": None, "bos_token": None, "chat_template": ""})
            elif self.path == "/v1/models":
                self.reply({"data": [{"id": "words", "object": "model"}]})
            else:
                self.reply({"error": {"message": "no such page"}}, 404)

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                body = json.loads(data)
            except ValueError:
                self.reply({"error": {"message": "no JSON"}}, 400)
                return
            if body.get("model", "words") != "words":
                self.reply({"error": {"message": "no such model"}}, 404)
                return
            if self.path == "/tokenize":
                tokens = model.encode(body.get("prompt", ""))
                self.reply({"tokens": tokens, "count": len(tokens)})
            elif self.path == "/detokenize":
                self.reply({"prompt": "".join(model.decode(body["tokens"]))})
            elif self.path == "/v1/completions" and body.get("echo"):
                prompt = body["prompt"]
                prompt = (
                    prompt[0]
                    if isinstance(prompt, list) and not isinstance(prompt[0], int)
                    else prompt
                )
                tokens = model.encode(prompt) if isinstance(prompt, str) else prompt
                self.reply(model.completion(tokens))
            elif self.path in ("/v1/completions", "/v1/chat/completions"):
                message = {"role": "assistant", "content": "yes"}
                choice = {"index": 0, "text": "yes", "message": message, "finish_reason": "stop"}
                said = body.get("prompt") or "".join(m["content"] for m in body["messages"])
                usage = {"prompt_tokens": len(model.encode(said)), "completion_tokens": 1}
                self.reply({"model": "words", "choices": [choice], "usage": usage})
            else:
                self.reply({"error": {"message": "no such page"}}, 404)

        def reply(self, value: object, status: int = 200) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
