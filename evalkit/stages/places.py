"""`runs.json`: where the runs of a comparison lie, when they were recorded elsewhere.

It is no part of `comparison.json`, which is equal for equal answers wherever they lie.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
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
