"""llama.cpp's HTTP server inside this process, on the loopback address.

Found out about xllamacpp 2026.10, and why the code is as it is:

- Starting and stopping hold Python's lock from beginning to end, and stopping waits for
  ever when the server's main loop does not run yet or a request is being worked on. An
  answer of `/slots`, which passes through that loop, shows that stopping is safe.
- It does not notice that a client has gone away and works on for nobody. An engine that
  does so is left alone: the end of the process ends it too.
- Threads that wait for each other spin. When something else wants a core, requests then
  stand still for minutes (16 short prompts: over 120 s; 15 to 19 s when they sleep instead,
  on two cores under load). So they sleep, unless the user's environment says otherwise.
- Numbers change a little with what is computed together and with the prefix that a slot
  still holds, so that greedy texts depend on the moment (of 60 texts of q8, up to 7). One
  slot and no such prefix make them depend on the prompt alone.
- At `verbosity = -1` it is silent, also about why a model does not load. Another process
  loads it once more then, and is listened to.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import importlib.util
import json
import logging
import os
import platform
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.endpoints.weights import INSTALL
from evalkit.errors import MissingExtraError, ServerError

DRAFT_TOKENS = 4

_SILENT, _ERRORS = -1, 1
_READY_SECONDS, _IDLE_SECONDS, _EXPLAIN_SECONDS = 60.0, 5.0, 120.0
_POLL_SECONDS = 0.05
_ERROR_LINE = " E "

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How to serve a file.

    Attributes:
        path: A GGUF file.
        alias: Name of the model in the API.
        threads: For computing; more than there are cores makes it stall.
        slots: Requests that are worked on at the same time.
        context: Tokens of each slot.
        port: 0 lets the system choose.
        log_path: Where the engine's words go when it does not start.
        draft: A smaller model of the same tokenizer, which guesses ahead (speculative
            decoding); `None` for none.
        draft_tokens: How many tokens it guesses at most.
    """

    path: Path
    alias: str
    threads: int
    slots: int
    context: int
    port: int = 0
    log_path: Path | None = None
    draft: Path | None = None
    draft_tokens: int = DRAFT_TOKENS


class Engine:
    """A running server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url: str = server.listening_address

    @classmethod
    def start(cls, options: EngineOptions) -> Engine:
        """Load a model and serve it. It blocks until the first request could be answered.

        Raises:
            MissingExtraError: When its package cannot be imported.
            ServerError: When it does not load, with the engine's reason.
        """
        try:
            engine = cls(_server(options, _SILENT))
        except RuntimeError as error:
            drafted = "" if options.draft is None else f" with the draft {options.draft}"
            raise ServerError(
                f"{options.path}{drafted} cannot be served by llama.cpp: {_reason(options)}."
            ) from error
        try:
            _await_slots(engine.url, idle=False, seconds=_READY_SECONDS)
        except ServerError:
            _never_free(engine._server)
            raise
        return engine

    def stop(self) -> None:
        """Stop serving and free the model's memory. It may be called twice.

        Connections must be closed before: it waits until nothing is worked on any more. An
        engine that does not become idle is left alone until this process ends.
        """
        server, self._server = self._server, None
        if server is None:
            return
        try:
            _await_slots(self.url, idle=True, seconds=_IDLE_SECONDS)
        except ServerError as error:
            _log.info("%s It ends with this process.", error.message)
            _never_free(server)
        del server
        gc.collect()


def _await_slots(url: str, *, idle: bool, seconds: float) -> None:
    """Wait until the main loop answers, and until no slot is at work if `idle`.

    Raises:
        ServerError: When that does not come about in time.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + seconds
    while True:
        reason: object = "it is still at work"
        try:
            with opener.open(f"{url}/slots", timeout=seconds) as response:
                slots = json.load(response)
            if not idle or not any(slot["is_processing"] for slot in slots):
                return
        except OSError as error:
            reason = error
        if time.monotonic() > deadline:
            raise ServerError(f"llama.cpp at {url} does not become ready: {reason}.")
        time.sleep(_POLL_SECONDS)


def _never_free(server: object) -> None:
    # Freeing it would stop this process, Python's lock in hand; also at the very end.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


def require_engine() -> None:
    """Make sure that the engine's package is there, without loading it.

    Raises:
        MissingExtraError: When it is not.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtraError("The local endpoint", INSTALL)


def engine_version() -> str:
    """Return the version of the engine's package (its own build number is not filled in)."""
    return importlib.metadata.version("xllamacpp")


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def hardware() -> str:
    """Return what the engine computes on: the processor's name and the cores it may use."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            name = value.strip()
            break
    return f"{name}, {available_cores()} cores"


def _server(options: EngineOptions, verbosity: int) -> Any:
    # Read once, when the engine's OpenMP library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtraError("The local endpoint", INSTALL) from error
    params = xllamacpp.CommonParams()
    params.verbosity = verbosity
    params.model.path = str(options.path)
    params.model_alias = {options.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_parallel = options.slots
    params.n_ctx = options.slots * options.context
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.endpoint_props = True
    params.endpoint_slots = True
    params.endpoint_metrics = True
    params.ui = False
    params.warmup = False
    params.fit_params = False
    params.cache_prompt = False
    params.cache_ram_mib = 0
    if options.draft is not None:
        _speculate(params, options.draft, options)
    return xllamacpp.Server(params)


def _speculate(params: Any, draft: Path, options: EngineOptions) -> None:
    import xllamacpp

    kinds = xllamacpp.common_speculative_type
    speculative = params.speculative
    speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
    speculative.draft.mparams.path = str(draft)
    speculative.draft.n_max = options.draft_tokens
    speculative.draft.cpuparams.n_threads = options.threads
    speculative.draft.cpuparams_batch.n_threads = options.threads


def _reason(options: EngineOptions) -> str:
    """Let another process load the model, and return why it cannot."""
    command = [sys.executable, "-m", "evalkit.endpoints.serve", str(options.path), "--explain"]
    if options.draft is not None:
        command += ["--draft", str(options.draft)]
    try:
        heard = subprocess.run(command, capture_output=True, timeout=_EXPLAIN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "it does not say why"
    lines = heard.stderr.decode("utf-8", "replace").splitlines()
    if options.log_path is not None:
        with options.log_path.open("a", encoding="utf-8") as log:
            log.writelines(f"llama.cpp: {line}\n" for line in lines)
    said = [line.partition(_ERROR_LINE)[2].strip() for line in lines if _ERROR_LINE in line]
    return said[0] if said else "it does not say why"


def explain(path: Path, draft: Path | None) -> None:
    """Load a model with llama.cpp's errors on stderr, and end this process."""
    options = EngineOptions(path, "explain", threads=1, slots=1, context=256, draft=draft)
    try:
        _server(options, _ERRORS)
    except RuntimeError:
        # What was said is written by a thread; a normal exit waits for it.
        sys.exit(1)
    os._exit(0)
