"""What an endpoint is, and how a name on the command line becomes one."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from evalkit.endpoints.urls import is_url, split_target, url_name
from evalkit.errors import ConfigError, UnknownNameError, UsageError
from evalkit.registry import Registry
from evalkit.types import Identity, Message, Reply, Sampling

SERVER_LOG = "server.log"
"""In a run folder: what a server that evalkit launched has said."""

LOCAL_ARMS = ("f16", "q8", "q4", "rtn4", "rtn3", "rtn2")
"""Quantizations of the embedded model, from safest to most damaged."""


class Answers(Protocol):
    """Something that answers, for as long as somebody else keeps it open."""

    @property
    def name(self) -> str:
        """Short and safe as a file name."""

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask once, without any retry.

        Raises:
            EndpointError: A subclass that says what went wrong. An error text is never
                returned as an answer.
        """


class Endpoint(Answers, Protocol):
    """Something that answers. It is used inside `async with`."""

    @property
    def label(self) -> str:
        """What it is, for human readers; never claims more than is known."""

    async def __aenter__(self) -> Self:
        """Open connections, or start the engine."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release everything that `__aenter__` took."""

    async def identity(self) -> Identity:
        """Find out what answers here. Equal for equal endpoints: no times in it.

        Raises:
            EndpointError: When it cannot be reached, refuses the key, or does not
                serve the model.
        """


