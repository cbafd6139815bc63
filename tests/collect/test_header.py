from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.collect.header import adopt_header, identity_of, make_header
from evalkit.collect.journal import RunFolder
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.errors import FingerprintMismatch, StoreError
from evalkit.types import Identity, Sampling
from tests.collect.builders import completion

IDENTITY = Identity(kind="openai", model="m", engine="vLLM", base_url="http://h/v1")
RAW = {"kind": "openai", "base_url": "http://u:hush-hush@h", "model": "m"}


def header(
    identity: Identity = IDENTITY, sampling: dict[str, Sampling] | None = None
) -> dict[str, Any]:
    endpoint = parse_endpoint("mine", RAW, EndpointOptions())
    return make_header(endpoint, identity, sampling or {"facts": Sampling(max_tokens=8)}, seed=5)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder.create_or_open(tmp_path / "run")
    with folder:
        adopt_header(folder, header())
        folder.append(completion(0))
    return folder


def test_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    made = header()
    assert made["endpoint"] == {"name": "mine", "label": "m at h"}
    assert made["seed"] == 5
    assert made["sampling"]["facts"]["max_tokens"] == 8
    assert made["versions"]["evalkit"]
    text = json.dumps(made)
    assert "hush-hush" not in text
    assert "sk-very-secret" not in text


def test_identity_comes_back(folder: RunFolder) -> None:
    read = folder.read_header()
    assert read is not None
    assert identity_of(read) == IDENTITY
    with pytest.raises(StoreError):
        identity_of({})


def test_the_same_run_goes_on_and_keeps_its_beginning(folder: RunFolder) -> None:
    before = folder.read_header()
    assert before is not None
    with folder:
        adopt_header(folder, {**header(), "created": "later"})
    assert folder.read_header() == before


def test_another_taskset_joins(folder: RunFolder) -> None:
    with folder:
        adopt_header(folder, header(sampling={"math": Sampling(max_tokens=99)}))
    read = folder.read_header()
    assert read is not None
    assert set(read["sampling"]) == {"facts", "math"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            header(replace(IDENTITY, quantization="int4")),
            ["quantization None → 'int4'", "--fresh", "--output"],
        ),
        (header(replace(IDENTITY, base_url="http://h2/v1")), ["'http://h/v1' → 'http://h2/v1'"]),
        (header(sampling={"facts": Sampling(max_tokens=9)}), ["facts.max_tokens 8 → 9"]),
        (header(sampling={"facts": Sampling(8, stop=("x",))}), ["facts.stop [] → ['x']"]),
    ],
)
def test_another_endpoint_or_other_settings_are_refused(
    folder: RunFolder, changed: dict[str, Any], words: list[str]
) -> None:
    before = folder.read_header()
    with folder, pytest.raises(FingerprintMismatch) as caught:
        adopt_header(folder, changed)
    for word in words:
        assert word in str(caught.value)
    assert folder.read_header() == before
    assert list(folder.completions()) == [completion(0)]


def test_another_revision_of_a_public_set_is_refused(folder: RunFolder) -> None:
    def asked(revision: str | None) -> dict[str, Any]:
        row = {"name": "facts", "revision": revision} if revision else {"name": "facts"}
        return {**header(), "plan": {"tasksets": [row, {"name": revision or "other"}]}}

    with RunFolder.create_or_open(folder.path) as opened:
        adopt_header(opened, asked("a" * 40))
        adopt_header(opened, asked("a" * 40))
        with pytest.raises(FingerprintMismatch, match=r"facts\.revision 'a+' → 'b+'"):
            adopt_header(opened, asked("b" * 40))


def test_known_weights_may_move_to_another_port(tmp_path: Path) -> None:
    folder = RunFolder.create_or_open(tmp_path)
    known = replace(IDENTITY, weights_hash="abc")
    with folder:
        adopt_header(folder, header(known))
        adopt_header(folder, header(replace(known, base_url="http://h2/v1")))
