"""What a soak does, and for how long."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalkit.errors import UsageError

_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s)?")
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(MB)?(?:/min)?", re.IGNORECASE)
_SHARE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*%?(?:/h)?")
_MB = 1e6
_LONGEST = 30 * 86400.0
LEAST_SECONDS = 1.0
# At most so often, at least so often; in between as often as a trend needs.
_SAMPLES, _FASTEST, _SLOWEST = 1200, 0.2, 5.0
_CANARIES, _CANARY_FASTEST, _CANARY_SLOWEST = 100, 0.5, 60.0


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """How an endpoint is kept busy, and what counts as wrong.

    Attributes:
        seconds: How long.
        concurrency: Requests in flight at most.
        rate: Requests a second that come at random; `None` keeps all in flight.
        prompt_tokens: Shortest and longest; drawn between them, short ones more often.
        output_tokens: The same of answers.
        max_leak: Bytes a minute that memory may grow.
        max_slowdown: Share an hour by which answers may become slower.
        max_failed: Share of requests that may fail.
        seed: Of the mix.
    """

    seconds: float = 3600.0
    concurrency: int = 4
    rate: float | None = None
    prompt_tokens: tuple[int, int] = (16, 512)
    output_tokens: tuple[int, int] = (16, 128)
    max_leak: float = 0.5 * _MB
    max_slowdown: float = 0.02
    max_failed: float = 0.01
    seed: int = 0

    @property
    def sample_every(self) -> float:
        """Seconds between two looks at the server."""
        return min(max(self.seconds / _SAMPLES, _FASTEST), _SLOWEST)

    @property
    def canary_every(self) -> float:
        """Seconds between two rounds of the fixed prompts."""
        return min(max(self.seconds / _CANARIES, _CANARY_FASTEST), _CANARY_SLOWEST)


def read_duration(text: str) -> float:
    """Read `8h`, `90m`, `1h30m` or `45s`; return seconds.

    Raises:
        UsageError: For anything else.

    >>> read_duration("1h30m"), read_duration("45s")
    (5400.0, 45.0)
    """
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or not any(match.groups()):
        raise UsageError(f"'{text[:40]}' is no duration.", hint="Write 8h, 90m, 1h30m or 45s.")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return checked_seconds(hours * 3600 + minutes * 60 + seconds)


def checked_seconds(seconds: float) -> float:
    """Return a duration that a soak can have.

    Raises:
        UsageError: When it is too short or too long.
    """
    if not LEAST_SECONDS <= seconds <= _LONGEST:
        raise UsageError("A soak lasts from 1 second to 30 days.")
    return seconds


def read_range(text: str, what: str) -> tuple[int, int]:
    """Read `16-512` or `64`.

    Raises:
        UsageError: For anything else.
    """
    match = _RANGE.fullmatch(text.strip())
    low = int(match[1]) if match else 0
    high = int(match[2] or match[1]) if match else 0
    if not 0 < low <= high:
        raise UsageError(f"'{text[:40]}' is no range of {what}.", hint="Write 16-512, or 64.")
    return low, high


def read_leak(text: str) -> float:
    """Read `0.5` or `0.5MB/min`; return bytes a minute.

    Raises:
        UsageError: For anything else.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise UsageError(f"'{text[:40]}' is no growth of memory.", hint="Write 0.5 (MB a minute).")
    return float(match[1]) * _MB


def read_percent(text: str, option: str) -> float:
    """Read `2` or `2%`; return a share.

    Raises:
        UsageError: For anything else.
    """
    match = _SHARE.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise UsageError(f"'{text[:40]}' is no percentage for {option}.", hint="Write 2%.")
    return float(match[1]) / 100