@runtime_checkable
class Inspectable(Protocol):
    """An endpoint that lets single requests of any form through, for the preflight."""

    def body(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        """Return the JSON that `send` would post."""

    async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
        """Get a page of the server, or post to it; return status and body, whatever they are.

        Args:
            page: A path below the server's root; empty for where requests go.
            data: What to post; `None` gets the page.

        Raises:
            EndpointError: When there is no whole response.
        """

    def leave_out(self, fields: Collection[str]) -> None:
        """Send these sampling fields no more, because the server refuses them."""

    def scrub(self, text: str) -> str:
        """Take the endpoint's secrets out of what a server said."""


@dataclass(frozen=True, slots=True)
class TimedReply:
    """A streamed reply with its clock.

    Attributes:
        reply: What was answered.
        texts: When each part with text came, by `time.perf_counter`; empty when it was not
            streamed.
        ended: When it was complete.
        sizes: Characters of each of those parts; empty where they are not told.
    """

    reply: Reply
    texts: tuple[float, ...]
    ended: float
    sizes: tuple[int, ...] = ()


@runtime_checkable
class Timed(Protocol):
    """An endpoint that tells when each part of an answer came."""

    async def send_timed(
        self, messages: tuple[Message, ...], sampling: Sampling, extra: Mapping[str, Any]
    ) -> TimedReply:
        """Ask once, as a stream whether or not that is configured, without any retry.

        Args:
            messages: The prompt.
            sampling: How to sample.
            extra: Further fields of the body, e.g. `ignore_eos`; `None` leaves one out.

        Raises:
            EndpointError: See `Answers.send`.
        """


@runtime_checkable
class Several(Protocol):
    """An endpoint of several servers, each with pages of its own."""

    @property
    def servers(self) -> Sequence[Inspectable]:
        """All of them, always in the same order."""


@runtime_checkable
class Launched(Protocol):
    """An endpoint whose server evalkit starts, which takes minutes and a whole device."""

    @property
    def deaths(self) -> tuple[str, ...]:
        """Why the server ended in the middle of work, each time since it was entered."""

    def command_hash(self) -> str:
        """Hash what decides what is served, without starting it."""


@runtime_checkable
class Listening(Protocol):
    """An endpoint whose server evalkit started on this machine."""

    @property
    def port(self) -> int | None:
        """Where it listens; `None` while it does not run."""


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """What the caller decides for every endpoint alike.

    Attributes:
        max_connections: Requests in flight at most.
        connect_timeout: Seconds until a connection must stand.
        first_byte_timeout: Seconds from the start of an attempt until the answer begins;
            `None`: as long as the whole, since a server that does not stream says nothing
            before it has finished.
        idle_timeout: Seconds between two parts of an answer.
        request_timeout: Seconds for one attempt, everything included.
        log_path: Where an engine that evalkit runs itself writes its log.
        notify: Told in a sentence about what takes long (making weights, say).
        redact: Whether what a server says may hold prompts that nobody else may read.
    """

    max_connections: int = 4
    connect_timeout: float = 10.0
    first_byte_timeout: float | None = None
    idle_timeout: float = 120.0
    request_timeout: float = 300.0
    log_path: Path | None = None
    notify: Callable[[str], None] | None = None
    redact: bool = False


_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")

EndpointFactory = Callable[[str, Mapping[str, Any], EndpointOptions], Endpoint]

ENDPOINTS: Registry[EndpointFactory] = Registry(
    "kind of endpoint",
    {
        "openai": "evalkit.endpoints.openai",
        "local": "evalkit.endpoints.local",
        "launch": "evalkit.endpoints.launch",
        "vllm": "evalkit.endpoints.offline",
    },
)


def parse_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> Endpoint:
    """Make an endpoint from its configuration.

    Args:
        name: Its name in the configuration or from `resolve_target`.
        raw: The configuration, with `kind` and what that kind knows.
        options: What the caller decides for every endpoint.

    Raises:
        ConfigError: Naming endpoint and key, with a suggestion for a misspelt one.
        MissingExtraError: When the kind needs a package that is not installed.
    """
    kind = raw.get("kind")
    if not isinstance(kind, str):
        known = ", ".join(ENDPOINTS)
        raise ConfigError(f"Endpoint '{name}' has no kind.", hint=f"Known: {known}.")
    try:
        factory = ENDPOINTS.get(kind)
    except UnknownNameError as error:
        raise ConfigError(f"Endpoint '{name}': {error.message}", hint=error.hint) from error
    return factory(name, raw, options)


def is_checkpoint(model: object) -> bool:
    """Whether the model of `kind: local` is one of transformers: a folder, or a hub's name."""
    if not isinstance(model, str) or model.endswith(".gguf") or Path(model).is_file():
        return False
    return Path(model).expanduser().is_dir() or _HUB_NAME.fullmatch(model) is not None


def starts_process(raw: Mapping[str, Any]) -> bool:
    """Whether evalkit starts a process for an endpoint: one at a time, they share a device."""
    kind = raw.get("kind")
    return kind in ("launch", "vllm") or (kind == "local" and is_checkpoint(raw.get("model")))


def resolve_target(
    target: str, configured: Mapping[str, Mapping[str, Any]]
) -> tuple[str, Mapping[str, Any]]:
    """Turn an argument of the command line into an endpoint's name and configuration.

    Understood, in this order: the name of a configured endpoint, a quantization of the
    embedded model (`q8`), one with another that drafts for it (`f16+q4`), `URL#model`, the
    path of a GGUF file or of a checkpoint's folder.

    Returns:
        The name, safe as a file name and without credentials, and the configuration, which
        may hold credentials of the URL: it is for `parse_endpoint` and nobody else.

    Raises:
        UnknownNameError: With the nearest known names.
        UsageError: For a URL without a model, and for a path that is no endpoint.
    """
    if target in configured:
        return target, configured[target]
    if target in LOCAL_ARMS:
        return target, {"kind": "local", "model": target}
    model, plus, draft = target.partition("+")
    if plus and model in LOCAL_ARMS and draft in LOCAL_ARMS:
        return target, {"kind": "local", "model": model, "draft": draft}
    if is_url(target):
        base_url, model = split_target(target)
        raw = {"kind": "openai", "base_url": base_url, "model": model}
        return url_name(base_url, model), raw
    if target.endswith(".gguf") and Path(target).is_file():
        return _file_name(Path(target)), {"kind": "local", "model": target}
    if (Path(target) / "config.json").is_file():
        return _file_name(Path(target).resolve()), {"kind": "local", "model": target}
    if "@" in target and not Path(target).exists():
        raise UsageError(
            "An endpoint that is named with an @ is no address: http:// or https:// is missing.",
            hint="Write https://HOST#MODEL; a key belongs into an environment variable.",
        )
    _refuse_path(target)
    raise UnknownNameError("endpoint", target, {*configured, *LOCAL_ARMS})


def _refuse_path(target: str) -> None:
    """Say what is wrong with a path, where an argument is meant as one."""
    path = Path(target)
    if path.is_dir():
        raise _not_a_run(target, path)
    if path.is_file():
        raise UsageError(
            f"'{target}' is a file, but no .gguf file.",
            hint="Name a .gguf file, a run folder, an endpoint, or a log of another tool as "
            "docs/importing.md describes them.",
        )
    if target.endswith(".gguf") or os.sep in target:
        raise UsageError(f"'{target}' does not exist.")


def _not_a_run(target: str, folder: Path) -> UsageError:
    if (folder / "comparison.json").is_file():
        runs = sorted(header.parent.name for header in folder.glob("runs/*/header.json"))
        return UsageError(
            f"'{target}' is a comparison; its runs are in {folder / 'runs'} "
            f"({', '.join(runs) if runs else 'none'})."
        )
    if (folder / "completions.jsonl").is_file():
        return UsageError(
            f"'{target}' is a run folder without its header.json, so nobody knows who answered.",
            hint="Name the endpoint instead, to ask again.",
        )
    return UsageError(
        f"'{target}' is not a run folder (no header.json), and no log that is known.",
        hint="docs/importing.md says which logs of other tools are read.",
    )


def _file_name(path: Path) -> str:
    # Two files of the same name in two folders are the usual way to keep quantizations.
    mark = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:6]
    return f"{path.name if path.is_dir() else path.stem}-{mark}"
