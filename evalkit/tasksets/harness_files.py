"""Finding lm-eval's task files by name, without reading all fourteen thousand of them.

lm-eval itself parses every YAML file that it ships before it knows one name. Here a file is
looked at as bytes, those in folders that are called like the task first; what is found is a
few folders, and only these are given to lm-eval.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from evalkit.errors import MissingExtraError, TasksetError

INSTALL = "pip install 'quant-evalkit[lm-eval]'"
_ENDING = ".yaml"
_KEY = re.compile(
    rb"""^["']?(task|group|tag|include)["']?:[ \t]*([^\n]*)((?:\n[ \t]*-[^\n]*)*)""", re.MULTILINE
)
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
    for root in [*folders, *_likely(name, shipped), shipped]:
        found = _names_in(root).defined.get(name)
        if found is not None:
            return [found]
    return [path for root in [*folders, shipped] for path in _names_in(root).tagged.get(name, ())]


@dataclass(frozen=True, slots=True)
class _Names:
    """What the files of a folder define: tasks and groups, and the files of each tag."""

    defined: Mapping[str, Path]
    tagged: Mapping[str, Sequence[Path]]


@cache
def _names_in(root: Path) -> _Names:
    defined: dict[str, Path] = {}
    tagged: dict[str, list[Path]] = {}
    for path in _yaml_files(root):
        told = _keys(path)
        for name in told.get("group", told.get("task", ()))[:1]:
            defined.setdefault(name, path)
        for tag in _tags(path, told):
            tagged.setdefault(tag, []).append(path)
    return _Names(defined, tagged)


def _keys(path: Path) -> Mapping[str, list[str]]:
    """Return what a file says under `task`, `group`, `tag` and `include`, looked at as bytes."""
    told: dict[str, list[str]] = {}
    for key, value, items in _KEY.findall(path.read_bytes()):
        # A list under `task` names the members of a group.
        listed = () if key == b"task" else items.splitlines()
        told[key.decode()] = _words(value) or [word for one in listed for word in _words(one)]
    return told


def _tags(path: Path, told: Mapping[str, list[str]], depth: int = 0) -> list[str]:
    """Return the tags of a file, or else those of what it includes."""
    if "tag" in told or depth == _DEEPEST:
        return told.get("tag", [])
    for one in told.get("include", ()):
        base = path.parent / one
        if base.is_file():
            return _tags(base, _keys(base), depth + 1)
    return []


def _words(value: bytes) -> list[str]:
    """Return the words of a value: plain, quoted, a list in brackets, or an item of a list."""
    bare = value.split(b" #")[0].strip().removeprefix(b"-").strip().strip(b"[]")
    words = (word.strip(b" \t\r\"'") for word in bare.split(b","))
    return [word.decode("utf-8", "replace") for word in words if word]


def near_names(name: str, folders: Sequence[Path]) -> list[str]:
    """Return the names that are spelt most like one that nobody defines."""
    known = {one for root in [*folders, shipped_tasks()] for one in _names_in(root).defined}
    return difflib.get_close_matches(name, known, n=3, cutoff=0.7)


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
