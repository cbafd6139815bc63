"""The server from outside, again and again: memory, restarts, and whether it is still itself."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from evalkit.collect.canary import changes
from evalkit.endpoints.base import Endpoint, Inspectable, Launched
from evalkit.errors import EndpointError
from evalkit.probe.memory import gpu_held, server_process
from evalkit.probe.processes import resident, started, tree
from evalkit.types import Identity

_SAMPLE: Final = re.compile(
    r"^([a-zA-Z_:][\w:]*)(\{[^}\n]*\})? ([-+0-9.eE]+|NaN|[+-]?Inf)(?: \d+)?$", re.MULTILINE
)
_MOST_SERIES: Final = 5000
_MOST_BYTES: Final = 1_000_000
_RESIDENT: Final = "process_resident_memory_bytes"
_BEGAN: Final = "process_start_time_seconds"
_OTHER_BEGINNING: Final = 1.0
_FEW: Final = 0.5
# Seconds between two looks at what is dear to look at; of the page: at least, at most, and
# looks in all.
_TREE, _GPU, _SEARCH = 10.0, 10.0, 1.0
_METRICS: Final = (0.25, 2.0, 100)
_IDENTITY: Final = (2.0, 60.0, 20)
_PATIENCE: Final = 10.0
_AT_ONCE: Final = 0.1
_MOST_TOLD: Final = 100

Line = dict[str, Any]


class ServerWatch:
    """Looks at one endpoint's server; `look` returns what a journal keeps of it."""

    def __init__(
        self, endpoint: Endpoint, identity: Identity, seconds: float, now: Callable[[], float]
    ) -> None:
        self._endpoint = endpoint
        self._identity = identity
        self._now = now
        self._local = identity.kind == "local"
        self._root: int | None = None
        self._began = 0
        self._pids: tuple[int, ...] = (os.getpid(),) if self._local else ()
        self._counters: dict[str, float] = {}
        self._pages = not self._local and isinstance(endpoint, Inspectable)
        self._deaths = len(endpoint.deaths) if isinstance(endpoint, Launched) else 0
        self._beginnings: set[float] = set()
        self._told: set[str] = set()
        self._identity_every = _every(seconds, *_IDENTITY)
        self._metrics_every = _every(seconds, *_METRICS)
        self._page: asyncio.Task[tuple[dict[str, float], list[Line]]] | None = None
        self._last: dict[str, float] = {"identity": time.monotonic()}

    async def find(self) -> None:
        """Find the server's process, where it runs on this machine."""
        if self._local:
            return
        self._root = await asyncio.to_thread(server_process, self._endpoint, self._identity)
        if self._root is not None:
            self._began = started(self._root)
            self._pids = await asyncio.to_thread(tree, self._root)

    async def look(self, lag: float) -> list[Line]:
        """Return what is seen now: memory by source, and events.

        Args:
            lag: Seconds by which this machine woke evalkit too late, just now.
        """
        memory: dict[str, float] = {}
        lines = [*self._died()]
        if self._local:
            memory["growth"] = float(resident(self._pids))
        elif self._root is not None:
            lines += await self._process()
            if started(self._root) and (held := resident(self._pids)):
                memory["processes"] = float(held)
            memory |= await self._gpu()
        # Only for as long as a server that answers takes: one that hangs must not keep memory
        # from being read.
        if self._page is None:
            self._page = asyncio.create_task(self._asked())
            await asyncio.wait((self._page,), timeout=_AT_ONCE)
        if self._page.done():
            told, more = self._page.result()
            self._page = None
            lines += more
            memory |= told
        lines.append({"k": "m", "t": self._now(), "lag": round(lag, 6), **memory})
        return lines

    async def close(self) -> None:
        """Stop waiting for what was asked."""
        if self._page is not None:
            self._page.cancel()
            await asyncio.wait((self._page,))
            self._page = None

    async def _asked(self) -> tuple[dict[str, float], list[Line]]:
        told, lines = await self._metrics()
        return told, [*lines, *await self._who()]

    def _due(self, what: str, every: float) -> bool:
        now = time.monotonic()
        if now - self._last.get(what, -every) < every:
            return False
        self._last[what] = now
        return True

    def _event(self, sign: str, detail: str) -> Line:
        return {"k": "x", "t": self._now(), "s": sign, "d": detail[:300]}

    def _died(self) -> Iterator[Line]:
        if isinstance(self._endpoint, Launched):
            deaths = self._endpoint.deaths
            for reason in deaths[self._deaths :]:
                yield self._event("launch", reason)
            self._deaths = len(deaths)

    async def _process(self) -> list[Line]:
        assert self._root is not None
        if started(self._root) == self._began:
            if self._due("tree", _TREE):
                self._pids = await asyncio.to_thread(tree, self._root)
            return []
        before = self._root
        if not self._due("search", _SEARCH):
            return []
        found = await asyncio.to_thread(server_process, self._endpoint, self._identity)
        if found is None:
            return []
        self._root, self._began = found, started(found)
        self._pids = await asyncio.to_thread(tree, found)
        return [self._event("process", f"{before} → {found}")]

    async def _gpu(self) -> dict[str, float]:
        program = shutil.which("nvidia-smi")
        if program is None or not self._due("gpu", _GPU):
            return {}
        held = await gpu_held(program, self._pids)
        return {"gpu": float(held)} if held else {}

    async def _metrics(self) -> tuple[dict[str, float], list[Line]]:
        if not self._pages or not self._due("metrics", self._metrics_every):
            return {}, []
        status, body = 0, b""
        assert isinstance(self._endpoint, Inspectable)
        with suppress(EndpointError, TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                status, body = await self._endpoint.exchange("/metrics")
        if status != 200:
            # A page that never was will not come; one that fails now may.
            self._pages = bool(self._counters) or status == 0 or status >= 500
            return {}, []
        found = read_metrics(body[:_MOST_BYTES].decode("utf-8", "replace"))
        lines = [self._event(sign, detail) for sign, detail in self._anew(found)]
        self._counters = found
        held = found.get(_RESIDENT, 0.0)
        return ({"metrics": held} if held > 0 else {}), lines

    def _anew(self, found: dict[str, float]) -> Iterator[tuple[str, str]]:
        """Tell a new beginning once: several servers may answer in turns behind one address."""
        began = found.get(_BEGAN)
        known = began is not None and any(
            abs(began - other) <= _OTHER_BEGINNING for other in self._beginnings
        )
        if began is not None and len(self._beginnings) < _MOST_TOLD:
            self._beginnings.add(began)
        if not known:
            yield from began_anew(self._counters, found)

    async def _who(self) -> list[Line]:
        if self._local or not self._due("identity", self._identity_every):
            return []
        try:
            async with asyncio.timeout(_PATIENCE):
                now = await self._endpoint.identity()
        except (EndpointError, TimeoutError):
            return []
        found = changes(self._identity, now)
        if not found:
            return []
        self._identity = now
        told = "; ".join(found)
        # Two that answer in turns change with every look.
        if told in self._told or len(self._told) >= _MOST_TOLD:
            return []
        self._told.add(told)
        return [self._event("identity", told)]


def _every(seconds: float, least: float, most: float, parts: int) -> float:
    return min(max(seconds / parts, least), most)


def read_metrics(text: str) -> dict[str, float]:
    r"""Read what never falls while a server lives, and its memory, off a Prometheus page.

    >>> read_metrics('a_total{x="1"} 2\\na_total{x="2"} 3\\nb 1\\nprocess_start_time_seconds 7.5')
    {'a_total{x="1"}': 2.0, 'a_total{x="2"}': 3.0, 'process_start_time_seconds': 7.5}
    """
    found: dict[str, float] = {}
    for match in _SAMPLE.finditer(text):
        name = match[1]
        if name in (_RESIDENT, _BEGAN) or name.endswith(("_total", "_count")):
            with suppress(ValueError, OverflowError):
                found[name if name in (_RESIDENT, _BEGAN) else f"{name}{match[2] or ''}"] = float(
                    match[3]
                )
        if len(found) >= _MOST_SERIES:
            break
    return {name: value for name, value in found.items() if value == value and abs(value) < 1e300}


def began_anew(before: dict[str, float], now: dict[str, float]) -> Iterator[tuple[str, str]]:
    """Tell, from two readings of its page, how a server shows that it began anew.

    >>> list(began_anew({"a_total": 9.0}, {"a_total": 1.0}))
    [('counters', 'a_total 9 → 1')]
    """
    old, new = before.get(_BEGAN), now.get(_BEGAN)
    if old is not None and new is not None and abs(new - old) > _OTHER_BEGINNING:
        yield "start_time", f"{_BEGAN} {old:.0f} → {new:.0f}"
    shared = [
        name
        for name in before.keys() & now.keys()
        if name not in (_BEGAN, _RESIDENT) and before[name] > 0
    ]
    fallen = sorted(name for name in shared if now[name] < before[name])
    # One series may be dropped and made again; a server that began anew drops them all.
    if fallen and len(fallen) >= _FEW * len(shared):
        name = fallen[0]
        yield "counters", f"{name} {before[name]:g} → {now[name]:g}"
