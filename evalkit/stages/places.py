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
        if path != (home / "runs" / arm).resolve()
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
    elsewhere = read_places(home)
    found = []
    for arm in (comparison.baseline, *comparison.candidates):
        # A name that is a path would lead out of the folder.
        named = Path(arm.endpoint).name == arm.endpoint and arm.endpoint != ".."
        # What is noted comes first: a folder of that name may be left from an earlier look.
        tried = [elsewhere[arm.endpoint]] if arm.endpoint in elsewhere else []
        tried += [place / arm.endpoint for place in (home / "runs", *places)] if named else []
        if comparison.against is not None and arm is comparison.baseline:
            tried.append(home / comparison.against.run)
        here = [path for path in tried if is_run_folder(path)]
        if not here:
            return None
        found.append(here[0])
    return found
