"""What GitHub Actions understands: annotations beside a job, in its workflow commands.

Source: GitHub Docs, "Workflow commands for GitHub Actions"; the escaping is that of the
runner's toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from evalkit.report.model import CandidateBlock, View

MAX_ANNOTATIONS: Final = 10
# A summary of a step above this size is refused as a whole.
MAX_SUMMARY_BYTES: Final = 1024 * 1024
_MESSAGE: Final = 1000

Level = Literal["error", "warning", "notice"]
_LEVELS: Final[dict[str, Level]] = {
    "SHIP": "notice",
    "HOLD": "error",
    "INCONCLUSIVE": "warning",
    "INVALID": "error",
}


def workflow_commands(views: Sequence[View]) -> list[str]:
    """Return at most `MAX_ANNOTATIONS` commands, one a line: verdicts first, then what failed.

    What does not fit is counted in the last of them.
    """
    found = [*_verdicts(views), *_failures(views)]
    if len(found) <= MAX_ANNOTATIONS:
        return found
    kept = found[: MAX_ANNOTATIONS - 1]
    words = views[0].ui
    rest = f"+{len(found) - len(kept)} {words['annotations_left']}"
    return [*kept, command("notice", words["verdict"], rest)]


def command(level: Level, title: str, message: str) -> str:
    """Return one workflow command.

    >>> command("error", "q4 vs q8: math", "50% less, see below")
    '::error title=q4 vs q8%3A math::50%25 less, see below'
    """
    if len(message) > _MESSAGE:
        message = f"{message[:_MESSAGE]}…"
    return f"::{level} title={escaped_property(title)}::{escaped_data(message)}"


def escaped_data(text: str) -> str:
    """Escape the message of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Escape the value of a property of a command."""
    return escaped_data(text).replace(":", "%3A").replace(",", "%2C")


def _verdicts(views: Sequence[View]) -> Iterator[str]:
    for view in views:
        for block in view.candidates:
            title = f"{block.gate.icon} {block.gate.word}: {block.title}"
            yield command(_LEVELS[block.gate.state], title, block.sentence)


def _failures(views: Sequence[View]) -> Iterator[str]:
    for view in views:
        for block in view.candidates:
            yield from _failed_metrics(block)


def _failed_metrics(block: CandidateBlock) -> Iterator[str]:
    for row in block.metrics:
        if row.outcome == "failed":
            title = f"{block.title}: {row.scope_label}: {row.metric_label}"
            yield command("error", title, f"{row.text}; {row.tests}")
