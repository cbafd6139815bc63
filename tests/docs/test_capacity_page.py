"""docs/capacity.md: its commands are run, and its numbers are those of the plan and the facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalkit.cli.main import cli
from tests.capacity.helpers import PUBLISHED
from tests.docs.test_statistics_page import Example, examples, matches, run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
EXAMPLES = examples(TEXT)


@pytest.mark.parametrize("example", EXAMPLES, ids=["moe", "stored"])
def test_the_command_prints_what_the_page_says(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    printed = run(example.command)
    assert matches(example.expected, printed.splitlines()), printed


def test_numbers_in_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = [*EXAMPLES[0].command.split()[1:], "--json"]
    body = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)
    weights = {f["name"]: f["components"]["weights"] / 1e9 for f in body["footprints"]}
    assert f"{body['parameters'] // 10**9} billion parameters take" in TEXT
    assert f"{weights['bf16']:.1f} GB at 16 bits and {weights['int4']:.1f} GB as int4" in TEXT
    sizes = {size["folder"]: size for size in json.loads((PUBLISHED / "sizes.json").read_text())}
    assert f"have {sizes['DeepSeek-V3']['bytes'] / 1e9:.1f} GB" in TEXT
    assert len(sizes) == 10
