"""From a status and a body to a typed error."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import aiohttp

from evalkit.endpoints.urls import mask_url
from evalkit.endpoints.wire import error_text, parse_json
from evalkit.errors import (
    AuthError,
    BadRequest,
    ContextLengthError,
    CutBody,
    EndpointError,
    NotFoundError,
    ProtocolError,
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
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?")
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN})
_ABSENT = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE})
_TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY})
_WORDS = frozenset({"detail", "message"})
# OpenRouter and vLLM: the text that came before it is not an answer.
_GAVE_UP = frozenset({"error", "abort"})


def failure(status: int, body: bytes, headers: Mapping[str, str], where: str) -> EndpointError:
    """Return the error that a response with a status other than 2xx stands for.

    Args:
        status: The HTTP status.
        body: The response's body.
        headers: The response's headers (case-insensitive mapping).
        where: Endpoint and masked URL, for the message.
    """
    # The type of the error may say what its message does not, so that all is searched.
    searched = body.decode("utf-8", "replace")
    location = headers.get("Location")
    if location and status < HTTPStatus.BAD_REQUEST:
        return _elsewhere(status, location, where)
    error = _typed(status, str(status), _said(status, body), searched, where)
    error.retry_after = asked_pause(headers) if error.retryable else None
    return error


def _elsewhere(status: int, location: str, where: str) -> EndpointError:
    """Say where a redirection leads; nobody goes there: a key is for the address that was named."""
    place = mask_url(location) if "://" in location else location.partition("?")[0]
    return BadRequest(
        f"{where} sends requests elsewhere ({status}): {error_text(place)}",
        hint="Name the address where they are answered.",
        status=status,
    )


def error_in_body(data: Any, where: str) -> EndpointError | None:
    """Return the error that a body with status 200 tells instead of an answer, if any.

    Gateways pass on what happened behind them so, and engines what happens in the middle of
    a stream. A code in it counts like a status; without one the fault may heal.

    Args:
        data: The JSON of the body.
        where: Endpoint and masked URL, for the message.
    """
    told = _told(data)
    if told is None:
        return None
    said = error_text(told)
    code = _code(told) or _code(data)
    if code is not None and code >= HTTPStatus.BAD_REQUEST:
        return _typed(code, f"{code}, in a reply with status 200", said, str(told), where)
    if _CONTEXT.search(str(told)):
        return ContextLengthError(f"The prompt does not fit into {where}: {said}", status=200)
    return ProtocolError(f"{where} answered 200 with an error: {said}", status=200)


def _typed(status: int, shown: str, said: str, searched: str, where: str) -> EndpointError:
    if status in _REFUSED:
        return AuthError(f"{where} refused the key ({shown}): {said}", status=status)
    if status in _ABSENT:
        return NotFoundError(f"{where} was not found ({shown}): {said}", status=status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(f"{where} limits the rate ({shown}): {said}", status=status)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRANSIENT:
        return ServerError(f"{where} failed ({shown}): {said}", status=status)
    if _CONTEXT.search(searched):
        return ContextLengthError(
            f"The prompt does not fit into {where} ({shown}): {said}", status=status
        )
    return BadRequest(f"{where} refused the request ({shown}): {said}", status=status)


def _told(data: Any) -> Any:
    """Return what stands for an error in a body, or `None`."""
    if not isinstance(data, Mapping):
        return None
    choices = data.get("choices")
    if data.get("error"):
        return data["error"]
    if data.get("object") == "error" or (choices is None and (data.keys() & _WORDS)):
        return data
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, Mapping):
        return None
    if first.get("error"):
        return first["error"]
    finish = first.get("finish_reason")
    return f"finish reason '{finish}'" if finish in _GAVE_UP else None


def _code(told: Any) -> int | None:
    found = told.get("code") or told.get("status") if isinstance(told, Mapping) else None
    if isinstance(found, str) and found.isascii() and found.isdecimal() and len(found) == 3:
        return int(found)
    return found if isinstance(found, int) and 100 <= found <= 599 else None


def broken_connection(error: BaseException) -> str:
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


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait for, or `None`.

    A date is read by the server's own clock, if it tells the time: ours may be another.
    """
    milliseconds = _number(headers.get("Retry-After-Ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return retry_after(headers.get("Retry-After"), _date(headers.get("Date")))


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After header (RFC 9110, 10.2.3): seconds, or a date.

    Returns:
        Seconds from now, at least 0; `None` when there is nothing readable.
    """
    seconds = _number(value)
    if seconds is not None:
        return seconds
    when = _date(value)
    if when is None:
        return None
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _number(value: str | None) -> float | None:
    """Read seconds; some servers send fractions of them, which the RFC does not know."""
    if value is None or not _SECONDS.fullmatch(value.strip()):
        return None
    return float(value)


def _date(value: str | None) -> datetime | None:
    try:
        when = parsedate_to_datetime(value or "")
    except (ValueError, OverflowError):
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def _said(status: int, body: bytes) -> str:
    try:
        said = error_text(parse_json(body))
    except CutBody:
        said = error_text(body[:2000].decode("utf-8", "replace"))
    return said or f"status {status} without a word"
