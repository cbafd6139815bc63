"""What servers count of speculative decoding: their metrics, whatever they call them.

vLLM and llama.cpp count the same things under the same names behind their own prefix. Counters
only grow: one that fell was set back by a restart, and then nothing is known of that time.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.endpoints.base import Endpoint, Inspectable, Several
from evalkit.errors import ConnectError, EndpointError
from evalkit.types import DraftCounts

_PAGE = "/metrics"
_LINE = re.compile(
    r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>[^\n]*)\})? +(?P<value>[-+.\w]+)(?: +\d+)?$",
    re.MULTILINE,
)
_POSITION = re.compile(r'(?:^|,) *position="(\d{1,3})"')
_SPECULATION = re.compile(r"(?:vllm|llamacpp):spec_decode_num_(\w+?)_total")
_MADE = {"vllm:generation_tokens_total", "llamacpp:tokens_predicted_total"}
_STARTED = "process_start_time_seconds"
_MOST = 2.0**53
_MOST_POSITIONS = 64
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Counters:
    """One server's counters at one moment.

    Attributes:
        drafts: Steps that checked a draft.
        positions: Drafts whose token at that place was accepted.
        made: Tokens of all answers; `None` where they are not counted.
        started: When the process started, where it says so.
    """

    drafts: int
    drafted: int
    accepted: int
    positions: tuple[int, ...] = ()
    made: int | None = None
    started: float | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """What was counted between two moments, all servers together.

    Attributes:
        made: Tokens of all answers meanwhile; `None` where they are not counted.
    """

    draft: DraftCounts
    made: int | None


def read_counters(page: str) -> Counters | None:
    """Read a page of metrics; `None` when nothing on it is of speculative decoding.

    Engines and models of one server are added up. What is no count (`NaN`, negative, beyond
    2^53) is passed over.

    >>> read_counters('''
    ... vllm:spec_decode_num_drafts_total{engine="0"} 29.0
    ... vllm:spec_decode_num_draft_tokens_total{engine="0"} 116.0
    ... vllm:spec_decode_num_accepted_tokens_total{engine="0"} 33.0
    ... vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 33.0
    ... ''')
    Counters(drafts=29, drafted=116, accepted=33, positions=(33,), made=None, started=None)
    """
    sums: dict[str, int] = {}
    positions: dict[int, int] = {}
    made: int | None = None
    started: float | None = None
    for line in _LINE.finditer(page):
        value = _number(line["value"])
        if value is None:
            continue
        if line["name"] in _MADE:
            made = (made or 0) + int(value)
        elif line["name"] == _STARTED:
            started = value
        elif found := _SPECULATION.fullmatch(line["name"]):
            key = found[1]
            sums[key] = sums.get(key, 0) + int(value)
            place = _POSITION.search(line["labels"] or "")
            if key == "accepted_tokens_per_pos" and place and int(place[1]) < _MOST_POSITIONS:
                positions[int(place[1])] = positions.get(int(place[1]), 0) + int(value)
    if "draft_tokens" not in sums or "accepted_tokens" not in sums:
        return None
    return Counters(
        drafts=sums.get("drafts", 0),
        drafted=sums["draft_tokens"],
        accepted=sums["accepted_tokens"],
        positions=tuple(positions.get(at, 0) for at in range(max(positions, default=-1) + 1)),
        made=made,
        started=started,
    )


def growth(before: Sequence[Counters | None], after: Sequence[Counters | None]) -> Growth | None:
    """Return what all servers counted meanwhile; `None` when that cannot be known.

    It cannot when a server tells nothing, was started again, or counts more accepted than
    drafted tokens.
    """
    total: DraftCounts | None = None
    made: int | None = 0
    for early, late in zip(before, after, strict=True):
        if early is None or late is None or early.started != late.started:
            return None
        one = _between(early, late)
        if one is None:
            return None
        total = one if total is None else added(total, one)
        known = made is not None and early.made is not None and late.made is not None
        made = made + late.made - early.made if known else None  # type: ignore[operator]
        if made is not None and made < 0:
            return None
    return None if total is None else Growth(total, made)


def added(one: DraftCounts, other: DraftCounts) -> DraftCounts:
    """Add two counts up; what one of them does not count, the sum does not either."""
    drafts = None
    if one.drafts is not None and other.drafts is not None:
        drafts = one.drafts + other.drafts
    size = max(len(one.positions), len(other.positions))
    first, second = (_filled(side.positions, size) for side in (one, other))
    return DraftCounts(
        one.drafted + other.drafted,
        one.accepted + other.accepted,
        drafts,
        tuple(a + b for a, b in zip(first, second, strict=True)),
    )


async def counters_now(endpoint: Endpoint) -> tuple[Counters | None, ...]:
    """Read the counters of an endpoint's servers, each `None` where it tells none."""
    if isinstance(endpoint, Several):
        servers: Sequence[Inspectable] = endpoint.servers
    else:
        servers = (endpoint,) if isinstance(endpoint, Inspectable) else ()
    return tuple([await _read(server) for server in servers])


async def _read(server: Inspectable) -> Counters | None:
    for _ in range(_TRIES):
        try:
            status, body = await server.exchange(_PAGE)
        except ConnectError:
            # A connection that rested may be closed in this very moment.
            await asyncio.sleep(0)
        except EndpointError:
            return None
        else:
            return read_counters(body.decode("utf-8", "replace")) if status == 200 else None
    return None


def _between(early: Counters, late: Counters) -> DraftCounts | None:
    drafts, drafted = late.drafts - early.drafts, late.drafted - early.drafted
    accepted = late.accepted - early.accepted
    # A place is listed once a draft was that long.
    size = max(len(early.positions), len(late.positions))
    before, after = (_filled(side.positions, size) for side in (early, late))
    positions = tuple(b - a for a, b in zip(before, after, strict=True))
    if min(drafts, drafted, accepted, *positions) < 0 or accepted > drafted:
        return None
    if any(count > drafts for count in positions):
        # No share of drafts can be told; the tokens still can.
        return DraftCounts(drafted, accepted)
    return DraftCounts(drafted, accepted, drafts, positions)


def _filled(positions: Sequence[int], size: int) -> tuple[int, ...]:
    return (*positions, *[0] * (size - len(positions)))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < _MOST else None
