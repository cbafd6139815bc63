"""What every log becomes, and which formats there are.

A log says for each prompt what was asked, what was answered, and how its own tool scored
the answer. Scores are taken over as they stand; what a log does not say is `None`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evalkit.errors import LogError, UsageError
from evalkit.registry import Registry
from evalkit.types import Family, Message

Settings = Mapping[str, Any]
"""How a task was asked, by name: whatever differs between two logs confounds them."""


@dataclass(frozen=True, slots=True)
class Item:
    """One prompt with its answer and scores.

    Attributes:
        id: Of the prompt, stable in its task.
        epoch: Number of the repeat, from 0.
        messages: The prompt as it was sent; empty where the log does not hold it.
        target: What was expected, for readers.
        answer: Text of the answer; `None` where the log does not hold it.
        metrics: Scores in [0, 1] by name; `None` where the tool gave none.
        extracted: What the tool read out of the answer, by metric.
        unreadable: Metrics for which the tool found nothing to read in the answer.
        explanations: Why the tool scored so, by metric.
        doc_hash: Tells one document of the data set from another.
        prompt_hash: Tells one rendered prompt from another; `None` where it is not known.
        error: Why there is no answer.
    """

    id: str
    epoch: int = 0
    messages: tuple[Message, ...] = ()
    target: str = ""
    answer: str | None = None
    reasoning: str | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    extracted: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    explanations: Mapping[str, str] = field(default_factory=dict)
    doc_hash: str | None = None
    prompt_hash: str | None = None
    error: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    category: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """What one task of a log holds.

    Attributes:
        metrics: Names of its scores in [0, 1], the one to be taken by default first.
        settings: How it was asked; nothing of the model itself.
        family: As the log says, if it does.
        generated: Whether the model wrote answers; `False` where it only weighed choices.
        unknown: What the log does not say: `template`, `sampling`, `prompts`.
        max_tokens: Bound of an answer.
    """

    name: str
    items: tuple[Item, ...]
    metrics: tuple[str, ...]
    settings: Settings = field(default_factory=dict)
    family: Family | None = None
    generated: bool = True
    unknown: tuple[str, ...] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole log: one arm of a comparison.

    Attributes:
        source: The argument that named it.
        tool: Who recorded it, e.g. `lm-eval`.
        version: Of the tool.
        model: Name of the model as the tool was told.
        created: When it was recorded (ISO 8601).
        about: What else the log says of the model, free of secrets.
        name: A short name for the arm, where the log suggests one.
        notes: What a user must know, e.g. which of several time stamps was taken.
        partial: Whether a prompt that is not there may have been asked all the same, so that
            it is missing data and no other choice of prompts.
    """

    source: str
    tool: str
    version: str | None
    model: str
    tasks: tuple[RecordedTask, ...]
    created: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    notes: tuple[str, ...] = ()
    partial: bool = False

    @property
    def by(self) -> str:
        """Tool and version in words."""
        return " ".join(filter(None, (self.tool, self.version)))


class Format(Protocol):
    """One format of logs."""

    @property
    def words(self) -> str:
        """What it is called in messages."""

    def matches(self, path: Path) -> bool:
        """Whether what lies there is of this format, by its content; it never raises."""

    def read(self, path: Path, part: str | None) -> Recording:
        """Read a log.

        Args:
            path: The file or folder.
            part: What stands after `#`: one arm of a log that holds several.

        Raises:
            LogError: One sentence with the file and what is wrong.
        """


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format as two functions."""

    words: str
    matches: Callable[[Path], bool]
    read: Callable[[Path, str | None], Recording]


# In the order in which they are tried: what says more of itself comes first.
_NAMES = ("nemo", "lm_eval", "evalscope", "inspect_log", "promptfoo", "answers")
FORMATS: Registry[Format] = Registry(
    "log format", {name: f"evalkit.importers.{name}" for name in _NAMES}
)


@dataclass(frozen=True, slots=True)
class Log:
    """A log that an argument of the command line names."""

    path: Path
    part: str | None
    format: Format

    def read(self) -> Recording:
        """Read it.

        Raises:
            LogError: When it cannot be used.
        """
        return self.format.read(self.path, self.part)


def find_log(target: str) -> Log | None:
    """Return the log that an argument names: a file, a folder, or `FILE#PART`.

    Returns:
        `None` when nothing is there, or it is of no known format.
    """
    for path, part in _readings(target):
        for name in _NAMES:
            form = FORMATS.get(name)
            if form.matches(path):
                return Log(path, part, form)
    return None


def _readings(target: str) -> list[tuple[Path, str | None]]:
    whole = Path(target)
    if whole.exists():
        return [(whole, None)]
    file, mark, part = target.rpartition("#")
    if mark and part and Path(file).is_file():
        return [(Path(file), part)]
    return []


def choose_part(found: Mapping[str, Any], part: str | None, path: Path, what: str) -> str:
    """Return which of several arms in a log is meant.

    Raises:
        UsageError: When it is not said, or there is no such one.
    """
    names = ", ".join(f"'{name}'" for name in sorted(found))
    if part is None and len(found) == 1:
        return next(iter(found))
    if part is None:
        raise UsageError(
            f"'{path}' holds {len(found)} {what}s: {names}.",
            hint=f"Name one for each arm: {path}#{sorted(found)[0]}",
        )
    if part not in found:
        raise UsageError(f"'{path}' holds no {what} '{part}'.", hint=f"It holds {names}.")
    return part


def no_parts(part: str | None, path: Path) -> None:
    """Refuse a part where a log holds only one arm.

    Raises:
        UsageError: When one is named.
    """
    if part is not None:
        raise UsageError(f"'{path}' holds one arm: leave '#{part}' out.")


def require_tasks(recording: Recording) -> Recording:
    """Return a recording that holds something to compare.

    Raises:
        LogError: When it does not.
    """
    if not any(task.items for task in recording.tasks):
        raise LogError(f"'{recording.source}' holds no sample with a score.")
    return recording
