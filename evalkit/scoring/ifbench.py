"""Scores answers to IFBench's instructions by its authors' own checkers (`if-verifiable`).

The target is that of `instructions`, and so is the rule: correct when every instruction is
followed as it stands (prompt-level, strict); the loose reading, which IFBench's paper prints,
goes into the explanation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from evalkit.errors import MissingExtraError, ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.following import judge_following
from evalkit.types import Sample

INSTALL = "pip install 'quant-evalkit[ifbench]'"
# What a checker raises on an answer that it did not expect: it is then not followed.
_SURPRISES = (ValueError, IndexError, KeyError, TypeError, AttributeError, ZeroDivisionError)


@cache
def _checkers() -> dict[str, Any]:
    """Load the checkers without what they would download when they are imported.

    Raises:
        MissingExtraError: When the package is not installed.
    """
    try:
        import nltk
    except ImportError:
        raise MissingExtraError("The scorer 'ifbench'", INSTALL) from None
    download = nltk.download
    nltk.download = lambda *_, **__: True
    try:
        from if_verifiable.ifbench.instructions_registry import INSTRUCTION_DICT
    except ImportError:
        raise MissingExtraError("The scorer 'ifbench'", INSTALL) from None
    finally:
        nltk.download = download
    found: dict[str, Any] = INSTRUCTION_DICT
    return found


def _follows(instruction_id: str, text: str, kwargs: Any) -> bool:
    made = _checkers().get(instruction_id)
    if made is None:
        raise ScoringError(f"Unknown instruction '{instruction_id}'.")
    checker = made(instruction_id)
    given = {name: value for name, value in kwargs.items() if value is not None}
    try:
        checker.build_description(**given)
    except _SURPRISES as error:
        raise ScoringError(f"Instruction '{instruction_id}': bad arguments: {error!r}.") from error
    try:
        return bool(text.strip()) and bool(checker.check_following(text))
    except _SURPRISES:
        return False


@dataclass(frozen=True, slots=True)
class IFBenchScorer:
    """Correct when every instruction is followed."""

    name: str = "ifbench"
    version: int = 1

    def require(self) -> None:
        """Load the checkers.

        Raises:
            MissingExtraError: When they are not installed.
        """
        _checkers()

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer.

        Raises:
            MissingExtraError: When the checkers are not installed.
            ScoringError: When the target is malformed.
        """
        return judge_following(sample, text, _follows)


SCORERS.register("ifbench")(IFBenchScorer())
