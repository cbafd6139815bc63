"""Hashes, registry and errors: what everything else stands on."""

from __future__ import annotations

import gc
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import errors
from evalkit.errors import EvalKitError, ExitCode, UnknownNameError, UsageError
from evalkit.fingerprint import (
    canonical,
    digest,
    digest_and_seal,
    digest_and_seal_rows,
    identity_key,
    prompt_hash,
    request_fingerprint,
)
from evalkit.garbage import rare_collections
from evalkit.registry import Registry
from evalkit.resources import resource_dir
from evalkit.types import Identity, Message, Sampling

ONE = Identity(kind="openai", model="m", engine="vllm", base_url="http://a:1")
MESSAGES = (Message("user", "Hi"),)


def test_answers_of_one_quantization_never_serve_as_another_s() -> None:
    base = request_fingerprint(ONE, "p", 0)
    others = [
        replace(ONE, quantization="int4"),
        replace(ONE, base_url="http://b:1"),
        replace(ONE, model="n"),
        replace(ONE, engine_version="2"),
        replace(ONE, template_hash="t"),
        replace(ONE, request_hash="r"),
        replace(ONE, context_length=512),
        replace(ONE, weights_hash="w"),
    ]
    fingerprints = [request_fingerprint(other, "p", 0) for other in others]
    fingerprints += [request_fingerprint(ONE, "q", 0), request_fingerprint(ONE, "p", 1), base]
    assert len(set(fingerprints)) == len(fingerprints)


def test_known_weights_may_move_to_another_port() -> None:
    here = replace(ONE, weights_hash="w")
    assert identity_key(here) == identity_key(replace(here, base_url="http://b:2"))
    # Evidence beside the key does not change what may be reused.
    assert identity_key(here) == identity_key(replace(here, details={"n_params": 1}))


def test_every_sampling_field_is_part_of_the_prompt() -> None:
    base = Sampling(max_tokens=8)
    changed = [
        replace(base, max_tokens=9),
        replace(base, temperature=0.1),
        replace(base, top_p=0.9),
        replace(base, top_k=1),
        replace(base, min_p=0.1),
        replace(base, repetition_penalty=1.1),
        replace(base, presence_penalty=0.1),
        replace(base, frequency_penalty=0.1),
        replace(base, seed=1),
        replace(base, stop=("x",)),
        replace(base, logprobs=1),
    ]
    hashes = {prompt_hash(MESSAGES, sampling) for sampling in (base, *changed)}
    assert len(hashes) == len(changed) + 1
    assert prompt_hash((Message("system", "Hi"),), base) not in hashes


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.lists(st.tuples(st.sampled_from(["system", "user"]), st.text(st.characters()))),
    st.builds(Sampling, st.integers(), st.floats(0, 2) | st.just(0), stop=st.just(('a"',))),
    st.integers(0, 9),
)
def test_the_quick_hashes_are_digests_of_what_they_stand_for(
    turns: list[tuple[Any, str]], sampling: Sampling, epoch: int
) -> None:
    messages = tuple(Message(role, content) for role, content in turns)
    asked = {"messages": [asdict(m) for m in messages], "sampling": asdict(sampling)}
    prompt = prompt_hash(messages, sampling)
    assert prompt == digest(asked)
    key = {"identity": identity_key(ONE), "prompt": prompt, "epoch": epoch}
    assert request_fingerprint(ONE, prompt, epoch) == digest(key)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    turned = dict(reversed(list(value.items())))
    assert canonical(value) == canonical(turned)
    assert digest(value) == digest(turned)


@given(json_values, st.lists(json_values, max_size=4))
def test_rows_are_hashed_as_a_list_of_them(head: object, rows: list[object]) -> None:
    whole = digest_and_seal({"head": head, "rows": rows})
    assert digest_and_seal_rows(head, iter(rows)) == whole


def test_what_json_cannot_hold_is_refused() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="Out of range"):
            canonical(value)


def test_a_registry_suggests_and_refuses_two_of_a_name() -> None:
    registry: Registry[int] = Registry("thing")
    registry.register("alpha")(1)
    assert registry.get("alpha") == 1
    assert "alpha" in registry
    with pytest.raises(UnknownNameError, match=r"Unknown thing 'alpah'. Did you mean alpha\?"):
        registry.get("alpah")
    with pytest.raises(ValueError, match="registered twice"):
        registry.register("alpha")(2)


def test_packages_bring_further_things_and_cannot_take_a_built_in_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "things-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: things\nVersion: 1\n")
    points = "json = nowhere:x\nours = json:dumps\nbroken = no_such_module:x\n"
    (installed / "entry_points.txt").write_text(f"[evalkit.tests]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[Any] = Registry("thing", {"json": "json"}, group="evalkit.tests")
    registry.register("json")(json)
    assert registry.get("json") is json
    assert registry.get("ours") is json.dumps
    assert list(registry) == ["broken", "json", "ours"]
    with pytest.raises(UsageError, match="of the package things cannot be loaded"):
        registry.get("broken")
    with pytest.raises(UnknownNameError, match="Did you mean ours"):
        registry.get("our")


def test_every_error_has_a_documented_exit_code() -> None:
    documented = {v for k, v in vars(ExitCode).items() if k.isupper()}
    classes = [
        c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, EvalKitError)
    ]
    assert len(classes) > 20
    for cls in classes:
        assert cls.exit_code in documented
        assert cls.__name__ in (errors.__doc__ or "")
        assert cls.__doc__


def test_shipped_data_is_found() -> None:
    assert (resource_dir("tasksets") / "facts" / "taskset.yaml").is_file()
    assert resource_dir("templates").is_dir()


@pytest.mark.parametrize(
    ("before", "within"), [((700, 10, 10), 10_000), ((50_000, 5, 5), 50_000), ((0, 10, 10), 0)]
)
def test_the_collector_is_slowed_for_a_while_and_never_against_the_callers_will(
    before: tuple[int, int, int], within: int
) -> None:
    found = gc.get_threshold()
    try:
        gc.set_threshold(*before)
        with rare_collections():
            assert gc.get_threshold() == (within, *before[1:])
        assert gc.get_threshold() == before
    finally:
        gc.set_threshold(*found)
