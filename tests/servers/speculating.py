"""A clocked server that speculates by a plan, and counts as vLLM or llama.cpp do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import orjson

from tests.servers.clocked import _HEAD, ClockedServer, Pace, Seen, _event, chunk

Words = Callable[[int, str], str]
Text = Callable[[str, int], str]


@dataclass(slots=True)
class Tally:
    """What was drafted."""

    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    positions: list[int] = field(default_factory=list)
    made: int = 0


@dataclass(frozen=True, slots=True)
class Drafting:
    """How it speculates.

    Attributes:
        accepted: Accepted tokens of each step, over and over; empty: it does not speculate.
        depth: Tokens of each draft.
        crowd: How much longer a step takes for each further request in flight.
        prefix: Of the names of its metrics; `None`: it has none.
        timings: Whether its answers tell of drafts.
        lag: Seconds until its metrics know of an answer.
    """

    accepted: tuple[int, ...] = ()
    depth: int = 3
    crowd: float = 0.0
    prefix: str | None = "vllm"
    timings: bool = False
    lag: float = 0.0


class SpeculatingServer(ClockedServer):
    """Sends the first token alone, then a part for each step."""

    def __init__(
        self, pace: Pace, drafting: Drafting, text: Text = lambda prompt, ask: "a"
    ) -> None:
        super().__init__(pace)
        self.drafting = drafting
        self.total = Tally()
        self.of_prompts: dict[str, list[Tally]] = {}
        self.started = 1.0
        self._text = text
        self._working = 0

    def restart(self) -> None:
        """Forget what was counted, as a new process does."""
        self.total, self.started = Tally(), self.started + 1

    def metrics(self) -> str:
        """The page of metrics."""
        prefix, total = self.drafting.prefix, self.total
        name, made = f"{prefix}:spec_decode_num", "generation_tokens_total"
        if prefix == "llamacpp":
            made = "tokens_predicted_total"
        lines = [f'{prefix}:{made}{{engine="0"}} {float(total.made)}']
        if self.drafting.accepted:
            lines += [
                f"# TYPE {name}_drafts_total counter",
                f'{name}_drafts_total{{engine="0"}} {float(total.drafts)}',
                f'{name}_draft_tokens_total{{engine="0"}} {float(total.drafted)}',
                f'{name}_accepted_tokens_total{{engine="0"}} {float(total.accepted)}',
                *(
                    f'{name}_accepted_tokens_per_pos_total{{engine="0",position="{at}"}} {n}'
                    for at, n in enumerate(total.positions)
                ),
            ]
        return "\n".join([*lines, f"process_start_time_seconds {self.started}", ""])

    def _page(self, path: bytes) -> bytes:
        if path == b"/metrics" and self.drafting.prefix is not None:
            body = self.metrics().encode()
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        return super()._page(path)

    async def _stream(self, writer: asyncio.StreamWriter, seen: Seen, pace: Pace) -> None:
        self._working += 1
        tally = Tally()
        try:
            await self._steps(writer, seen, pace, tally)
        finally:
            self._working -= 1
        self.of_prompts.setdefault(seen.prompt, []).append(tally)
        if self.drafting.lag:
            asyncio.get_running_loop().call_later(self.drafting.lag, self._count, tally)
        else:
            self._count(tally)
        usage = {"prompt_tokens": seen.prompt_tokens, "completion_tokens": tally.made}
        last: dict[str, object] = {"choices": [], "usage": usage}
        if self.drafting.timings and tally.drafted:
            last["timings"] = {"draft_n": tally.drafted, "draft_n_accepted": tally.accepted}
        tail = chunk(b"data: " + orjson.dumps(last) + b"\n\n")
        seen.done = time.perf_counter()
        writer.write(_event({}, "length") + tail + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")

    async def _steps(
        self, writer: asyncio.StreamWriter, seen: Seen, pace: Pace, tally: Tally
    ) -> None:
        plan, depth = self.drafting.accepted, self.drafting.depth
        word = self._text(seen.prompt, len(self.of_prompts.get(seen.prompt, ())))
        due = seen.arrived + pace.first + pace.a_token * seen.prompt_tokens
        writer.write(_HEAD + _event({"role": "assistant", "content": ""}))
        step = 0
        while tally.made < seen.max_tokens:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            count = 1
            if plan and tally.made:
                count = min(1 + plan[step % len(plan)], seen.max_tokens - tally.made)
                step += 1
                tally.drafts += 1
                tally.drafted += depth
                tally.accepted += count - 1
                tally.positions = [
                    (tally.positions[at] if at < len(tally.positions) else 0) + (at < count - 1)
                    for at in range(depth)
                ]
            seen.writes.append(time.perf_counter())
            writer.write(_event({"content": f" {word}" * count}))
            tally.made += count
            due = time.perf_counter() + pace.gap * (1 + self.drafting.crowd * (self._working - 1))

    def _count(self, tally: Tally) -> None:
        total = self.total
        size = max(len(total.positions), len(tally.positions))
        sides = [[*one.positions, *[0] * (size - len(one.positions))] for one in (total, tally)]
        self.total = replace(
            total,
            drafts=total.drafts + tally.drafts,
            drafted=total.drafted + tally.drafted,
            accepted=total.accepted + tally.accepted,
            positions=[a + b for a, b in zip(*sides, strict=True)],
            made=total.made + tally.made,
        )
