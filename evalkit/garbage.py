"""How often Python looks for reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 10_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the cyclic garbage collector run less often; whatever it was set to comes back.

    Python looks after each 700 new containers: made for programs that hold little. A run
    holds its samples, requests in flight and, at its end, every answer; looking at them over
    and over took a third of its CPU. Hardly any of it is ever part of a cycle.
    """
    before = gc.get_threshold()
    # A program that asked for even fewer, or for none, has its reasons.
    if 0 < before[0] < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
