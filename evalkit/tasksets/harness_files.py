"""Finding lm-eval's task files by name, without reading all fourteen thousand of them.

lm-eval itself parses every YAML file that it ships before it knows one name. Here a file is
looked at as bytes, those in folders that are called like the task first; what is found is a
few folders, and only these are given to lm-eval.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from evalkit.errors import MissingExtraError, TasksetError

INSTALL = "pip install 'quant-evalkit[lm-eval]'"
_ENDING = ".yaml"
_SHORTEST = 3
_DEEPEST = 8


class _Lenient(yaml.SafeLoader):
    """Reads a task's file without running what it names by `!function`."""


_Lenient.add_multi_constructor("!", lambda loader, suffix, node: None)


def shipped_tasks() -> Path:
    """Return the folder of the tasks that lm-eval ships, without importing it.

    Raises:
        MissingExtraError: When it is not installed.
    """
    found = importlib.util.find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("An lm-eval task", INSTALL)
    return Path(found.submodule_search_locations[0]) / "tasks"


def find_definitions(name: str, folders: Sequence[Path]) -> list[Path]:
    """Find the files that define a task, a group or a tag, and all that these refer to.

    Args:
        name: As lm-eval knows it.
        folders: Of the user's own tasks; they come before those that are shipped.

    Returns:
        Files; nothing when nobody defines that name.

    Raises:
        MissingExtraError: When lm-eval is not installed.
        TasksetError: For a file that is not YAML.
    """
    shipped = shipped_tasks()
    found: dict[Path, None] = {}
    known: set[str] = set()
    waiting = [name]
    while waiting:
        wanted = waiting.pop()
        if wanted in known:
            continue
        known.add(wanted)
        for path in _defining(wanted, folders, shipped):
            if path not in found:
                found[path] = None
                waiting.extend(_members(read_task_file(path)))
    return list(found)


def read_task_file(path: Path, depth: int = 0) -> dict[str, Any]:
    """Read a task's file with what it includes, and without its functions.

    Raises:
        TasksetError: When it is not YAML, or includes itself.
    """
    try:
        # A harmless subclass of the safe loader.
        loaded = yaml.load(path.read_text("utf-8"), Loader=_Lenient)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        line = str(error).splitlines()[0]
        raise TasksetError(f"'{path}' is no task of lm-eval: {line}.") from None
    if not isinstance(loaded, dict):
        raise TasksetError(f"'{path}' is no task of lm-eval: it holds no keys with values.")
    included = loaded.get("include")
    for one in [included] if isinstance(included, str) else included or []:
        if depth == _DEEPEST:
            raise TasksetError(f"'{path}' includes itself.")
        base = Path(one) if Path(one).is_absolute() else path.parent / one
        if base.is_file():
            loaded = {**read_task_file(base, depth + 1), **loaded}
    return loaded


def _defining(name: str, folders: Sequence[Path], shipped: Path) -> list[Path]:
    """Return the file of a task or group; for a tag, all files that carry it."""
    quoted = re.escape(name.encode())
    defines = re.compile(
        rb"""^(?:task|group):[ \t]*["']?""" + quoted + rb"""["']?[ \t]*(?:#.*)?\r?$""", re.M
    )
    for root in [*folders, *_likely(name, shipped), shipped]:
        for path in _yaml_files(root):
            if defines.search(path.read_bytes()):
                return [path]
    tagged = re.compile(
        rb"""^tag:[^\n]*\b"""
        + quoted
        + rb"""\b|^[ \t]+-[ \t]*["']?"""
        + quoted
        + rb"""["']?[ \t]*\r?$""",
        re.M,
    )
    files = (path for root in [*folders, shipped] for path in _yaml_files(root))
    return [p for p in files if tagged.search(p.read_bytes()) and name in _tags(read_task_file(p))]


def _likely(name: str, shipped: Path) -> list[Path]:
    """Return the folders whose names begin like the task's, the likest first."""

    def alike(folder: Path) -> int:
        pairs = zip(folder.name.lower(), name.lower(), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    folders = [
        folder for folder in shipped.iterdir() if alike(folder) >= _SHORTEST and folder.is_dir()
    ]
    return sorted(folders, key=lambda folder: (-alike(folder), folder.name))


def _yaml_files(root: Path) -> Iterator[Path]:
    for folder, inner, files in os.walk(root):
        inner.sort()
        for file in sorted(files):
            if file.endswith(_ENDING):
                yield Path(folder, file)


def _tags(config: Mapping[str, Any]) -> list[Any]:
    tags = config.get("tag")
    return tags if isinstance(tags, list) else [tags]


def _members(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that a group refers to; none for a task."""
    members = config.get("task")
    if not isinstance(members, list):
        return
    for member in members:
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict):
            named = member.get("task")
            if isinstance(named, str):
                yield named
            elif isinstance(member.get("group"), str) and not isinstance(named, list):
                yield member["group"]
            yield from _members(member)
