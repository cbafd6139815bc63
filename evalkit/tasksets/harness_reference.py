"""How a task of lm-eval is named: `lm-eval:[FOLDERS:]TASK[:METRIC[/FILTER]]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import TasksetError
from evalkit.tasksets.harness_files import read_task_file

HARNESS = "lm-eval"
_BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class Reference:
    """A task, group or tag, and which of its metrics decides.

    Attributes:
        name: As lm-eval knows it.
        folders: Of the user's own tasks, absolute.
        metric: `None` for the first that is a mean of items.
        filter: `None` for the first.
    """

    name: str
    folders: tuple[str, ...] = ()
    metric: str | None = None
    filter: str | None = None

    def __str__(self) -> str:
        """Write it as it is read."""
        parts = [HARNESS, *([_BETWEEN.join(self.folders)] if self.folders else []), self.name]
        if self.metric:
            parts.append(f"{self.metric}/{self.filter}" if self.filter else self.metric)
        return ":".join(parts)


def parse_reference(text: str, include_path: Sequence[str] = ()) -> Reference:
    """Read `[FOLDERS:]TASK[:METRIC[/FILTER]]`, where TASK may be a task's own YAML file.

    Raises:
        TasksetError: When no task is named, or a folder is not there.
    """
    parts = text.split(":")
    folders = [str(Path(one).absolute()) for one in include_path]
    given = parts[0].split(_BETWEEN)
    if len(parts) > 1 and all(Path(one).is_dir() for one in given):
        folders = [*(str(Path(one).absolute()) for one in given), *folders]
        parts = parts[1:]
    elif len(parts) > 1 and any("/" in one for one in given):
        raise TasksetError(f"Folder '{parts[0]}' of lm-eval tasks is not there.")
    name, metric, *rest = [*parts, ""]
    if name.endswith(".yaml") and Path(name).is_file():
        folders.insert(0, str(Path(name).absolute().parent))
        name = str(read_task_file(Path(name)).get("task") or "")
    if not name or rest not in ([], [""]):
        raise TasksetError(
            f"'{HARNESS}:{text}' names no task of lm-eval.",
            hint=f"Write {HARNESS}:TASK, {HARNESS}:FOLDER:TASK or {HARNESS}:TASK:METRIC/FILTER.",
        )
    for folder in folders:
        if not Path(folder).is_dir():
            raise TasksetError(f"Folder '{folder}' of lm-eval tasks is not there.")
    metric, _, chosen = metric.partition("/")
    return Reference(name, tuple(dict.fromkeys(folders)), metric or None, chosen or None)
