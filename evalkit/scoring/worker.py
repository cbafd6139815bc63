"""A process that scores: pickles of samples and completions in, of scores out.

It is started by `stages.scoring_pool`, reads from the pipe of who started it and nothing
else, and ends when that pipe does.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import BinaryIO

from evalkit.errors import ScoringError
from evalkit.scoring.judging import judge_all


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Score what comes until nothing more does.

    Args:
        source: The scorers by taskset, then pairs of samples and completions.
        sink: For each pair the list of scores, or the `ScoringError` in its place.
    """
    scorers = pickle.load(source)
    while True:
        try:
            samples, completions = pickle.load(source)
        except EOFError:
            return
        try:
            answer: object = list(judge_all(samples, completions, scorers.__getitem__))
        except ScoringError as error:
            answer = error
        pickle.dump(answer, sink)
        sink.flush()


def main() -> None:
    """Serve on the standard streams; whatever prints goes to the errors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
