"""Why a server ended: one sentence from its exit code and the end of its log.

The log is hostile input: it is searched, shortened and cleaned, and nothing else.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

SHOWN = 240
_LONGEST = 4000

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
# What loggers put before a line: vLLM's process, level, time and module; uvicorn's level.
_PREFIX = re.compile(
    r"^\s*(?:\([\w -]+ pid=\d+\)\s*)?"
    r"(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):?\s+)?"
    r"(?:\d{2,4}-\d\d(?:-\d\d)?[ T][\d:.,]+\s*)?"
    r"(?:\[[\w./-]+:\d+\]\s*)?"
)
_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|NotFound|OutOfMemory)"
    r"(?::\s.+)?$"
)
# Said by the process that noticed, not by the one that failed.
_SECOND_HAND = re.compile(
    r"EngineDeadError|(?:see|check) (?:the )?(?:root cause|stack trace)"
    r"|Engine core initialization failed|EngineCore encountered"
    r"|^KeyboardInterrupt|^SystemExit|^asyncio\.\w*CancelledError|^(?:\w+\.)*ChildFailedError"
    r"|WorkerProc initialization failed",
    re.IGNORECASE,
)
_VALIDATION = re.compile(r"\d+ validation errors? for ")
_ERROR_WORD = re.compile(r"\b(?:error|fatal|failed|cannot|unable|invalid)\b|错误", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a server ended.

    Attributes:
        text: Goes on after a colon; without a full stop.
        hint: What to do, where that is known.
        port_taken: Whether another port would help.
    """

    text: str
    hint: str | None = None
    port_taken: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    pattern: re.Pattern[str]
    hint: str
    port_taken: bool = False


def _known(pattern: str, hint: str, *, port_taken: bool = False) -> _Known:
    return _Known(re.compile(pattern, re.IGNORECASE), hint, port_taken)


_KNOWN = (
    _known(
        r"address already in use|errno 98\b|couldn't bind|could not bind|failed to bind"
        r"|port \d+ is (?:already )?in use|EADDRINUSE",
        "Write {port} where the command takes its port, or choose another port.",
        port_taken=True,
    ),
    _known(
        r"CUDA out of memory|OutOfMemoryError|CUDA error: out of memory|cudaErrorMemoryAllocation"
        r"|HIP out of memory|failed to allocate .*buffer|unable to allocate .*buffer"
        r"|No available memory for the cache blocks|DefaultCPUAllocator: can't allocate",
        "Free the device, or give the server less: a shorter context, fewer sequences, "
        "a lower --gpu-memory-utilization.",
    ),
    _known(
        r"Free memory on device .* is less than desired",
        "Something else uses the device: stop it, or lower --gpu-memory-utilization.",
    ),
    _known(
        r"larger than the (?:maximum|available) .*KV cache|KV cache is needed, which is larger",
        "Lower --max-model-len (for every arm alike), or give the KV cache more memory.",
    ),
    _known(
        r"is not a local folder and is not a valid model|RepositoryNotFound|Repository Not Found"
        r"|Repo id must be|does not appear to have a file named|LocalEntryNotFound"
        r"|failed to open GGUF file|No such file or directory: '[^']*config\.json'"
        r"|Invalid repository ID or local directory|is neither one of .* nor a file",
        "Check the model's name or path in the command.",
    ),
    _known(
        r"gated repo|awaiting a review|Access to model .* is restricted|401 Client Error",
        "Accept the model's terms on the hub, and set HF_TOKEN.",
    ),
    _known(
        r"couldn't connect to '?https?://|Network is unreachable|Name or service not known"
        r"|Temporary failure in name resolution|OfflineModeIsEnabled",
        "Download the model beforehand and name its folder in the command.",
    ),
    _known(
        r"ModuleNotFoundError|No module named|PackageNotFoundError|ImportError",
        "Install it in the environment that the command uses.",
    ),
    _known(
        r"unrecognized arguments?|error: argument |invalid argument:|unknown (?:option|argument)"
        r"|unexpected argument|No such option",
        "Check the options of the command.",
    ),
    _known(
        r"Unknown quantization method|quantization method .* (?:is not|isn't) supported"
        r"|not supported for the current GPU|minimum capability|does not match the quantization",
        "This engine or device cannot serve that quantization.",
    ),
    _known(
        r"has no attribute '[\w.]*(?:gemm|marlin|awq|gptq|fp8|int8|wna16|cutlass)[\w.]*'"
        r"|no kernel image is available|undefined symbol|is not implemented for",
        "This engine has no kernel for that quantization on this machine.",
    ),
)  # fmt: skip

