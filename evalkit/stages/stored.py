"""A stored comparison, believed only where it agrees with itself."""

from __future__ import annotations

from pathlib import Path

from evalkit import __version__
from evalkit.decision.soundness import contradiction
from evalkit.errors import StoreError
from evalkit.report.store import COMPARISON_FILE, load_comparison
from evalkit.report.text import one_line
from evalkit.results import Comparison

_ANEW = "Make it anew: evalkit compare with the same arguments asks only what is missing."


def load_sound(folder: Path) -> Comparison:
    """Read a comparison that does not contradict itself.

    Args:
        folder: With `comparison.json`, or that file.

    Raises:
        StoreError: When it is missing, broken, of a newer evalkit, or says what does not
            follow from its own numbers.
    """
    stored = load_comparison(folder)
    wrong = contradiction(stored)
    if wrong is not None:
        raise changed(folder / COMPARISON_FILE if folder.is_dir() else folder, wrong, stored)
    return stored


def changed(file: Path, why: str, stored: Comparison) -> StoreError:
    """Return the error for a comparison that is not what evalkit wrote."""
    other = one_line(stored.evalkit_version)
    by = (
        ""
        if other == __version__
        else f" It was written by evalkit {other}, this is {__version__}."
    )
    return StoreError(
        f"'{file}' was changed, or does not belong to its folder: {one_line(why)}.{by}",
        hint=_ANEW,
    )
