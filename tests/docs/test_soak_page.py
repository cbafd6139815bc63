"""docs/soak.md: its tables come from the simulation, its words are what the program has."""

from __future__ import annotations

from pathlib import Path

from evalkit.cli.soak import soak
from evalkit.report.catalogue_en import WORDS
from evalkit.soak.plan import SoakPlan
from tests.simulate_soak import HOURS, RUNS, course, found_in

TEXT = (Path(__file__).parents[2] / "docs" / "soak.md").read_text(encoding="utf-8")


def cell(mark: str, row: str, hours: float) -> str:
    table = TEXT.partition(f"<!-- {mark} -->")[2].partition("<!-- end")[0]
    line = next(line for line in table.splitlines() if line.startswith(f"| {row} |"))
    return line.split("|")[2 + HOURS.index(hours)].strip()


def test_figures_are_those_of_the_simulation() -> None:
    leaks = found_in(course("leak", 0.25, 1.0, 30.0), "LEAK")
    assert cell("leak-30", "1 MB/min", 0.25) == f"{leaks / RUNS:.0%}"
    assert cell("leak-3", "1 MB/min", 1.0) == "100%"
    assert int(cell("slow", "5%/h", 4.0).rstrip("%")) >= 90
    assert int(cell("leak-30", "1 MB/min", 2.0).rstrip("%")) >= 90


def test_every_finding_and_default_is_on_the_page() -> None:
    codes = [key.rpartition(".")[2] for key in WORDS if key.startswith("soak.finding.")]
    for code in codes:
        assert code == "UNMEASURED" or f"`{code}`" in TEXT
    plan = SoakPlan()
    assert f"`--max-leak` ({plan.max_leak / 1e6:g} MB a minute)" in TEXT
    assert f"`--max-slowdown` ({plan.max_slowdown:.0%} an hour)" in TEXT
    assert f"`--max-failed` ({plan.max_failed:.0%})" in TEXT
    options = {name for param in soak.params for name in param.opts}
    for word in ("--concurrency", "--rate", "--prompt-tokens", "--output-tokens", "--verdict"):
        assert word in options
        assert f"`{word}`" in TEXT
