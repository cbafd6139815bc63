"""docs/reference is what the program says of itself now."""

from __future__ import annotations

import re

import pytest

from scripts.docs_reference import FOLDER, PAGES, described, made, type_of


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_would_be_made_now(name: str) -> None:
    kept = (FOLDER / name).read_text(encoding="utf-8")
    assert kept == made(name), "stale: run `make docs-reference`"


def test_no_other_page_lies_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_key_of_the_configuration_is_explained() -> None:
    """By its docstring, its option, or a section of its own."""
    page = (FOLDER / "configuration.md").read_text(encoding="utf-8")
    table = page.partition("## All keys")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .* \| (.*)\|$", table, re.MULTILINE)
    template = page.partition("```yaml")[2].partition("```")[0]
    silent = {key for key, kind, text in rows if not text.strip() and "](#" not in kind}
    assert {key for key in silent if f"\n{key}:" not in template} == set()


def test_docstrings_and_schemas_are_read() -> None:
    said = described("Does it.\n\nMore.\n\nArgs:\n    a: One,\n        and on.\n    b: Two.\n")
    assert said.text == "Does it.\n\nMore."
    assert said.sections == {"Args": {"a": "One, and on.", "b": "Two."}}
    assert type_of({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}) == (
        "integer ≥ 1 or null"
    )
    assert type_of({"type": "array", "items": {"$ref": "#/$defs/Load"}}) == "list of [Load](#load)"
