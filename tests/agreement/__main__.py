"""Writes docs/scorer-agreement.md: `make agreement`."""

from __future__ import annotations

import sys

from tests.agreement import MODULES, ROOT, Row, data_dir, measure

HEAD = """# Scorers against public data

Made by `make agreement`; every line compares evalkit's verdicts with those that others gave to
the same recorded answers. The data are not part of the project: `EVALKIT_PUBLIC_DATA` names
their folder.
"""


def main() -> int:
    """Measure everything and write the page."""
    data = data_dir()
    if data is None:
        print("No public data: set EVALKIT_PUBLIC_DATA to their folder.", file=sys.stderr)
        return 2
    parts = [HEAD, *(_section(name, measure(name)(data)) for name in MODULES)]
    page = ROOT / "docs" / "scorer-agreement.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    print(page.relative_to(ROOT))
    return 0


def _section(name: str, rows: list[Row]) -> str:
    lines = [
        f"## {name}",
        "",
        "| compared | verdicts | agreement | differences |",
        "|---|---|---|---|",
    ]
    for row in rows:
        reasons = "; ".join(f"{reason}: {n}" for reason, n in row.differences.items())
        lines.append(
            f"| {row.name} | {row.n:,} | {100 * row.agreement:.2f}% | {reasons or 'none'} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
