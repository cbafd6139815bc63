"""From a status and a body to a typed error."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import aiohttp

from evalkit.endpoints.wire import error_text, parse_json
from evalkit.errors import (
    AuthError,
    BadRequest,
    ContextLengthError,
    CutBody,
    EndpointError,
    NotFoundError,
    RateLimited,
    ServerError,
)

_CONTEXT = re.compile(
    # OpenAI and vLLM, llama.cpp, SGLang, TGI, in this order.
    r"context.?length|maximum model length|max_model_len"
    r"|exceeds? the (available )?context|exceed_context_size|context size"
    r"|exceeds the maximum allowed length|longer than the model's context"
    r"|max_new_tokens.*must be <=",
    re.IGNORECASE,
)


def failure(status: int, body: bytes, headers: Mapping[str, str], where: str) -> EndpointError:
    """Return the error that a response with a status other than 2xx stands for.

    Args:
        status: The HTTP status.
        body: The response's body.
        headers: The response's headers (case-insensitive mapping).
        where: Endpoint and masked URL, for the message.
    """
    said = _said(status, body)
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return AuthError(f"{where} refused the key ({status}): {said}", status=status)
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(f"{where} was not found ({status}): {said}", status=status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = retry_after(headers.get("Retry-After"))
        return RateLimited(
            f"{where} limits the rate ({status}): {said}", status=status, retry_after=wait
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        wait = retry_after(headers.get("Retry-After"))
        return ServerError(f"{where} failed ({status}): {said}", status=status, retry_after=wait)
    # The type of the error may say what its message does not, so that all is searched.
    if _CONTEXT.search(body.decode("utf-8", "replace")):
        return ContextLengthError(
            f"The prompt does not fit into {where} ({status}): {said}", status=status
        )
    return BadRequest(f"{where} refused the request ({status}): {said}", status=status)


def broken_connection(error: Exception) -> str:
    """Return the cause of a connection that failed, in words for people.

    aiohttp's own text repeats the address and speaks of TLS where there is none.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, ConnectionError) and cause.errno:
        return os.strerror(cause.errno)
    said = cause.strerror if isinstance(cause, OSError) else None
    return said or str(cause) or type(cause).__name__


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After header (RFC 9110, 10.2.3): seconds, or a date.

    Returns:
        Seconds from now, at least 0; `None` when there is nothing readable.
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _said(status: int, body: bytes) -> str:
    try:
        said = error_text(parse_json(body))
    except CutBody:
        said = error_text(body[:2000].decode("utf-8", "replace"))
    return said or f"status {status} without a word"
