"""A comparison folder in a browser of this machine, where reviewers mark what is wrong.

Served on the loopback interface alone, under a path that nobody guesses. The name that the
browser asks for is checked too, so that no page elsewhere can reach it by a name that it
points here (DNS rebinding), and a mark is taken from the served page only.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import orjson

from evalkit.errors import EvalKitError, UsageError
from evalkit.stages.marks import add_mark, read_marks

LOOPBACK: Final = "127.0.0.1"
FILES: Final = {
    "comparison.json": "application/json",
    "review.jsonl": "application/jsonl",
    "report.md": "text/markdown",
    "junit.xml": "application/xml",
}
_LARGEST_MARK: Final = 32_768
_SAFE: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Viewed:
    """What is served.

    Attributes:
        folder: Of the comparison.
        page: Makes the report as it stands now.
        complete: Adds to a mark what the server knows: the hash of the answer it is about.
    """

    folder: Path
    page: Callable[[], bytes]
    complete: Callable[[Mapping[str, Any]], Mapping[str, Any]]


class ViewServer(ThreadingHTTPServer):
    """Serves one folder until it is shut down."""

    daemon_threads = True

    def __init__(self, viewed: Viewed, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.viewed = viewed
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """Where the report is."""
        return f"http://{self.host}/{self.token}/"

    @property
    def host(self) -> str:
        """The only name that is answered to."""
        return f"{LOOPBACK}:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that left before it had its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    server_version = "evalkit"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the report, the marks, or a file of the folder."""
        name = self._asked()
        if name == "":
            self._answer(HTTPStatus.OK, "text/html", self.server.viewed.page)
        elif name == "marks":
            self._answer(HTTPStatus.OK, "application/json", self._marks)
        elif name in FILES and (self.server.viewed.folder / name).is_file():
            path = self.server.viewed.folder / name
            self._answer(HTTPStatus.OK, FILES[name], path.read_bytes)
        elif name is not None:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")

    def do_POST(self) -> None:
        """Take one mark."""
        name = self._asked()
        if name is None:
            return
        if name != "marks":
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")
        elif self.headers.get("Origin") != f"http://{self.server.host}":
            self._refuse(HTTPStatus.FORBIDDEN, "Marks are made in the served page.")
        else:
            said = self._body()
            if said is not None:
                self._answer(HTTPStatus.CREATED, "application/json", lambda: self._added(said))

    def _asked(self) -> str | None:
        """Return what is asked for below the token; answers itself when nothing may be seen."""
        if self.headers.get("Host") != self.server.host:
            self._refuse(HTTPStatus.FORBIDDEN, "This server has another name.")
            return None
        path = self.path.partition("?")[0]
        token, slash, name = path.removeprefix("/").partition("/")
        if not slash or not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")
            return None
        return name

    def _body(self) -> Mapping[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        # Python refuses to read numbers of thousands of digits.
        if not length.isdecimal() or len(length) > 9 or int(length) > _LARGEST_MARK:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A mark is a few lines.")
            return None
        try:
            said = orjson.loads(self.rfile.read(int(length)))
        except orjson.JSONDecodeError:
            said = None
        if not isinstance(said, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "A mark is a JSON object.")
            return None
        return said

    def _marks(self) -> bytes:
        return orjson.dumps([asdict(mark) for mark in read_marks(self.server.viewed.folder)])

    def _added(self, said: Mapping[str, Any]) -> bytes:
        viewed = self.server.viewed
        return orjson.dumps(asdict(add_mark(viewed.folder, viewed.complete(said))))

    def _answer(self, status: HTTPStatus, kind: str, make: Callable[[], bytes]) -> None:
        try:
            body = make()
        except UsageError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, error.message)
        except EvalKitError as error:
            self._refuse(HTTPStatus.CONFLICT, f"{error.message} {error.hint or ''}".strip())
        except OSError as error:
            self._refuse(HTTPStatus.CONFLICT, f"A file cannot be read: {error.strerror}.")
        else:
            self._send(status, kind, body)

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        # What was not read would be taken for the next request.
        self.close_connection = True
        self._send(status, "application/json", orjson.dumps({"error": message}))

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in _SAFE.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the path holds the token."""
