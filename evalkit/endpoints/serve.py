"""The local engine as a plain HTTP server: `python -m evalkit.endpoints.serve q8 --port 8101`.

For trying `URL#model`, and for tests. It prints its URL when it is ready and stops on
SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from evalkit.endpoints.base import LOCAL_ARMS, EndpointOptions
from evalkit.endpoints.engine import (
    DRAFT_TOKENS,
    Engine,
    EngineOptions,
    available_cores,
    explain,
    require_engine,
)
from evalkit.endpoints.local import find_weights
from evalkit.endpoints.ports import require_port
from evalkit.errors import EvalKitError, ExitCode


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until a signal comes, and then end this process.

    Returns:
        An exit code of `evalkit.errors.ExitCode`, when there is nothing to serve.
    """
    signals = {signal.SIGINT, signal.SIGTERM}
    # Before the engine's threads start, so that they inherit it and none of them is hit.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    arguments = _parser().parse_args(argv)
    if arguments.explain:
        explain(Path(arguments.model), Path(arguments.draft) if arguments.draft else None)
    options = EndpointOptions(notify=lambda text: _say(sys.stderr, text))
    try:
        # llama.cpp does not say when it cannot listen.
        require_port(arguments.port)
        require_engine()
        weights = find_weights(arguments.model, options)
        draft = find_weights(arguments.draft, options) if arguments.draft else None
        engine = Engine.start(
            EngineOptions(
                path=weights.path,
                alias=arguments.alias or arguments.model,
                threads=arguments.threads,
                slots=arguments.slots,
                context=arguments.context,
                port=arguments.port,
                draft=None if draft is None else draft.path,
                draft_tokens=arguments.draft_tokens,
            )
        )
    except EvalKitError as error:
        _say(sys.stderr, str(error))
        return error.exit_code
    _say(sys.stdout, engine.url)
    signal.sigwait(signals)
    # Stopping in good order would wait for answers that clients still listen to.
    os._exit(ExitCode.OK)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evalkit.endpoints.serve", description=__doc__)
    parser.add_argument("model", help=f"{', '.join(LOCAL_ARMS)}, or a GGUF file")
    parser.add_argument("--port", type=int, default=0, help="default: any free port")
    parser.add_argument("--alias", help="name of the model in the API; default: MODEL")
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument(
        "--slots", type=int, default=1, help="requests at once; more than 1 changes texts a little"
    )
    parser.add_argument("--context", type=int, default=4096, help="tokens of each slot")
    parser.add_argument("--draft", help="a smaller model that guesses ahead: speculative decoding")
    parser.add_argument(
        "--draft-tokens",
        type=int,
        choices=range(1, 65),
        metavar="N",
        default=DRAFT_TOKENS,
        help="how many tokens it guesses at most",
    )
    parser.add_argument("--explain", action="store_true", help="only say why it does not load")
    return parser


def _say(stream: TextIO, text: str) -> None:
    stream.write(text + "\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
