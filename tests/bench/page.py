"""The page that holds the tables: each between its two marks, written by the benchmark alone."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def put(page: str, name: str, text: str) -> str:
    """Return a page with what stands between the marks of a benchmark replaced.

    Raises:
        ValueError: When the page does not have those marks.
    """
    begin, end = f"<!-- bench:{name} -->\n", f"<!-- /bench:{name} -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"docs/benchmarks.md has no place for '{name}': add {begin}{end}")
    return f"{before}{begin}{text}{end}{after}"
