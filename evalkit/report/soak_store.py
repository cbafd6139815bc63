"""`soak.json`: what a soak found, written and read with checks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evalkit.errors import StoreError
from evalkit.report.beside import dump_beside, load_beside
from evalkit.stability import STABILITY_VERSION, Stability

SOAK_FILE: Final = "soak.json"
_AGAIN: Final = "Soak again with 'evalkit soak', or take the file away."


def dump_soak(found: Stability) -> bytes:
    """Return the content of `soak.json`: indented, keys sorted."""
    return dump_beside(found)


def load_soak(folder: Path) -> Stability | None:
    """Read `soak.json` of a folder; `None` when there is none.

    Raises:
        StoreError: When it is broken, no such thing, of a newer evalkit, or contradicts itself.
    """
    file = folder / SOAK_FILE
    found = load_beside(file, _adapter(), version=STABILITY_VERSION, verb="a soak", again=_AGAIN)
    # A file that was changed by hand must not speak for an endpoint.
    if found is not None and (found.state == "stable") == bool(found.findings):
        raise StoreError(f"'{file}' contradicts itself.", hint=_AGAIN)
    return found


@cache
def _adapter() -> TypeAdapter[Stability]:
    return TypeAdapter(Stability)
