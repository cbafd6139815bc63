"""Every error that a user can meet, with its exit code.

    EvalKitError (1)
    ├── UsageError (2)
    │   ├── ConfigError
    │   ├── UnknownNameError      with suggestions
    │   ├── MissingExtraError     with the install line
    │   ├── TasksetError
    │   └── LogError
    ├── StoreError (2)
    │   ├── RunLocked
    │   └── FingerprintMismatch
    ├── InvalidComparison (5)
    │   └── IdentityChanged
    ├── NotReleased (3, 4 or 5: that of the verdict)
    ├── Interrupted (130)
    ├── EndpointError (5)
    │   ├── retryable: ConnectError, Timeout, RateLimited, ServerError, CutBody, ProtocolError
    │   └── terminal:  AuthError, CertificateError, NotFoundError, LaunchError,
    │                  UnsupportedError, BadRequest, ContextLengthError
    └── ScoringError (1)
        └── SandboxError

The message says what is wrong, the hint says what to do. Only the command line catches
these; a failed request never raises past the runner, it becomes part of the run.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ExitCode:
    """Exit codes of every verb; documented in the README."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    HOLD = 3
    INCONCLUSIVE = 4
    INVALID = 5
    INTERRUPTED = 130


class EvalKitError(Exception):
    """An error with one clear sentence and a hint what to do."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class UsageError(EvalKitError):
    """The command or its arguments are off."""

    exit_code = ExitCode.USAGE


class ConfigError(UsageError):
    """The configuration is off; the message names file and key."""


class UnknownNameError(UsageError):
    """A name that is not known, with the nearest that are."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = (
            f"Did you mean {' or '.join(near)}?"
            if near
            else f"Known: {', '.join(names) if names else 'none'}."
        )
        super().__init__(f"Unknown {kind} '{name}'.", hint=hint)
        self.kind = kind
        self.name = name


class MissingExtraError(UsageError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, install: str) -> None:
        super().__init__(
            f"{feature} needs a package that is not installed.", hint=f"Run: {install}"
        )


class TasksetError(UsageError):
    """A taskset that cannot be used; the message names file and line."""


class LogError(UsageError):
    """Recorded work of another tool that cannot be used; the message names file and line."""


class StoreError(EvalKitError):
    """A run folder that cannot be read or written."""

    exit_code = ExitCode.USAGE


class RunLocked(StoreError):
    """Another process writes to this run folder."""


class FingerprintMismatch(StoreError):
    """A run folder holds answers of another endpoint or other settings."""


class InvalidComparison(EvalKitError):
    """The two arms cannot be compared."""

    exit_code = ExitCode.INVALID


class NotReleased(EvalKitError):
    """What was asked for belongs to a release, and the verdict lets none through."""

    def __init__(self, message: str, *, exit_code: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


class IdentityChanged(InvalidComparison):
    """An endpoint became another one in the middle of a run."""


class Interrupted(EvalKitError):
    """Stopped by a signal; the same command goes on where it was."""

    exit_code = ExitCode.INTERRUPTED


class EndpointError(EvalKitError):
    """An endpoint did not answer as it should.

    Attributes:
        retryable: Whether the same request may succeed later.
        status: HTTP status, if there was one.
        retry_after: Seconds that the server asked for.
    """

    exit_code = ExitCode.INVALID
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after


class ConnectError(EndpointError):
    """No connection, or it broke."""

    retryable = True


class Timeout(EndpointError):
    """A deadline passed."""

    retryable = True


class RateLimited(EndpointError):
    """429."""

    retryable = True


class ServerError(EndpointError):
    """5xx, or a 4xx that passes by itself (408, 409, 425)."""

    retryable = True


class CutBody(EndpointError):
    """A body that ended early or does not parse."""

    retryable = True


class AuthError(EndpointError):
    """401, 402 or 403: no further request makes sense."""


class CertificateError(EndpointError):
    """The server's certificate is not trusted: no further request makes sense."""


class NotFoundError(EndpointError):
    """404, 405 or 410: wrong path or unknown model; no further request makes sense."""


class UnsupportedError(EndpointError):
    """What is asked is nothing that this server does: no further request makes sense."""


class LaunchError(EndpointError):
    """A server that evalkit launched does not run: no further request makes sense."""


class BadRequest(EndpointError):
    """Another 4xx: this sample fails, the others go on."""


class ContextLengthError(BadRequest):
    """The prompt does not fit: a recorded error of that sample."""


class ProtocolError(EndpointError):
    """A 200 that is not an answer (error body, no choices).

    Gateways send it for what happened behind them, so that it may heal.
    """

    retryable = True


class ScoringError(EvalKitError):
    """A scorer failed."""


class SandboxError(ScoringError):
    """Code cannot be run safely."""