_SIGNALS = {
    signal.SIGKILL: (
        "killed (signal 9), as the system does when memory runs out",
        "See dmesg for 'Out of memory'; give the server less, or the machine more.",
    ),
    signal.SIGILL: (
        "illegal instruction (signal 4): it was built for another CPU",
        "Install a build for this CPU.",
    ),
    signal.SIGSEGV: ("segmentation fault (signal 11)", None),
    signal.SIGBUS: ("bus error (signal 7); shared memory may be too small", "Enlarge /dev/shm."),
    signal.SIGABRT: ("abort (signal 6)", None),
    signal.SIGTERM: ("told to end (signal 15) by somebody else", None),
}
# No program says anything after these, so that its last words are about something else.
_SUDDEN = ("killed", "illegal instruction", "segmentation", "bus error")
_SHELL_SIGNAL = 128
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


def reason_of(lines: Sequence[str], exit_code: int | None) -> Reason:
    """Say why a server ended, or fails.

    Args:
        lines: The end of its log.
        exit_code: As Python gives it, negative for a signal; `None` while it runs.
    """
    shown = [line for line in map(clean, lines) if line]
    ended = _ending(exit_code)
    if ended is not None and ended.text.startswith(_SUDDEN):
        return ended
    # What was overcome stands in a log too, as a warning: the exception comes first.
    said = _root(shown)
    if said is None:
        said = next(filter(None, (_last(known.pattern, shown) for known in _KNOWN)), None)
    if said is not None:
        known = next((known for known in _KNOWN if known.pattern.search(said)), None)
        if known is None:
            return Reason(_quote(said))
        return Reason(_quote(said), known.hint, known.port_taken)
    how = "it still runs" if exit_code is None else f"exit code {exit_code}"
    how = how if ended is None else ended.text
    said = _last(_ERROR_WORD, shown) or (shown[-1] if shown else None)
    text = f"{how}; its log ends with {_quote(said)}" if said else f"{how}, without a word"
    return Reason(text, None if ended is None else ended.hint)


def clean(line: str) -> str:
    """Return a line of a log without colours, control characters and its logger's prefix."""
    # Progress bars overwrite their line.
    plain = _CONTROL.sub("", line.rstrip("\r\n").rpartition("\r")[2][:_LONGEST])
    return " ".join(_PREFIX.sub("", plain, count=1).split())


def _root(lines: Sequence[str]) -> str | None:
    """Return the last exception that is not another one's echo."""
    found = [index for index, line in enumerate(lines) if _EXCEPTION.match(line)]
    first_hand = [index for index in found if not _SECOND_HAND.search(lines[index])]
    if not found:
        return None
    index = (first_hand or found)[-1]
    # pydantic's own line says only that something is wrong, the next one says what.
    more = lines[index + 1 : index + 2] if _VALIDATION.search(lines[index]) else ()
    return " ".join((lines[index], *more))


def _last(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    return next((line for line in reversed(lines) if pattern.search(line)), None)


def _ending(exit_code: int | None) -> Reason | None:
    if exit_code is None:
        return None
    if exit_code == _NOT_FOUND:
        return Reason(
            "exit code 127: a command in it is not found", "Install it, or give its path."
        )
    if exit_code == _NOT_EXECUTABLE:
        return Reason("exit code 126: a command in it cannot be executed")
    # A shell, or a wrapper such as docker, tells a signal as 128 + its number.
    number = -exit_code if exit_code < 0 else exit_code - _SHELL_SIGNAL
    if number <= 0:
        return None
    try:
        known = signal.Signals(number)
    except ValueError:
        return Reason(f"signal {number}") if exit_code < 0 else None
    text, hint = _SIGNALS.get(known, (f"{known.name} (signal {number})", None))
    return Reason(text, hint)


def _quote(text: str) -> str:
    text = text if len(text) <= SHOWN else text[: SHOWN - 2] + " …"
    return f"'{text}'"
