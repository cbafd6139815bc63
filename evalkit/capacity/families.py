"""What each architecture that is known looks like: names in `config.json` to structure.

Taken from the modelling files of transformers, and checked against its parameter counts
(`tests/capacity/counts.json`). What is not here is refused: a guess would look like a fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from evalkit.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Family:
    """The structure of an architecture, where its configuration does not say it.

    Attributes:
        attention: `gqa` (with MHA and MQA as its ends) or `mla`.
        qkv_bias: Whether these projections have biases; a configuration's
            `attention_bias` wins.
        o_bias: Likewise; `None` for the same as the others.
        mlp_bias: Likewise.
        gated: Whether the feed-forward layer has three matrices, not two.
        norms: Vectors of the residual's width in a layer.
        norm_bias: Whether norms have biases.
        qk_norm: `head` (one of a head's width for each of Q and K), `heads` (one for each
            head), `width` (of theirs), or nothing.
        qk_switch: Whether they are there only if `use_qk_norm`.
        tied: Whether the embedding is the head where the file does not say.
        window: Which layers slide: `all`, `none`, `switch` (if `use_sliding_window`, from
            `max_window_layers` on), or a number: all but every so many-th.
        window_field: What the width of the window is called.
        sparse: Which layers have experts: `none`, `all`, `step`, `first` or `interleave`.
        dense_field: What the width of layers without experts is called.
        shared: How shared experts are told: `none`, `own` (their width, and a gate),
            `number` (so many of the experts' width) or `one` (of that width).
        indexer: Whether each layer chooses tokens by an index of their keys (DSA).
        sinks: Whether each head has a learned sink.
        expert_bias: Whether experts and router have biases.
        gate_heads: Whether Q holds an output gate of its own width.
        linear: How gated delta layers pack their inputs: nothing where there are none.
        defaults: What transformers takes where the file is silent.
    """

    attention: str = "gqa"
    qkv_bias: bool = False
    o_bias: bool | None = None
    mlp_bias: bool = False
    gated: bool = True
    norms: int = 2
    norm_bias: bool = False
    qk_norm: str = ""
    qk_switch: bool = False
    tied: bool = False
    window: str | int = "none"
    window_field: str = "sliding_window"
    sparse: str = "none"
    dense_field: str = "intermediate_size"
    shared: str = "none"
    indexer: bool = False
    sinks: bool = False
    expert_bias: bool = False
    gate_heads: bool = False
    linear: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)


_GQA = Family()
_QWEN3 = Family(qk_norm="head", window="switch", defaults={"head_dim": 128})
_DEEPSEEK = Family(attention="mla", sparse="first", shared="number")
_GEMMA = Family(tied=True, defaults={"head_dim": 256})
_GEMMA3 = {
    "vocab_size": 262208,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "sliding_window": 4096,
    "max_position_embeddings": 131072,
}
_HYBRID = Family(
    qk_norm="head", gate_heads=True, linear="split", shared="own", defaults={"head_dim": 256}
)

FAMILIES: Final[Mapping[str, Family]] = {
    "llama": _GQA,
    "mistral": replace(_GQA, window="all"),
    "ministral3": replace(_GQA, window="all"),
    "granite": _GQA,
    "phi3": replace(_GQA, window="all"),
    "smollm3": replace(_GQA, tied=True, window="switch"),
    "ernie4_5": replace(_GQA, tied=True),
    "seed_oss": replace(_GQA, qkv_bias=True, o_bias=False, defaults={"head_dim": 128}),
    "qwen2": replace(_GQA, qkv_bias=True, o_bias=False, window="switch"),
    "qwen3": _QWEN3,
    "hunyuan_v1_dense": replace(_GQA, qk_norm="head"),
    "gemma": _GEMMA,
    "gemma2": replace(
        _GEMMA, norms=4, window=2, defaults={"head_dim": 256, "sliding_window": 4096}
    ),
    "gemma3_text": replace(_GEMMA, norms=4, qk_norm="head", window=6, defaults=_GEMMA3),
    "olmo2": replace(_GQA, qk_norm="width"),
    "olmo3": replace(_GQA, qk_norm="width", window=4, defaults={"sliding_window": 4096}),
    "exaone4": replace(_GQA, qk_norm="head", window=4),
    "glm4": replace(_GQA, norms=4, qkv_bias=True, o_bias=False, defaults={"head_dim": 128}),
    "cohere": replace(_GQA, norms=1, tied=True, qk_norm="heads", qk_switch=True),
    "cohere2": replace(_GQA, norms=1, tied=True, window=4, defaults={"sliding_window": 4096}),
    "arcee": replace(_GQA, gated=False),
    "nemotron": replace(_GQA, gated=False, norm_bias=True),
    "starcoder2": replace(
        _GQA,
        qkv_bias=True,
        mlp_bias=True,
        gated=False,
        norm_bias=True,
        tied=True,
        window="all",
    ),
    "mixtral": replace(_GQA, sparse="all", window="all"),
    "olmoe": replace(_GQA, sparse="all", qk_norm="width"),
    "granitemoe": replace(_GQA, sparse="all"),
    "phimoe": replace(_GQA, sparse="all", norm_bias=True, window="all"),
    "minimax_m2": replace(_GQA, sparse="all", qk_norm="width"),
    "qwen2_moe": replace(
        _GQA, qkv_bias=True, o_bias=False, sparse="step", shared="own", window="switch"
    ),
    "qwen3_moe": replace(_QWEN3, sparse="step", defaults={}),
    "gpt_oss": replace(
        _GQA,
        qkv_bias=True,
        sparse="all",
        window=2,
        sinks=True,
        expert_bias=True,
        defaults={"head_dim": 64, "sliding_window": 128},
    ),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "glm4_moe_lite": _DEEPSEEK,
    "deepseek_v32": replace(_DEEPSEEK, indexer=True),
    "glm_moe_dsa": replace(_DEEPSEEK, indexer=True),
    "dots1": replace(_GQA, qk_norm="head", sparse="first", shared="number"),
    "llama4_text": replace(
        _GQA,
        window=4,
        window_field="attention_chunk_size",
        sparse="interleave",
        dense_field="intermediate_size_mlp",
        shared="one",
        defaults={"head_dim": 128, "attention_chunk_size": 8192},
    ),
    "glm4_moe": replace(
        _GQA, o_bias=False, qk_norm="head", qk_switch=True, sparse="first", shared="number"
    ),
    "qwen3_next": replace(_HYBRID, linear="joined", sparse="step"),
    "qwen3_5_text": replace(_HYBRID, shared="none"),
    "qwen3_5_moe_text": replace(_HYBRID, sparse="all"),
}
# Other names of the same structure, and wrappers whose text part says no type of its own.
_SAME: Final = {
    "gemma3": "gemma3_text",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
}


def find_family(model_type: object, where: str) -> tuple[str, Family]:
    """Return the name of an architecture and its structure.

    Raises:
        ConfigError: When it is not known.
    """
    if not isinstance(model_type, str):
        raise ConfigError(
            f"{where} does not say model_type, so the architecture is not known.",
            hint="Give the config.json of the model itself, or a GGUF file.",
        )
    name = _SAME.get(model_type, model_type)
    if name not in FAMILIES:
        raise ConfigError(
            f"{where}: the architecture '{model_type[:40]}' is not one whose memory is known here.",
            hint=f"Give a GGUF file of the model. Known: {', '.join(FAMILIES)}.",
        )
    return name, FAMILIES[name]
