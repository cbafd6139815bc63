"""Samples for scorer tests, made by hand."""

from collections.abc import Mapping
from typing import Any

from evalkit.types import Family, Language, Message, Sample


def make_sample(
    family: Family, target: Mapping[str, Any], prompt: str = "?", language: Language = "en"
) -> Sample:
    return Sample(
        id="s-1",
        taskset=family.value,
        family=family,
        language=language,
        category="test",
        messages=(Message("user", prompt),),
        target=target,
    )
