"""A hub of data sets on the loopback address, for the hub's own client (`HF_ENDPOINT`).

It serves folders as data sets at one commit each, and counts what it was asked.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Hub:
    """What is served, and where.

    Attributes:
        sets: From `ORG/NAME` to the commits, the newest last, each with its folder.
        asked: Paths of all requests.
    """

    sets: Mapping[str, Mapping[str, Path]]
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def commit(self, repo: str, revision: str) -> str | None:
        commits = self.sets.get(repo, {})
        return (
            [*commits][-1]
            if revision == "main" and commits
            else (revision in commits or None) and revision
        )


@contextmanager
def serve_hub(sets: Mapping[str, Mapping[str, Path]]) -> Iterator[Hub]:
    hub = Hub(sets)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET(body)

        def do_GET(self, body: bytes = b"") -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(path)
            parts = path.strip("/").split("/")
            if parts[:2] == ["api", "datasets"] and len(parts) >= 4:
                self.api("/".join(parts[2:4]), parts[4:], body)
            elif parts[0] == "datasets" and len(parts) > 5 and parts[3] == "resolve":
                self.file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
            else:
                self.reply(404, b"{}")

        def api(self, repo: str, rest: list[str], body: bytes) -> None:
            revision = rest[1] if len(rest) > 1 else "main"
            commit = hub.commit(repo, revision)
            if commit is None:
                known = repo in hub.sets
                self.reply(
                    404, b"{}", {"X-Error-Code": "RevisionNotFound" if known else "RepoNotFound"}
                )
                return
            folder = hub.sets[repo][commit]
            if rest[:1] == ["tree"]:
                under = folder / "/".join(rest[2:])
                self.json([self.entry(folder, p) for p in sorted(under.rglob("*"))])
            elif rest[:1] == ["paths-info"]:
                asked = json.loads(body)["paths"] if body.startswith(b"{") else []
                self.json([self.entry(folder, folder / p) for p in asked if (folder / p).exists()])
            else:
                files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
                siblings = [{"rfilename": str(p.relative_to(folder))} for p in files]
                self.json(
                    {
                        "id": repo,
                        "sha": commit,
                        "private": False,
                        "gated": False,
                        "downloads": 0,
                        "likes": 0,
                        "tags": [],
                        "siblings": siblings,
                    }
                )

        def entry(self, folder: Path, path: Path) -> dict[str, object]:
            name = str(path.relative_to(folder))
            if path.is_dir():
                return {"type": "directory", "path": name, "oid": "0" * 40, "size": 0}
            return {"type": "file", "path": name, "oid": _etag(path), "size": path.stat().st_size}

        def file(self, repo: str, revision: str, name: str) -> None:
            commit = hub.commit(repo, revision)
            path = None if commit is None else hub.sets[repo][commit] / name
            if path is None or not path.is_file():
                self.reply(404, b"", {"X-Error-Code": "EntryNotFound"})
                return
            self.reply(
                200, path.read_bytes(), {"ETag": f'"{_etag(path)}"', "X-Repo-Commit": str(commit)}
            )

        def json(self, value: object) -> None:
            self.reply(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

        def reply(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()


def _etag(path: Path) -> str:
    return hashlib.sha1(path.read_bytes()).hexdigest()
