"""A fake server that knows how much it can take, and refuses the rest."""

from __future__ import annotations

from aiohttp import web

from tests.servers.fake import FakeServer, Script, Server


class _Limited(Server):
    capacity = 1

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if self.in_flight > self.capacity:
            return web.json_response({"error": {"message": "slow down"}}, status=429)
        return await super()._chat(request)


class LimitedServer(FakeServer):
    """Answers `capacity` requests at once, and 429 to what is above."""

    def __init__(self, capacity: int, script: Script | None = None) -> None:
        super().__init__(script)
        limited = _Limited(self.server.script)
        limited.capacity = capacity
        self.server = limited
