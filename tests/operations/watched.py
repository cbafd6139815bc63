"""A comparison that was served by vLLM and measured, for tests of what is watched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from evalkit.performance import Memory, Performance
from evalkit.report.store import dump_comparison
from evalkit.results import Comparison
from evalkit.stages.writing import write_performance
from tests.report.fixtures import comparison
from tests.report.performances import performance

MODEL = "int4-model"


def served(*states: str, model: str = MODEL, engine: str | None = "vLLM") -> Comparison:
    """A comparison of endpoints of one engine."""
    made = comparison(*(states or ("SHIP",)))
    more = {"engine": engine, "engine_version": "0.32.0", "model": model}

    def known(info: Any) -> Any:
        return replace(info, identity={**info.identity, **more})

    return replace(
        made, baseline=known(made.baseline), candidates=tuple(map(known, made.candidates))
    )


def probed(made: Comparison, source: Any = "metrics") -> Performance:
    """The probe of it, with memory as vLLM exports it."""
    found = performance(made)
    arms = tuple(replace(a, memory=(Memory(source, 8 * 10**9),)) for a in found.arms)
    return replace(found, arms=arms)


def write(folder: Path, made: Comparison, found: Performance | None) -> Path:
    """Write the folder of a comparison, as evalkit does."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "comparison.json").write_bytes(dump_comparison(made))
    if found is not None:
        write_performance(folder, found)
    return folder
