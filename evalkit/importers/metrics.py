"""Which of a tool's scores counts, and what a task measures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from evalkit.errors import UnknownNameError, UsageError
from evalkit.importers.base import Item, RecordedTask
from evalkit.importers.reading import number_of
from evalkit.types import Family

ALL: Final = "*"
"""Stands for every task in what a user wishes."""

_USUAL: Final = (
    "exact_match", "acc", "accuracy", "prompt_level_strict_acc", "prompt_level_strict", "pass@1",
    "pass_at_1", "correct", "is_correct", "pass", "mean_acc", "acc_norm", "em", "f1", "score",
)  # fmt: skip
# What shows skill where a task has several filters: a slip of format is no wrong result.
_FILTERS: Final = ("flexible-extract", "none")
_FAMILIES: Final = tuple(
    (re.compile(words, re.IGNORECASE), family)
    for words, family in (
        (r"humaneval|mbpp|code|bigcode|\bapps\b|ds1000|livebench_coding", Family.CODE),
        (r"if_?eval|ifbench|instruct|followbench|multi_?if", Family.INSTRUCTIONS),
        (r"gsm|math|aime|\bamc|minerva|svamp|asdiv|mawps|arithmetic|numina", Family.MATH),
        (
            r"long|niah|needle|ruler|babilong|scrolls|summar|xsum|cnn_dailymail|infinitebench",
            Family.LONGFORM,
        ),
        (
            r"fact|mmlu|arc_|arc-|hellaswag|truthful|trivia|simple_?qa|pop_?qa|natural_?q|nq_|gpqa"
            r"|c-?eval|cmmlu|boolq|piqa|siqa|winogrande|openbook|commonsense|sciq|squad|drop"
            r"|hallu|webqs|capital|race|agieval|bbh|web_?q|knowledge|qa\b",
            Family.FACTS,
        ),
    )
)
DEFAULT_FAMILY: Final = Family.INSTRUCTIONS


def family_of(task: RecordedTask, wished: Mapping[str, Family]) -> tuple[Family, bool]:
    """Return what a task measures, and whether that is only assumed.

    A wish comes first, then what the log says, then the name. A task of which nothing is known
    counts as `instructions`: it asks for something that its tool can check.
    """
    if task.name in wished or ALL in wished:
        return wished.get(task.name, wished.get(ALL, DEFAULT_FAMILY)), False
    if task.family is not None:
        return task.family, False
    for family in Family:
        if re.search(rf"(?:^|[^a-z]){family.value}(?:[^a-z]|$)", task.name, re.IGNORECASE):
            return family, False
    for pattern, family in _FAMILIES:
        if pattern.search(task.name):
            return family, False
    return DEFAULT_FAMILY, True


def usual_first(names: Iterable[str]) -> tuple[str, ...]:
    """Order the names of scores so that the one to be taken by default comes first.

    >>> usual_first(["f1", "exact_match,strict-match", "exact_match,flexible-extract"])[:2]
    ('exact_match,flexible-extract', 'exact_match,strict-match')
    """

    def rank(place_name: tuple[int, str]) -> tuple[int, int, int]:
        place, name = place_name
        metric, _, filtered = name.partition(",")
        usual = _USUAL.index(metric) if metric in _USUAL else len(_USUAL)
        first = _FILTERS.index(filtered) if filtered in _FILTERS else len(_FILTERS)
        return usual, first, place

    return tuple(name for _, name in sorted(enumerate(dict.fromkeys(names)), key=rank))


def choose_metric(task: RecordedTask, wished: Mapping[str, str]) -> str:
    """Return the score of a task that counts.

    Args:
        task: With the names of its scores.
        wished: By task, or for `ALL` tasks: a name, or the part of one before or after its
            comma (lm-eval's `METRIC,FILTER`).

    Raises:
        UnknownNameError: When the very task has no such score.
    """
    for key in (task.name, ALL):
        if key not in wished:
            continue
        found = matching(task.metrics, wished[key])
        if found is not None:
            return found
        if key != ALL:
            raise UnknownNameError(f"metric of {task.name}", wished[key], task.metrics)
    return task.metrics[0]


def require_known(tasks: Sequence[RecordedTask], wished: Mapping[str, str]) -> None:
    """Refuse a wish for a score that no task has, or for a task that is not there.

    Raises:
        UsageError: With what there is.
    """
    known = {task.name for task in tasks}
    for name, metric in wished.items():
        if name != ALL and name not in known:
            raise UnknownNameError("task in --metric", name, known)
        if name == ALL and not any(matching(task.metrics, metric) for task in tasks):
            names = sorted({one for task in tasks for one in task.metrics})
            raise UsageError(
                f"No task has a metric '{metric}'.", hint=f"There are: {', '.join(names)}."
            )


def matching(names: Sequence[str], wished: str) -> str | None:
    """Return the first name that a wish fits."""
    if wished in names:
        return wished
    parts = ((name, name.partition(",")) for name in names)
    return next((name for name, (one, _, other) in parts if wished in (one, other)), None)


def share_of(value: object) -> float | None:
    """Return a score that lies in [0, 1]; `None` for one that does not."""
    found = number_of(value)
    return found if found is not None and 0.0 <= found <= 1.0 else None


def accuracy_like(items: Sequence[Item], bad: Iterable[str] = ()) -> tuple[str, ...]:
    """Name the scores that every answered item may have: all in [0, 1], and at least one there.

    Args:
        items: With their scores.
        bad: Names that are none, because a value was of another kind or lower is better.
    """
    refused = set(bad)
    names: dict[str, None] = {}
    for item in items:
        for name, value in item.metrics.items():
            if value is not None and name not in refused:
                names[name] = None
    return usual_first(names)
