"""docs/statistics.md: every command on the page is run, and every number comes from one."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalkit.cli.main import cli

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Example:
    command: str
    expected: tuple[str, ...]


def examples(text: str) -> list[Example]:
    found = []
    for block in BLOCK.findall(text):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *expected = piece.rstrip("\n").split("\n")
            found.append(Example(command, tuple(expected)))
    return found


EXAMPLES = examples(TEXT)


def run(command: str) -> str:
    program, *words = shlex.split(command)
    if program == "python":
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout
    assert program == "evalkit", command
    result = CliRunner().invoke(cli, words, catch_exceptions=False, standalone_mode=False)
    return result.stdout


def matches(expected: tuple[str, ...], actual: list[str]) -> bool:
    """Whether lines are equal, where `...` stands for any lines (also none)."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[start:]) for start in range(len(actual) + 1))
    return bool(actual) and actual[0] == expected[0] and matches(expected[1:], actual[1:])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.command[:50])
def test_the_command_prints_what_the_page_says(example: Example) -> None:
    printed = run(example.command)
    assert matches(example.expected, printed.splitlines()), printed


def test_the_page_has_its_cases() -> None:
    commands = [example.command for example in EXAMPLES]
    assert len(commands) >= 15
    assert all(any(line != "..." for line in example.expected) for example in EXAMPLES)


def test_every_number_in_the_text_stands_in_a_command_or_its_output() -> None:
    sources = " ".join(line for e in EXAMPLES for line in (e.command, *e.expected))
    known = {number.replace(",", "") for number in NUMBER.findall(sources)}
    prose = BLOCK.sub("", TEXT)
    # Names are no numbers: int4, N11, links to headings, code.
    prose = re.sub(r"\(#[^)]*\)|`[^`]*`|\b[A-Za-z]+\d+\b", " ", prose)
    loose = {number for number in NUMBER.findall(prose) if number.replace(",", "") not in known}
    assert loose == set()


def test_links_lead_to_headings() -> None:
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\(#([^)]*)\)", TEXT)) <= anchors


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (("a", "..."), ["a"], True),
        (("...", "b"), ["a", "b"], True),
        (("...", "b", "..."), ["a", "c"], False),
        (("a",), ["a", "b"], False),
    ],
)
def test_drift_is_seen(expected: tuple[str, ...], actual: list[str], equal: bool) -> None:
    assert matches(expected, actual) is equal
