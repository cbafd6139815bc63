"""Progress on stderr: a bar on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import logging
import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from evalkit.collect.events import Event, RunSummary

_SECONDS_BETWEEN_LINES = 10.0
_LONGEST_STAGE = 2000


def _plain(text: str) -> str:
    """Return a text in which names that anybody wrote cannot act on a terminal."""
    from evalkit.report.text import one_line

    return one_line(text, _LONGEST_STAGE)


class Display(Protocol):
    """Shows what happens. Used inside `with`."""

    def on_stage(self, text: str) -> None:
        """Say that something begins."""

    def on_event(self, arm: str, event: Event) -> None:
        """Show an event of an arm's run."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""


def make_display(choice: str | None, *, quiet: bool, verbose: bool) -> Display:
    """Choose a display: by flag, else rich on a terminal and plain elsewhere."""
    if verbose:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        logger = logging.getLogger("evalkit")
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    if quiet or choice == "none":
        return NoDisplay()
    terminal = sys.stderr.isatty() and not os.environ.get("CI")
    if choice == "rich" or (choice is None and terminal):
        return RichDisplay()
    return PlainDisplay()


class NoDisplay:
    """Says nothing."""

    def on_stage(self, text: str) -> None:
        """Say nothing."""

    def on_event(self, arm: str, event: Event) -> None:
        """Say nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


class PlainDisplay(NoDisplay):
    """A line when something begins or ends, and one every few seconds between."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def on_stage(self, text: str) -> None:
        """Print the stage."""
        click.echo(f"evalkit: {_plain(text)}", err=True)

    def on_event(self, arm: str, event: Event) -> None:
        """Print a line when enough time has passed, or when it matters."""
        from evalkit.collect.events import Completed, Failed, Finished, Planned, Slowed

        match event:
            case Planned(total, reused):
                self._say(f"{arm}: {total - reused} requests, {reused} answered before")
            case Completed(_, done, total, _) if self._due():
                self._say(f"{arm}: {done}/{total}")
            case Failed(completion, done, total):
                reason = completion.error.kind if completion.error is not None else "unknown"
                self._say(f"{arm}: {done}/{total}, {completion.sample_id} failed: {reason}")
            case Slowed(connections, pause) if self._due():
                until = f" (until {_clock(pause)})"
                waiting = f", after a pause of {pause:.1f} s{until}" if pause else ""
                self._say(f"{arm}: overloaded, {connections} at once from now{waiting}")
            case Finished(summary):
                self._say(f"{arm}: {outcome(summary)}")
            case _:
                pass

    def _due(self) -> bool:
        return time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES

    def _say(self, text: str) -> None:
        self._last = time.monotonic()
        click.echo(f"evalkit: {text}", err=True)


class RichDisplay(NoDisplay):
    """One bar an arm, with tokens per second."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._console = Console(stderr=True)
        self._progress: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._started: dict[str, float] = {}

    def on_stage(self, text: str) -> None:
        """Print the stage above the bars."""
        from rich.markup import escape

        self._progress.console.print(f"[dim]{escape(_plain(text))} …[/dim]")

    def on_event(self, arm: str, event: Event) -> None:
        """Move the arm's bar."""
        from evalkit.collect.events import Completed, Failed, Finished, Planned, Slowed

        match event:
            case Planned(total, reused):
                self._tasks[arm] = self._progress.add_task(
                    arm, total=total, completed=reused, speed=""
                )
                self._started[arm] = time.monotonic()
            case Completed(_, done, _, tokens):
                elapsed = max(time.monotonic() - self._started[arm], 1e-3)
                speed = f"{tokens / elapsed:.0f} tok/s"
                self._progress.update(self._tasks[arm], completed=done, speed=speed)
            case Failed(_, done, _):
                self._progress.update(self._tasks[arm], completed=done)
            case Slowed(connections, pause):
                slow = f"overloaded, {connections} at once"
                until = f", waits until {_clock(pause)}" if pause >= 1 else ""
                self._progress.update(self._tasks[arm], speed=slow + until)
            case Finished(summary):
                if summary.failed or summary.retries:
                    self._progress.console.print(f"{arm}: {outcome(summary)}", markup=False)
            case _:
                pass

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))


def outcome(summary: RunSummary) -> str:
    """Say in words what a run came to."""
    parts = [f"{summary.answered} answered"]
    if summary.reused:
        parts.append(f"{summary.reused} answered before")
    if summary.failed:
        kinds = ", ".join(f"{kind} {count}" for kind, count in summary.failures.items())
        parts.append(f"{summary.failed} failed ({kinds})" if kinds else f"{summary.failed} failed")
    if summary.retries:
        parts.append(f"{summary.retries} retries")
    if summary.slowdowns:
        times = "once" if summary.slowdowns == 1 else f"{summary.slowdowns} times"
        parts.append(f"overloaded {times} and slowed to {summary.least_connections} at once")
    if summary.seconds > 0 and summary.completion_tokens:
        rate = summary.completion_tokens / summary.seconds
        parts.append(f"{summary.completion_tokens:,} tokens at {rate:.0f} tok/s")
    if summary.interrupted:
        parts.append("interrupted")
    return ", ".join(parts)
