"""The words that subjects, documents and dialogues are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from evalkit.resources import resource_dir
from evalkit.types import Language

FOLDER = "longform-fresh"
_LISTS = (
    *("given", "family", "town_first", "town_second", "streets", "street_kind", "name_first"),
    *("name_second", "weekdays", "months", "jobs"),
)


@cache
def words(language: Language) -> Mapping[str, Any]:
    """Read the words of a language; those on one line become lists."""
    path = resource_dir("tasksets") / FOLDER / "words.yaml"
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))[language]
    return found | {name: found[name].split() for name in _LISTS}
