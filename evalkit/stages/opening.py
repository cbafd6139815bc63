"""Opening an endpoint, which may take minutes, so that Ctrl-C ends the waiting at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from evalkit.endpoints.base import Endpoint
from evalkit.errors import Interrupted


@asynccontextmanager
async def opened(endpoint: Endpoint, stop: asyncio.Event) -> AsyncIterator[None]:
    """Use an endpoint; give it up when told to stop before it is open.

    Raises:
        Interrupted: When told to stop meanwhile; nothing of it is left.
        EvalKitError: When it cannot be opened.
    """
    opening = asyncio.create_task(endpoint.__aenter__())
    watching = asyncio.create_task(_cancel_when(stop, opening))
    try:
        await opening
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise Interrupted(
            f"Interrupted while '{endpoint.name}' was starting.",
            hint="The same command goes on from there.",
        ) from None
    finally:
        watching.cancel()
    async with AsyncExitStack() as stack:
        stack.push_async_exit(endpoint)
        yield


async def _cancel_when(stop: asyncio.Event, opening: asyncio.Task[Endpoint]) -> None:
    await stop.wait()
    opening.cancel()
