"""Journals of soaks that never ran: hours in a moment, with what ails them known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from evalkit.soak.journal import JOURNAL, VERSION
from evalkit.soak.plan import SoakPlan

MB = 1e6
HOUR = 3600.0
Line = dict[str, Any]


@dataclass(frozen=True)
class Course:
    """What happens in the hours of a soak.

    Attributes:
        hours: How many.
        memory: Bytes at a time in seconds, beside noise.
        slower: Share an hour by which it becomes slower.
        fails: Chance of a request at a time to fail.
        canary: What is answered at a time.
        events: Time, sign and detail of what the watch saw.
        seed: Of everything at random.
    """

    hours: float = 2.0
    memory: Callable[[float], float] = lambda t: 0.0
    slower: float = 0.0
    fails: Callable[[float], float] = lambda t: 0.0
    canary: Callable[[float, random.Random], str] = lambda t, rng: "Paris."
    events: tuple[tuple[float, str, str], ...] = ()
    seed: int = 0
    noise_bytes: float = 3 * MB
    noise_share: float = 0.08
    every: float = 4.0

    def lines(self) -> Iterator[Line]:
        """Requests, samples, fixed prompts and events in the order of time."""
        rng = random.Random(self.seed)
        seconds = self.hours * HOUR
        made: list[Line] = []
        now = 0.0
        while (now := now + rng.expovariate(1 / self.every)) < seconds:
            made.append(self._request(now, rng))
        step = seconds / 600
        for place in range(600):
            t = place * step
            held = 8e9 + self.memory(t) + rng.gauss(0, self.noise_bytes)
            made.append({"k": "m", "t": t, "processes": held})
        for place in range(60):
            t = place * seconds / 60
            made.append({"k": "c", "t": t, "n": "capital", "x": self.canary(t, rng)})
        made += [{"k": "x", "t": t, "s": sign, "d": detail} for t, sign, detail in self.events]
        yield from sorted(made, key=lambda line: line["t"])

    def _request(self, now: float, rng: random.Random) -> Line:
        prompt, output = rng.randint(16, 512), rng.randint(16, 128)
        usual = 0.05 + prompt * 2e-4 + output * 0.02
        slow = (1 + self.slower * now / HOUR) * rng.lognormvariate(0, self.noise_share)
        line = {"k": "r", "t": round(now, 3), "e": usual * slow, "p": prompt, "o": output}
        if rng.random() < self.fails(now):
            return {**line, "e": 0.01, "x": "ServerError"}
        return {**line, "f": (0.05 + prompt * 2e-4) * slow}

    def write(self, folder: Path) -> SoakPlan:
        """Write the journal; return what the soak was to be."""
        plan = SoakPlan(seconds=self.hours * HOUR)
        head = {
            "k": "h", "version": VERSION, "created": "2026-12-01T00:00:00+00:00",
            "name": "q4", "label": "q4 of a test",
            "identity": {"kind": "openai", "model": "q4"}, "plan": asdict(plan),
        }  # fmt: skip
        lines = [head, {"k": "s", "t": 0.0}, *self.lines(), {"k": "x", "t": plan.seconds,
                                                            "s": "end", "d": "time"}]  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        (folder / JOURNAL).write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in lines))
        return plan
