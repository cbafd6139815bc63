"""The server of a folder, asked as a browser, a stranger and another page would."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evalkit.stages.marks import REVIEW, read_marks
from evalkit.stages.viewing import Viewed, ViewServer
from tests.stages.test_marks import SCORE

SAID = {name: value for name, value in SCORE.items() if name != "answer_hash"}


@contextmanager
def serving(folder: Path) -> Iterator[ViewServer]:
    viewed = Viewed(
        folder, lambda: b"<!doctype html>here", lambda said: {**said, "answer_hash": "0" * 32}
    )
    with ViewServer(viewed) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    with serving(tmp_path) as made:
        yield made


def ask(
    server: ViewServer,
    method: str,
    name: str = "",
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    path: str | None = None,
) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.request(method, path or f"/{server.token}/{name}", data, dict(headers or {}))
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def post(server: ViewServer, body: Any, **headers: str) -> tuple[int, bytes]:
    said = {"Origin": f"http://{server.host}", "Content-Type": "application/json", **headers}
    return ask(server, "POST", "marks", body, said)[:2]


def test_report_and_files_lie_under_the_token(server: ViewServer, tmp_path: Path) -> None:
    status, body, headers = ask(server, "GET")
    assert (status, body) == (200, b"<!doctype html>here")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    (tmp_path / "report.md").write_text("# Report", encoding="utf-8")
    assert ask(server, "GET", "report.md")[:2] == (200, b"# Report")
    assert ask(server, "GET", "junit.xml")[0] == 404


@pytest.mark.parametrize(
    "path",
    ["/", "/marks", "/wrong/", "//", "/comparison.json", "/../", "http://127.0.0.1/", "/%C3%A9/"],
)
def test_without_the_token_nothing_is_seen(server: ViewServer, path: str) -> None:
    status, body, _ = ask(server, "GET", path=path)
    assert status in (403, 404)
    assert b"doctype" not in body


@pytest.mark.parametrize(
    "name", ["runs/a/completions.jsonl", "../secret", "%2e%2e/secret", "ledger.jsonl", "marks/x"]
)
def test_nothing_else_of_the_disk_is_seen(server: ViewServer, tmp_path: Path, name: str) -> None:
    (tmp_path / "ledger.jsonl").write_text("x", encoding="utf-8")
    (tmp_path.parent / "secret").write_text("x", encoding="utf-8")
    assert ask(server, "GET", name)[0] == 404


def test_another_name_for_this_machine_is_refused(server: ViewServer) -> None:
    for host in ("evil.example", f"localhost:{server.server_port}", "127.0.0.1"):
        assert ask(server, "GET", headers={"Host": host})[0] == 403


def test_it_listens_on_the_loopback_interface_alone(server: ViewServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert len(server.token) >= 32


def test_a_mark_is_kept_and_told(server: ViewServer, tmp_path: Path) -> None:
    status, body = post(server, SAID)
    assert status == 201
    (mark,) = read_marks(tmp_path)
    assert json.loads(body)["mark_id"] == mark.mark_id
    listed = json.loads(ask(server, "GET", "marks")[1])
    assert [(one["reviewer"], one["outcome"]) for one in listed] == [("Ada", "correct")]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", ""])
def test_a_mark_from_another_page_is_refused(
    server: ViewServer, tmp_path: Path, origin: str
) -> None:
    assert post(server, SAID, Origin=origin)[0] == 403
    assert not (tmp_path / REVIEW).exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), ({**SAID, "reason": ""}, 400), (b"x" * 40_000, 413)],
)
def test_what_is_no_mark_is_refused_with_a_sentence(
    server: ViewServer, tmp_path: Path, body: Any, status: int
) -> None:
    found, said = post(server, body)
    assert found == status
    assert json.loads(said)["error"].endswith(".")
    assert not (tmp_path / REVIEW).exists()


def test_a_changed_file_of_marks_is_said(server: ViewServer, tmp_path: Path) -> None:
    post(server, SAID)
    path = tmp_path / REVIEW
    path.write_bytes(path.read_bytes().replace(b"Ada", b"Eve"))
    status, body = post(server, SAID)
    assert status == 409
    assert "line 1" in json.loads(body)["error"]


def test_garbage_on_the_socket_ends_nothing(server: ViewServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as one:
        one.sendall(b"\x00\xff garbage\r\n\r\n")
        one.recv(4096)
    assert ask(server, "GET")[0] == 200


def test_marks_of_many_reviewers_at_once_are_all_kept(server: ViewServer, tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        said = [{**SAID, "reviewer": f"reviewer {n}"} for n in range(16)]
        assert [status for status, _ in pool.map(partial(post, server), said)] == [201] * 16
    assert {mark.reviewer for mark in read_marks(tmp_path)} == {one["reviewer"] for one in said}


@pytest.mark.parametrize("length", ["1" * 5_000, "-5", "0x10", ""])
def test_a_length_that_is_none_is_refused(
    server: ViewServer, capfd: pytest.CaptureFixture[str], length: str
) -> None:
    assert post(server, b"{}", **{"Content-Length": length})[0] == 413
    assert capfd.readouterr().err == ""


def test_a_browser_that_leaves_early_is_not_reported(
    server: ViewServer, capsys: pytest.CaptureFixture[str]
) -> None:
    for error, said in ((BrokenPipeError(), ""), (ZeroDivisionError(), "ZeroDivisionError")):
        try:
            raise error
        except (OSError, ArithmeticError):
            server.handle_error(None, ("127.0.0.1", 1))
        printed = capsys.readouterr().err
        assert said in printed
        assert bool(printed) == bool(said)
