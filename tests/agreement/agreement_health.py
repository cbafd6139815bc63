"""Signs of degeneration against labels by hand: the embedded model at 8, 3 and 2 bits.

One answer may have several labels. Thresholds were set on one half (`tuned`); the other half
was not looked at by then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalkit.scoring.health import health_flags
from evalkit.types import Flag
from tests.agreement import ROOT, Row

COMPLETIONS = ROOT / "tests" / "scoring" / "real_completions.jsonl"
FLAGS = (Flag.LOOP, Flag.GARBLED, Flag.WRONG_LANGUAGE, Flag.EMPTY, Flag.TRUNCATED)
PARTS = ("tuned", "held out")


def labelled(part: str | None = None) -> list[dict[str, Any]]:
    """Return the labelled answers of a part, or of all."""
    lines = COMPLETIONS.read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "part" in row]
    return [row for row in rows if part in (None, row["part"])]


def counts(rows: Sequence[dict[str, Any]], flag: Flag) -> tuple[int, int, int]:
    """Count hits, false alarms and misses of a flag."""
    hits = false = missed = 0
    for row in rows:
        found = flag in health_flags(row["text"], row["finish_reason"], row["language"])
        labelled = flag.value in row["flags"]
        hits += found and labelled
        false += found and not labelled
        missed += labelled and not found
    return hits, false, missed


def measure(data: Path) -> list[Row]:
    """Compare every flag with the labels; the public data are not needed."""
    del data
    return [_row(part, flag) for part in PARTS for flag in FLAGS]


def _row(part: str, flag: Flag) -> Row:
    rows = labelled(part)
    hits, false, missed = counts(rows, flag)
    name = f"{flag.value}, {part}: {_share('precision', hits, false)}, "
    name += _share("recall", hits, missed)
    differences = {"false alarm": false, "missed": missed}
    shown = {reason: n for reason, n in differences.items() if n}
    return Row(name, len(rows), len(rows) - false - missed, None, shown)


def _share(word: str, hits: int, others: int) -> str:
    total = hits + others
    return f"{word} {100 * hits / total:.1f}% of {total}" if total else f"{word} of none"
