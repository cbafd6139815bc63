"""Whether programs can be run here, and what keeps them in."""

from __future__ import annotations

from evalkit.errors import SandboxError, UsageError
from evalkit.results import Threat
from evalkit.scoring.sandbox import layers
from evalkit.stages.plan import Plan


def require_sandbox(plan: Plan) -> None:
    """Refuse to ask for programs that could not be run safely.

    Raises:
        UsageError: When the plan has programs, and nothing safe works here.
    """
    if any(taskset.code for taskset in plan.tasksets):
        require_layers()


def require_layers() -> None:
    """Refuse to run programs where nothing safe works.

    Raises:
        UsageError: Says what is missing.
    """
    try:
        layers()
    except SandboxError as error:
        raise UsageError(error.message, hint=error.hint) from error


def sandbox_layers(plan: Plan) -> tuple[str, ...]:
    """Return the layers that kept a plan's programs in; nothing where none could run."""
    if not any(taskset.code for taskset in plan.tasksets):
        return ()
    try:
        return layers()
    except SandboxError:
        return ()


def sandbox_threat(plan: Plan) -> tuple[Threat, ...]:
    """Return a warning where programs ran in less than the full sandbox."""
    found = sandbox_layers(plan)
    if not found or found[0] == "bubblewrap":
        return ()
    return (Threat("SANDBOX", "warn", {"sandbox": found[0], "layers": ", ".join(found[1:])}),)
