"""The program that compares two mathematical expressions with math-verify; no module of evalkit.

It reads one JSON object a line (`gold`, `answer`, `search`, `strict`) and writes one for each:
`{"equal": true}`, `false` (also where one of both cannot be read), or `null` when it ran out of
memory or depth. The first line that it writes names the version of math-verify. SymPy follows
some expressions for hours (`9^{9^{9^9}}`), in code that no exception interrupts: so each pair
has as many seconds of the processor as the first argument says, after which the kernel ends
this process, and whoever started it starts another.
"""

from __future__ import annotations

import json
import logging
import math
import os
import resource
import signal
import sys
import time
import warnings
from typing import Any

MEMORY_BYTES = 2 << 30
_ROUNDING = 6


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.disable()
    warnings.simplefilter("ignore")

    from importlib.metadata import version

    import math_verify  # noqa: F401 - its import is what takes long

    _reply(replies, {"version": version("math-verify")})
    for line in sys.stdin:
        _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + int(sys.argv[1]))
        _reply(replies, {"equal": _equal(json.loads(line))})


def _equal(pair: dict[str, Any]) -> bool | None:
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

    # The pieces of LaTeX that could not be read are no numbers to fall back on.
    latex = [LatexExtractionConfig()]
    searched = [*latex, ExprExtractionConfig()] if pair["search"] else latex
    try:
        gold = parse(pair["gold"], latex, parsing_timeout=None)
        answer = parse(pair["answer"], searched, parsing_timeout=None)
        same = verify(
            gold,
            answer,
            float_rounding=_ROUNDING,
            strict=pair["strict"],
            allow_set_relation_comp=True,
            timeout_seconds=None,
        )
    except (ArithmeticError, MemoryError, RecursionError, ValueError):
        return None
    return bool(same)


def _limit(kind: int, soft: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _reply(replies: Any, said: dict[str, Any]) -> None:
    replies.write(json.dumps(said) + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
