"""Samples that were read one by one, kept to show when a generator makes others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalkit.tasksets.generators.base import take

SEED = 2026


def check_reviewed(
    generator: str, as_kept: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
) -> None:
    """Fail unless a generator still makes the 40 samples of its `reviewed_<name>.jsonl`.

    `as_kept` turns a target into what the file can hold of it.
    """
    path = Path(__file__).with_name(f"reviewed_{generator}.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(rows) == 40
    for language in ("en", "zh"):
        kept = [row for row in rows if row["language"] == language]
        assert len(kept) == 20
        again = [
            {
                "language": made.language,
                "prompt": "\n".join(message.content for message in made.draft.messages),
                "target": as_kept(made.draft.target),
                "level": made.draft.level,
            }
            for made in take(generator, language, SEED, len(kept), {})
        ]
        assert kept == again
