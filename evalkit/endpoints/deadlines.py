"""How long an exchange may take, and which of its deadlines counts at the moment."""

from __future__ import annotations

from dataclasses import dataclass

_GRACE = 0.5


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that an exchange may take.

    Attributes:
        connect: Until the connection stands: name, TCP and TLS.
        first_byte: From the start until the first byte of the body. `None`: as long as the
            whole, because a server that does not stream says nothing before it has finished.
        idle: Between two parts of the body.
        total: Everything included.
    """

    connect: float = 10.0
    first_byte: float | None = None
    idle: float = 120.0
    total: float = 300.0


class Watch:
    """The deadline that counts at the moment. It moves as the response comes in.

    Attributes:
        when: The deadline, by the clock of the event loop.
        missed: What to say when it passes.
        began: Whether something of the body has come.
    """

    __slots__ = ("_end", "_idle", "_total", "began", "missed", "when")

    def __init__(self, deadlines: Deadlines, total: float | None, now: float) -> None:
        self._idle = deadlines.idle
        self._total = deadlines.total if total is None else min(total, deadlines.total)
        self._end = now + self._total
        self.began = False
        first = self._total if deadlines.first_byte is None else deadlines.first_byte
        self.missed = f"did not begin to answer within {first:g} s"
        self.when = self._earlier(now + first)

    def rest(self, now: float) -> float:
        """Let the time between two parts of the body begin anew; return the deadline."""
        self.missed = f"stopped in the middle of its answer for {self._idle:g} s"
        self.when = self._earlier(now + self._idle)
        return self.when

    def grace(self, now: float) -> float:
        """Give the end of a body that is complete a moment to come; return the deadline."""
        self.when = min(self._end, now + _GRACE)
        return self.when

    def _earlier(self, when: float) -> float:
        if when < self._end:
            return when
        self.missed = f"did not answer within {self._total:g} s"
        return self._end
