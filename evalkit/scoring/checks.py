"""Checks of single instructions: the 25 of IFEval and those of our own."""

from __future__ import annotations

from evalkit.errors import ScoringError

# Importing a module of checks adds its checks.
from evalkit.scoring import checks_ifeval, checks_more  # noqa: F401
from evalkit.scoring.checks_base import CHECKS, Kwargs

__all__ = ["CHECKS", "Kwargs", "follows"]


def follows(instruction_id: str, text: str, kwargs: Kwargs) -> bool:
    """Say whether an answer follows one instruction. A blank answer follows none.

    Arguments that are `None` count as not given: some exports of IFEval name all of them.

    Raises:
        ScoringError: For an unknown id, or arguments that the check cannot use.
    """
    found = CHECKS.get(instruction_id)
    if found is None:
        raise ScoringError(f"Unknown instruction '{instruction_id}'.")
    given = {name: value for name, value in kwargs.items() if value is not None}
    try:
        return bool(text.strip()) and found(text, given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ScoringError(f"Instruction '{instruction_id}': bad arguments: {error!r}.") from error
