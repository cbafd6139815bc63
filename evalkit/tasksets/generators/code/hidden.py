"""Hidden tests for a problem: its edges, random inputs, and whatever tells slips apart.

References and slips are evalkit's own and are run here, in this process; what a model
writes never is.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from evalkit.tasksets.generators.code.inputs import draw
from evalkit.tasksets.generators.code.problem import Problem

_RANDOM = 8
_TRIES = 400
_SHOWN_CHARACTERS = 70


@dataclass(frozen=True, slots=True)
class Tests:
    """Calls with their results.

    Attributes:
        hidden: What decides.
        shown: Examples for the prompt; no hidden test has the same arguments.
        wrong: The slips that the hidden tests catch.
    """

    hidden: tuple[tuple[list[Any], Any], ...]
    shown: tuple[tuple[list[Any], Any], ...]
    wrong: tuple[str, ...]


def make_tests(problem: Problem, rng: random.Random, shown: int) -> Tests:
    """Make tests that the reference passes and every slip fails, if inputs for that are found."""
    right = _function(problem.reference, problem.function)
    slips = [(source, _function(source, problem.function)) for source in problem.wrong]
    calls: dict[str, list[Any]] = {}
    for arguments in (*problem.edges, *(_inputs(problem, rng) for _ in range(_RANDOM))):
        calls.setdefault(repr(arguments), arguments)
    caught = []
    for source, slip in slips:
        telling = next(
            (a for a in _candidates(problem, rng, calls) if not _agree(right, slip, a)), None
        )
        if telling is not None:
            calls.setdefault(repr(telling), telling)
            caught.append(source)
    return Tests(
        tuple((arguments, _call(right, arguments)) for arguments in calls.values()),
        _examples(problem, right, rng, calls, shown),
        tuple(caught),
    )


def _inputs(problem: Problem, rng: random.Random) -> list[Any]:
    return [draw(kind, rng, problem.parameters) for kind in problem.arguments.values()]


def _candidates(
    problem: Problem, rng: random.Random, calls: dict[str, list[Any]]
) -> Sequence[list[Any]] | Any:
    yield from list(calls.values())
    for _ in range(_TRIES):
        yield _inputs(problem, rng)


def _examples(
    problem: Problem,
    right: Callable[..., Any],
    rng: random.Random,
    calls: dict[str, list[Any]],
    shown: int,
) -> tuple[tuple[list[Any], Any], ...]:
    """Draw examples that are not among the tests, and not all with one result."""
    found: dict[str, tuple[list[Any], Any]] = {}
    results = set[str]()
    for attempt in range(_TRIES):
        arguments = _inputs(problem, rng)
        key, result = repr(arguments), _call(right, arguments)
        fits = len(key) + len(repr(result)) <= _SHOWN_CHARACTERS
        if key in calls or key in found or not fits:
            continue
        if repr(result) in results and attempt < _TRIES // 2:
            continue
        found[key] = (arguments, result)
        results.add(repr(result))
        if len(found) == shown:
            break
    return tuple(found.values())


def _function(source: str, name: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(compile(source, f"{name}.py", "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


def _call(function: Callable[..., Any], arguments: list[Any]) -> Any:
    return function(*copy.deepcopy(arguments))


def _agree(right: Callable[..., Any], slip: Callable[..., Any], arguments: list[Any]) -> bool:
    # A slip may fail in any way that Python's own operations fail in.
    with suppress(ArithmeticError, LookupError, TypeError, ValueError, AttributeError, NameError):
        return bool(_call(right, arguments) == _call(slip, arguments))
    return False
