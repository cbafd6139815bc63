"""Which findings of the preflight a new engine or new weights explain, and which not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.collect.journal import RunFolder
from evalkit.stages.against_change import may_answer_alike, release_changes, release_confounders
from evalkit.stages.collecting import CollectedRun
from evalkit.types import Identity

THEN = Identity(
    "openai", "m", engine="vLLM", engine_version="0.10", weights_hash="a", quantization="Q4_K",
    template_hash="t", base_url="http://a",
)  # fmt: skip


@pytest.mark.parametrize(
    ("now", "codes", "alike"),
    [
        # The same twice is no release, at whatever address.
        ({}, ["SAME_ENDPOINT"], False),
        ({"base_url": "http://b"}, ["SAME_ENDPOINT"], False),
        ({"engine_version": "0.11"}, [], True),
        ({"weights_hash": "b"}, [], True),
        ({"engine": "SGLang", "weights_hash": "b"}, [], True),
        ({"weights_hash": None}, [], False),
        # A template is what the prompts become: no release explains another one.
        ({"engine_version": "0.11", "template_hash": "u"}, ["CONFIG_MISMATCH"], True),
        ({"weights_hash": "b", "context_length": 1}, [], True),
        ({"weights_hash": "b", "request_hash": "x"}, ["CONFIG_MISMATCH"], True),
    ],
)
def test_what_stands_against_a_release(now: dict[str, Any], codes: list[str], alike: bool) -> None:
    runs = [
        CollectedRun(name, name, identity, RunFolder(Path(name)), ())
        for name, identity in (("old", THEN), ("new", replace(THEN, **now)))
    ]
    changes = release_changes(runs)
    assert [code.code for code in release_confounders(runs, changes)["new"]] == codes
    assert may_answer_alike(changes["new"]) is alike
