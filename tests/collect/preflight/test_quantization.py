from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evalkit.collect.preflight.quantization import bits_of, claim_findings, compare
from evalkit.types import Identity


def told(quantization: str | None, **details: Any) -> Identity:
    return Identity(kind="openai", model="m", quantization=quantization, details=details)


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("Q4_K - Medium", 4),
        ("Q4_0", 4),
        ("IQ3_XXS", 3),
        ("Q8_0", 8),
        ("model-Q5_K_M-ab12cd", 5),
        ("Qwen3-8B-int4", 4),
        ("my/model-W4A16-G128", 4),
        ("compressed-tensors int4, groups of 64", 4),
        ("compressed-tensors fp8", 8),
        ("Llama-3.1-8B-FP8", 8),
        ("nf4", 4),
        ("MXFP4 MoE", 4),
        ("model-4bit", 4),
        ("int3 round-to-nearest, groups of 64", 3),
        ("bf16", 16),
        ("F16", 16),
        ("all F32", 32),
        # Sizes and names are no bits.
        ("gemma-3-4b-it", None),
        ("Qwen2.5-3B-Instruct", None),
        ("rtn4", None),
        ("phi-4", None),
        ("SmolLM2-135M-Instruct", None),
        ("gpt-4o", None),
        ("", None),
        (None, None),
    ],
)
def test_bits_of_a_name(text: str | None, bits: int | None) -> None:
    assert bits_of(text) == bits


@pytest.mark.parametrize(
    ("quantization", "claim", "status"),
    [
        ("F16", "qwen-int4", "failed"),
        ("bf16", "model-AWQ", "failed"),
        ("Q8_0", "model-int4", "failed"),
        ("Q4_0", "fp8-baseline", "failed"),
        ("Q4_0", "model-int4", "ok"),
        ("awq int4", "model-AWQ", "ok"),
        ("Q4_0", "candidate", "ok"),
        ("something else", "model-int4", "ok"),
        (None, "model-int4", "not_testable"),
    ],
)
def test_what_a_name_promises_is_what_is_told(
    quantization: str | None, claim: str, status: str
) -> None:
    (finding,) = claim_findings(told(quantization), [claim])
    assert finding.status == status
    if status == "failed":
        assert claim in finding.message
        assert str(quantization) in finding.message


@pytest.mark.parametrize(
    ("claim", "status"),
    [("f16-q4", "ok"), ("f16+q4", "ok"), ("f16", "ok"), ("q8-q4", "failed"), ("int4", "failed")],
)
def test_a_name_may_tell_of_the_draft_too(claim: str, status: str) -> None:
    (finding,) = claim_findings(told("F16", draft={"file": "q4.gguf"}), [claim])
    assert finding.status == status
    (alone,) = claim_findings(told("F16"), ["f16-q4"])
    assert alone.status == "failed"


Q8 = told("Q8_0", n_params=100, size=1000)


@pytest.mark.parametrize(
    ("candidate", "same_numbers", "status"),
    [
        (told("Q4_0", n_params=100, size=500), False, "ok"),
        (told("Q8_0", n_params=100, size=1000), False, "differs"),
        (told("Q8_0", n_params=100, size=900), False, "ok"),
        (told("F16", n_params=100, size=2000), False, "differs"),
        (told("bf16", config_quantized=False, root="/b"), False, "differs"),
        (told("compressed-tensors int4", config_quantized=True, root="/b"), False, "ok"),
        (told(None), False, "not_testable"),
    ],
)
def test_the_candidate_must_be_the_cheaper_build(
    candidate: Identity, same_numbers: bool, status: str
) -> None:
    (finding,) = compare(Q8, candidate, same_numbers=same_numbers)
    assert finding.status == status, finding


@pytest.mark.parametrize(
    ("same_numbers", "status"), [(False, "not_testable"), (True, "differs"), (None, "differs")]
)
def test_a_checkpoint_may_be_quantized_while_it_is_loaded(
    same_numbers: bool | None, status: str
) -> None:
    """Two servers of one bf16 folder: only that their numbers differ tells that one is not."""
    both = told("bf16", config_quantized=False, root="/a")
    (finding,) = compare(both, replace(both, model="n"), same_numbers=same_numbers)
    assert finding.status == status
