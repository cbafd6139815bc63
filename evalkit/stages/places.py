"""`runs.json`: where the runs of a comparison lie, when they were recorded elsewhere.

It is no part of `comparison.json`, which is equal for equal answers wherever they lie.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from evalkit.collect.journal import is_run_folder
from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
from evalkit.results import Comparison
from evalkit.stages.collecting import CollectedRun

PLACES: Final = "runs.json"
RUNS: Final = "runs"


def write_places(folder: Path, runs: Sequence[CollectedRun]) -> None:
    """Note, relative to a comparison's folder, the runs that are not inside it.

    Raises:
        StoreError: When that cannot be written.
    """
    home = folder.resolve()
    found = {run.arm: run.folder.path.resolve() for run in runs}
    places = {
        arm: os.path.relpath(path, home)
        for arm, path in found.items()
        if path != (home / RUNS / arm).resolve()
    }
    file = folder / PLACES
    try:
        if places:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(file, [orjson.dumps(places, option=orjson.OPT_APPEND_NEWLINE)])
        else:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror}.") from error


def read_places(folder: Path) -> Mapping[str, Path]:
    """Return the runs that lie elsewhere, by arm; what cannot be read names none."""
    try:
        said = orjson.loads((folder / PLACES).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    if not isinstance(said, dict):
        return {}
    home = folder.resolve()
    return {arm: home / path for arm, path in said.items() if isinstance(path, str)}


def find_runs(comparison: Comparison, home: Path, places: Sequence[Path]) -> list[Path] | None:
    """Return the run folder of every arm, the baseline's first; `None` when one is not there.

    Args:
        comparison: Whose arms they are.
        home: Its folder.
        places: Further folders that may hold them, by the arms' names.
    """
    arms = (comparison.baseline, *comparison.candidates)
    found = [find_run(comparison, home, arm.endpoint, places) for arm in arms]
    here = [path for path in found if path is not None]
    return here if len(here) == len(arms) else None


def find_run(
    comparison: Comparison, home: Path, name: str, places: Sequence[Path] = ()
) -> Path | None:
    """Return the run folder of one arm; `None` when it is not there.

    Args:
        comparison: Whose arm it is.
        home: Its folder.
        name: Of the arm.
        places: Further folders that may hold it, by the arm's name.
    """
    # What is noted comes first: a folder of that name may be left from an earlier look.
    noted = read_places(home).get(name)
    tried = [] if noted is None else [noted]
    # A name that is a path would lead out of the folder.
    if Path(name).name == name and name != "..":
        tried += [place / name for place in (home / RUNS, *places)]
    if comparison.against is not None and name == comparison.baseline.endpoint:
        tried.append(home / comparison.against.run)
    return next((path for path in tried if is_run_folder(path)), None)
