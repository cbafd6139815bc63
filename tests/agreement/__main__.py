"""Writes docs/scorer-agreement.md: `make agreement`."""

from __future__ import annotations

import sys

from tests.agreement import MODULES, ROOT, Row, data_dir, measure

HEAD = """# Scorers against public data

Made by `make agreement`; every line compares evalkit's verdicts with those that others gave to
the same recorded answers. Where degrees are compared, correlations stand in place of the
agreement. The data are not part of the project: `EVALKIT_PUBLIC_DATA` names their folder.
"""


def main() -> int:
    """Measure everything and write the page."""
    data = data_dir()
    if data is None:
        print("No public data: set EVALKIT_PUBLIC_DATA to their folder.", file=sys.stderr)
        return 2
    parts = [HEAD, *(section(name, measure(name)(data)) for name in MODULES)]
    page = ROOT / "docs" / "scorer-agreement.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    print(page.relative_to(ROOT))
    return 0


def section(name: str, rows: list[Row]) -> str:
    """Return the part of the page that one module makes."""
    rated = any(row.precision is not None for row in rows)
    columns = ["compared", "verdicts", "agreement", *(["precision", "recall"] if rated else [])]
    columns.append("differences")
    lines = [f"## {name}", "", _line(columns), _line(["---"] * len(columns), "")]
    for row in rows:
        reasons = "; ".join(f"{reason}: {n}" for reason, n in row.differences.items())
        rates = [_share(row.precision), _share(row.recall)] if rated else []
        agreed = _share(row.agreement)
        if row.correlation is not None:
            agreed = ", ".join(f"{name} {value:.2f}" for name, value in row.correlation.items())
        told = reasons or ("none" if row.correlation is None else "-")
        lines.append(_line([row.name, f"{row.n:,}", agreed, *rates, told]))
    return "\n".join([*lines, ""])


def _line(cells: list[str], space: str = " ") -> str:
    return "|" + "|".join(f"{space}{cell}{space}" for cell in cells) + "|"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}%"


if __name__ == "__main__":
    sys.exit(main())
