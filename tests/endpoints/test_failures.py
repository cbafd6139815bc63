from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.failures import error_in_body, failure, retry_after
from evalkit.errors import (
    AuthError,
    BadRequest,
    ContextLengthError,
    EndpointError,
    NotFoundError,
    ProtocolError,
    RateLimited,
    ServerError,
)

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequest),
        (401, AuthError),
        (403, AuthError),
        (404, NotFoundError),
        (402, AuthError),
        (405, NotFoundError),
        (408, ServerError),
        (409, ServerError),
        (422, BadRequest),
        (429, RateLimited),
        (500, ServerError),
        (503, ServerError),
        (599, ServerError),
        (302, BadRequest),
    ],
)
def test_status_to_error(status: int, kind: type[EndpointError]) -> None:
    error = failure(status, b'{"error": {"message": "the reason"}}', {}, "Endpoint 'x'")
    assert type(error) is kind
    assert error.status == status
    assert "the reason" in error.message


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://user:secret@h.example/v1?key=secret", "https://h.example/v1"),
        ("/login?key=secret", "/login"),
    ],
)
def test_a_redirection_is_told_with_its_place(location: str, told: str) -> None:
    error = failure(307, b"", {"Location": location}, "Endpoint 'x'")
    assert type(error) is BadRequest
    assert error.message.endswith(f"sends requests elsewhere (307): {told}")
    assert error.hint


# Bodies as the engines send them.
@pytest.mark.parametrize(
    "body",
    [
        # OpenAI
        b'{"error": {"message": "This model\'s maximum context length is 8192 tokens. However, '
        b'you requested 9000", "code": "context_length_exceeded"}}',
        # vLLM
        b'{"object": "error", "message": "The decoder prompt (length 5000) is longer than the '
        b'maximum model length of 2048.", "type": "BadRequestError", "code": 400}',
        b'{"error":{"message":"\'max_tokens\' is too large: 9999. This model\'s maximum context '
        b'length is 2048 tokens"}}',
        # llama.cpp
        b'{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context '
        b'size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}',
        # SGLang
        b'{"object":"error","message":"Input length (9000 tokens) exceeds the maximum allowed '
        b'length (4091 tokens)."}',
        # TGI
        b'{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048"}',
    ],
)
def test_context_length_wordings(body: bytes) -> None:
    assert type(failure(400, body, {}, "x")) is ContextLengthError


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", 1.5),
        ("", None),
        ("1e9", None),
        ("٣", None),
        ("9" * 400, None),
        ("Thu, 01 Jan 99999 12:00:30 GMT", None),
        ("Thu, 01 Jan 2026 12:00:30 +9999", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_retry_after_reaches_the_error() -> None:
    assert failure(429, b"", {"Retry-After": "3"}, "x").retry_after == 3.0
    assert failure(503, b"", {"Retry-After": "4"}, "x").retry_after == 4.0
    assert failure(429, b"", {"Retry-After-Ms": "1500", "Retry-After": "9"}, "x").retry_after == 1.5
    assert failure(400, b"", {"Retry-After": "4"}, "x").retry_after is None


def test_a_date_is_read_by_the_servers_own_clock() -> None:
    headers = {
        "Date": "Thu, 01 Jan 2026 11:59:50 GMT",
        "Retry-After": "Thu, 01 Jan 2026 12:00:00 GMT",
    }
    assert failure(429, b"", headers, "x").retry_after == 10.0


@given(st.text(max_size=40))
def test_any_header_is_read(value: str) -> None:
    seconds = retry_after(value, NOW)
    assert seconds is None or 0 <= seconds < 1e12


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "m", "code": 429}}, RateLimited),
        ({"error": {"message": "m", "code": "503"}}, ServerError),
        ({"error": {"message": "m", "code": 401}}, AuthError),
        ({"error": {"message": "m", "code": 400}}, BadRequest),
        ({"error": {"message": "m", "code": "insufficient_quota"}}, ProtocolError),
        ({"error": {"message": "maximum context length is 5"}}, ContextLengthError),
        ({"error": "m"}, ProtocolError),
        ({"object": "error", "message": "m", "code": 500, "choices": []}, ServerError),
        ({"detail": "m"}, ProtocolError),
        ({"message": "m", "status": 502}, ServerError),
        ({"choices": [{"error": {"message": "m", "code": 502}}]}, ServerError),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "abort"}]}, ProtocolError),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}, ProtocolError),
    ],
)
def test_errors_in_bodies_with_status_200(body: Any, kind: type[EndpointError]) -> None:
    error = error_in_body(body, "Endpoint 'x'")
    assert type(error) is kind
    assert "Endpoint 'x'" in error.message
    assert "200" in error.message or kind is ContextLengthError


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": "m"}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "m"}}], "error": None},
        {"choices": [], "message": "m"},
        {},
        [],
        None,
        "text",
    ],
)
def test_what_tells_no_error_is_none(body: Any) -> None:
    assert error_in_body(body, "x") is None


@pytest.mark.parametrize("body", [b"", b"<html>x</html>", b"\xff", b'{"detail": "d"}', b"[]"])
def test_any_body_makes_a_short_message(body: bytes) -> None:
    message = failure(500, body * 5000, {}, "x").message
    assert message
    assert len(message) < 500
    assert "\n" not in message
