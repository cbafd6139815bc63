"""Is it still the same endpoint? Asked again and again while a run goes on.

What a server says it is decides. Answers to fixed prompts speak too, because a proxy may put
another model behind the same words; but greedy texts may depend on what else is computed at
the moment. So a text that changed is asked for again twice with nothing else in flight, as
the preflight asked, and counts only if it was the same each time there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from evalkit.collect.preflight.answering import CAPITAL, CAPITAL_SAMPLING
from evalkit.collect.preflight.choices import said
from evalkit.collect.preflight.findings import Canary
from evalkit.collect.preflight.sampling import STORY, STORY_SAMPLING
from evalkit.endpoints.base import Endpoint
from evalkit.errors import EndpointError, IdentityChanged
from evalkit.types import Identity, Message, Reply, Sampling

_PROMPTS: Final = {"capital": (CAPITAL, CAPITAL_SAMPLING), "story": (STORY, STORY_SAMPLING)}
_FIELDS: Final = (
    "model",
    "engine",
    "engine_version",
    "quantization",
    "context_length",
    "template_hash",
    "tokenizer_hash",
    "rendering_hash",
    "weights_hash",
)
_DETAILS: Final = ("root", "n_params", "size", "listed_as")
_REPEATS: Final = 2

_log = logging.getLogger(__name__)


class WatchedEndpoint:
    """An endpoint that is looked at after each `every` requests; none of it is evidence."""

    def __init__(
        self, endpoint: Endpoint, identity: Identity, canaries: Sequence[Canary], every: int
    ) -> None:
        self._endpoint = endpoint
        self._identity = identity
        self._canaries = [c for c in canaries if c.stable and c.name in _PROMPTS]
        self._every = every
        self._sent = self._in_flight = 0
        self._looking = False
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def name(self) -> str:
        """The endpoint's own."""
        return self._endpoint.name

    @property
    def sent(self) -> int:
        """Requests that were answered so far."""
        return self._sent

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask once, and look whether it is the same endpoint when it is time.

        Raises:
            EndpointError: See `Endpoint.send`.
            IdentityChanged: When it is another one.
        """
        await self._open.wait()
        self._in_flight += 1
        self._idle.clear()
        try:
            reply = await self._endpoint.send(messages, sampling)
        finally:
            self._in_flight -= 1
            if self._in_flight == 0:
                self._idle.set()
        self._sent += 1
        if self._every and self._sent % self._every == 0 and not self._looking:
            await self.look()
        return reply

    async def look(self) -> None:
        """Look whether it is still the same endpoint.

        An endpoint that cannot be asked at the moment is not another one.

        Raises:
            IdentityChanged: When it is, saying what changed.
        """
        self._looking = True
        try:
            refuse_change(self.name, self._identity, await self._endpoint.identity())
            changed = [c.name for c in self._canaries if not await self._sings(c)]
        except EndpointError as error:
            _log.info("%s could not be looked at: %s", self.name, error.message)
            return
        finally:
            self._looking = False
            self._open.set()
        if changed:
            raise _changed(self.name, [f"its answer to the {name} prompt" for name in changed])

    async def _sings(self, canary: Canary) -> bool:
        """Whether a canary's answer is what it was: at once, or with nothing else in flight."""
        if await self._answer(canary) == canary.text:
            return True
        _log.info("%s answers the %s prompt otherwise; asking alone", self.name, canary.name)
        self._open.clear()
        await self._idle.wait()
        for _ in range(_REPEATS):
            if await self._answer(canary) == canary.text:
                return True
        return False

    async def _answer(self, canary: Canary) -> str | None:
        messages, sampling = _PROMPTS[canary.name]
        reply = await self._endpoint.send(messages, sampling)
        return said(reply.reasoning, reply.text)


def refuse_change(name: str, before: Identity, now: Identity) -> None:
    """Refuse to go on with an endpoint that is another one than before.

    Raises:
        IdentityChanged: Saying what changed.
    """
    changed = changes(before, now)
    if changed:
        raise _changed(name, changed)


def _changed(name: str, what: Sequence[str]) -> IdentityChanged:
    return IdentityChanged(
        f"Endpoint '{name}' became another one in the middle of the run: {'; '.join(what)}.",
        hint="Its answers are of two endpoints: find out why, and ask again with --fresh.",
    )


def changes(before: Identity, now: Identity) -> list[str]:
    """Name what an endpoint says of itself otherwise than before, old and new.

    What it did not tell before, or does not tell now, is no change.
    """
    rows = [(name, getattr(before, name), getattr(now, name)) for name in _FIELDS]
    rows += [(name, before.details.get(name), now.details.get(name)) for name in _DETAILS]
    return [
        f"{name.replace('_', ' ')} {old} → {new}"
        for name, old, new in rows
        if old is not None and new is not None and old != new
    ]
