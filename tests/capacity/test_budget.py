"""KV cache, activations, drafts, and what fits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.capacity.budget import Draft, activation_bytes, kv_bytes
from evalkit.capacity.model import parameters
from tests.capacity.helpers import LLAMA, config, layouts, model, plan

TOKENS = 10_000


@pytest.mark.parametrize(
    ("change", "by_hand"),
    [
        pytest.param({"num_key_value_heads": 8}, 4 * 2 * 8 * 32 * TOKENS * 2, id="MHA"),
        pytest.param({"num_key_value_heads": 2}, 4 * 2 * 2 * 32 * TOKENS * 2, id="GQA"),
        pytest.param({"num_key_value_heads": 1}, 4 * 2 * 1 * 32 * TOKENS * 2, id="MQA"),
        pytest.param({"head_dim": 64}, 4 * 2 * 2 * 64 * TOKENS * 2, id="own head size"),
        pytest.param(
            {"model_type": "mistral", "sliding_window": 100},
            4 * 2 * 2 * 32 * 100 * 2,
            id="sliding",
        ),
        pytest.param(
            {"model_type": "gemma2", "sliding_window": 100, "head_dim": 32},
            2 * 2 * 2 * 32 * (100 + TOKENS) * 2,
            id="every other layer slides",
        ),
        pytest.param(
            {"model_type": "gemma3_text", "sliding_window": 100, "head_dim": 32,
             "num_hidden_layers": 13},
            2 * 2 * 32 * (11 * 100 + 2 * TOKENS) * 2,
            id="every sixth layer does not slide",
        ),
        pytest.param(
            {"model_type": "qwen3", "head_dim": 32, "sliding_window": 100,
             "use_sliding_window": True, "max_window_layers": 3},
            2 * 2 * 32 * (100 + 3 * TOKENS) * 2,
            id="the last layer slides",
        ),
        pytest.param(
            {"model_type": "qwen3", "head_dim": 32, "sliding_window": 100,
             "use_sliding_window": False},
            4 * 2 * 2 * 32 * TOKENS * 2,
            id="a window that is off",
        ),
        pytest.param(
            {"model_type": "olmo3", "sliding_window": 100,
             "layer_types": ["full_attention", "sliding_attention"] * 2},
            2 * 2 * 2 * 32 * (100 + TOKENS) * 2,
            id="layer_types",
        ),
        pytest.param(
            {"model_type": "llama4_text", "attention_chunk_size": 100, "head_dim": 32,
             "num_local_experts": 2, "num_experts_per_tok": 1, "intermediate_size_mlp": 9},
            2 * 2 * 32 * (3 * 100 + TOKENS) * 2,
            id="chunks",
        ),
        pytest.param(
            {"model_type": "llama4_text", "attention_chunk_size": 100, "head_dim": 32,
             "num_local_experts": 2, "num_experts_per_tok": 1, "intermediate_size_mlp": 9,
             "no_rope_layers": [1, 0, 0, 0]},
            2 * 2 * 32 * (100 + 3 * TOKENS) * 2,
            id="chunks by layer",
        ),
    ],
)  # fmt: skip
def test_kv_cache_by_hand(change: dict[str, Any], by_hand: int) -> None:
    found = model({**LLAMA, **change})
    assert kv_bytes(found.layers, TOKENS, "bf16") == by_hand
    assert kv_bytes(found.layers, TOKENS, "fp8") == by_hand // 2


def test_published_kv_caches() -> None:
    per_token = {
        # 2 × 80 layers × 8 heads × 128 × 2 bytes
        "Llama-3.1-70B": 327_680,
        # 2 × 48 × 4 × 128 × 2
        "Qwen3-30B-A3B": 98_304,
        # 61 layers × (512 + 64) × 2 bytes: DeepSeek-V3 has 70 kB a token
        "DeepSeek-V3": 70_272,
        # Ten of forty layers keep a cache
        "Qwen3.6-35B-A3B": 20_480,
    }
    for folder, expected in per_token.items():
        found = plan(model(config(folder)), "bf16")
        assert found.kv_bytes_per_token == expected, folder


def test_a_linear_layer_keeps_a_state_that_does_not_grow() -> None:
    layers = model(config("Qwen3.6-35B-A3B")).layers
    growth = kv_bytes(layers, 2000, "bf16") - kv_bytes(layers, 1000, "bf16")
    state = 30 * (32 * 128 * 128 * 4 + (2 * 16 * 128 + 32 * 128) * 3 * 2)
    assert growth == 1000 * 20_480
    assert kv_bytes(layers, 1000, "bf16") == growth + state


def test_activations_grow_with_the_step_and_the_widest_layer() -> None:
    dense = model(LLAMA)
    one, two = (activation_bytes(dense, tokens, 1, 2) for tokens in (100, 200))
    # residual and its norm, gate, up and their product; logits of one sequence
    assert two - one == 100 * (2 * 256 + 3 * 512) * 2
    assert one == 100 * (2 * 256 + 3 * 512) * 2 + 1000 * 4
    wide = model({**LLAMA, "intermediate_size": 4096})
    assert activation_bytes(wide, 100, 1, 2) > one


def test_the_sum_and_its_headroom() -> None:
    found = plan(model(LLAMA), "bf16", headroom=0.2)
    (print_,) = found.footprints
    used = sum(size for key, size in print_.components.items() if key != "headroom")
    assert print_.needed == pytest.approx(used / 0.8, abs=2)
    assert print_.fits is None
    assert print_.longest_context is None


@settings(max_examples=60, deadline=None)
@given(
    device=st.integers(min_value=1_000_000, max_value=400_000_000),
    concurrency=st.integers(min_value=1, max_value=40),
    headroom=st.floats(min_value=0, max_value=0.5),
    window=st.sampled_from([None, 64, 1000]),
)
def test_the_longest_context_fits_and_one_token_more_does_not(
    device: int, concurrency: int, headroom: float, window: int | None
) -> None:
    found = model({**LLAMA, "model_type": "mistral", "sliding_window": window})
    common: dict[str, Any] = {"device": device, "headroom": headroom}

    def fits(context: int, sequences: int) -> bool:
        again = plan(found, "int4", context=context, concurrency=sequences, **common)
        return bool(again.footprints[0].fits)

    (print_,) = plan(found, "int4", concurrency=concurrency, **common).footprints
    longest, most = print_.longest_context, print_.most_sequences
    assert longest is not None
    assert most is not None
    if longest:
        assert fits(longest, concurrency)
    if longest < 4096:
        assert not fits(longest + 1, concurrency)
    if most:
        assert fits(1024, most)
    if most < 1 << 16:
        assert not fits(1024, most + 1)
    contexts = [room.context for room in print_.rooms]
    assert contexts == sorted(contexts, reverse=True)
    assert print_.fits_at_all is fits(1, 1)


def test_the_models_own_limit_is_told_from_the_memory() -> None:
    (roomy,) = plan(model(LLAMA), "int4", device=10**12).footprints
    assert {(room.context, room.at_limit) for room in roomy.rooms} == {(4096, True)}
    keys = {note.key for note in plan(model(LLAMA), "int4", context=5000).notes}
    assert "beyond_limit" in keys


def test_one_token_reads_one_row_of_the_embedding() -> None:
    whole, tied = (
        plan(model({**LLAMA, "tie_word_embeddings": tie}), "bf16").footprints[0]
        for tie in (False, True)
    )
    assert whole.components["weights"] - whole.active_weights == 2 * 999 * 256
    assert tied.components["weights"] == tied.active_weights


def test_a_draft_model_has_weights_and_a_cache_of_its_own() -> None:
    target, small = model(LLAMA), model({**LLAMA, "num_hidden_layers": 1})
    alone = plan(target, "bf16").footprints[0].components
    (four,) = layouts("int4")
    found = plan(target, "bf16", draft=Draft(small, four))
    both = found.footprints[0].components
    assert both["draft_kv_cache"] == 2 * kv_bytes(small.layers, 1024, "bf16")
    assert 0 < both["draft_weights"] < 2 * parameters(small.tensors)
    assert both["weights"] == alone["weights"]
    assert both["kv_cache"] == alone["kv_cache"]


def test_the_mtp_head_takes_memory_only_when_it_is_used() -> None:
    found = model(config("DeepSeek-V3"))
    alone = plan(found, "bf16").footprints[0]
    used = plan(found, "bf16", draft=Draft()).footprints[0]
    assert "draft_weights" not in alone.components
    # 11.5 billion parameters without the shared embedding and head (DeepSeek-V3, README).
    assert used.components["draft_weights"] / 2e9 == pytest.approx(11.5, rel=0.03)
    assert used.components["draft_kv_cache"] == 2 * 1024 * (512 + 64) * 2
    assert alone.checkpoint == used.checkpoint
