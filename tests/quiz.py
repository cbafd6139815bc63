"""A small taskset with known answers, for a fake server that gives them or does not."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from tests.servers.fake import Fault, Script

HEAD = """\
name: quiz
version: 1
family: facts
description: Code words of boxes.
scorer: facts
max_tokens: 16
margin: 5
measures_hallucination: true
"""


def question(number: int) -> str:
    return f"What is the code word of box {number}?"


def write_quiz(folder: Path, n: int) -> Path:
    """Write a taskset folder of n questions."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "taskset.yaml").write_text(HEAD, encoding="utf-8")
    rows = [
        {
            "id": f"box-{number:04d}",
            "language": "en",
            "category": "boxes",
            "input": question(number),
            "target": {"kind": "answer", "aliases": [f"alpha{number}"], "rivals": []},
        }
        for number in range(n)
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (folder / "samples.jsonl").write_text(lines + "\n", encoding="utf-8")
    return folder


def answers(
    n: int, *, wrong: Collection[int] = (), abstained: Collection[int] = ()
) -> dict[str, str]:
    """Return the answers of a server that gets some wrong and some not at all."""

    def answer(number: int) -> str:
        if number in wrong:
            return f"The code word is omega{number}."
        if number in abstained:
            return "I don't know."
        return f"The code word is alpha{number}."

    return {question(number): answer(number) for number in range(n)}


def script(
    n: int,
    *,
    wrong: Collection[int] = (),
    abstained: Collection[int] = (),
    faults: tuple[Fault, ...] = (),
    delay: float = 0.0,
    key: str | None = None,
) -> Script:
    return Script(
        answers=answers(n, wrong=wrong, abstained=abstained), faults=faults, delay=delay, key=key
    )
