from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evalkit.endpoints.failures import failure, retry_after
from evalkit.errors import (
    AuthError,
    BadRequest,
    ContextLengthError,
    EndpointError,
    NotFoundError,
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
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_retry_after_reaches_the_error() -> None:
    assert failure(429, b"", {"Retry-After": "3"}, "x").retry_after == 3.0
    assert failure(503, b"", {"Retry-After": "4"}, "x").retry_after == 4.0


@pytest.mark.parametrize("body", [b"", b"<html>x</html>", b"\xff", b'{"detail": "d"}', b"[]"])
def test_any_body_makes_a_short_message(body: bytes) -> None:
    message = failure(500, body * 5000, {}, "x").message
    assert message
    assert len(message) < 500
    assert "\n" not in message
