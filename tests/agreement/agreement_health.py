"""Signs of degeneration against labels by hand: the embedded model at 8, 3 and 2 bits.

One answer may have several labels. Thresholds were set on one half (`tuned`); the other half
was not looked at by then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalkit.scoring.health import health_flags
from evalkit.types import Flag
from tests.agreement import ROOT, Row, compared

COMPLETIONS = ROOT / "tests" / "scoring" / "real_completions.jsonl"
FLAGS = (Flag.LOOP, Flag.GARBLED, Flag.WRONG_LANGUAGE, Flag.EMPTY, Flag.TRUNCATED)
PARTS = ("tuned", "held out")


def labelled(part: str | None = None) -> list[dict[str, Any]]:
    """Return the labelled answers of a part, or of all."""
    lines = COMPLETIONS.read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "part" in row]
    return [row for row in rows if part in (None, row["part"])]


def measure(data: Path) -> list[Row]:
    """Compare every flag with the labels; the public data are not needed."""
    del data
    return [_row(part, flag) for part in PARTS for flag in FLAGS]


def _row(part: str, flag: Flag) -> Row:
    rows = labelled(part)
    verdicts = [
        (
            flag in health_flags(row["text"], row["finish_reason"], row["language"]),
            flag.value in row["flags"],
        )
        for row in rows
    ]
    there = sum(labelled for _, labelled in verdicts)
    return compared(f"{flag.value}, {part} ({there} labelled)", verdicts, ("false alarm", "missed"))
