"""What the fields of a configuration say of its layers: sizes, kinds, windows, experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evalkit.capacities import Note
from evalkit.capacity.families import Family
from evalkit.capacity.fields import Fields
from evalkit.capacity.model import Attention
from evalkit.errors import ConfigError

MOST_WIDTH: Final = 10_000_000
FULL: Final = "full_attention"
LINEAR: Final = "linear_attention"
_SLIDING: Final = "sliding_attention"
_CHUNKED: Final = "chunked_attention"
_INDEXED: Final = "indexed_attention"
_MOST_LAYERS: Final = 2000
_MOST_EXPERTS: Final = 100_000
_STATE_BYTES: Final = 4
_CONV_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes that every layer shares."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int


def read_shape(fields: Fields, family: Family) -> Shape:
    """Read the sizes that every layer shares.

    Raises:
        ConfigError: When one is missing or is no such number.
    """
    hidden = fields.number("hidden_size", high=MOST_WIDTH)
    heads = fields.number("num_attention_heads", high=MOST_WIDTH)
    head_dim = fields.optional("head_dim", high=MOST_WIDTH)
    if head_dim is None:
        if hidden % heads and family.attention == "gqa":
            raise ConfigError(f"{fields.where}: {hidden} hidden units do not divide by {heads}.")
        head_dim = hidden // heads
    return Shape(
        hidden=hidden,
        layers=fields.number("num_hidden_layers", high=_MOST_LAYERS),
        heads=heads,
        kv_heads=fields.number("num_key_value_heads", default=heads, high=MOST_WIDTH),
        head_dim=head_dim,
        vocabulary=fields.number("vocab_size", high=MOST_WIDTH * 10),
    )


def layer_kinds(fields: Fields, family: Family, layers: int) -> list[str]:
    """Return what each layer attends to: all, a window, or a state of fixed size.

    Raises:
        ConfigError: For a kind that is not known.
    """
    named = fields.words("layer_types", layers)
    if named is not None:
        known = {FULL, _SLIDING, _CHUNKED} | ({LINEAR} if family.linear else set())
        known |= {_INDEXED} if family.indexer else set()
        for kind in named:
            if kind not in known:
                raise ConfigError(
                    f"{fields.where}: layer_types holds '{kind[:40]}', whose memory is not known."
                )
        return named
    if family.linear:
        every = fields.number("full_attention_interval", default=4)
        return [FULL if (i + 1) % every == 0 else LINEAR for i in range(layers)]
    if family.window == "none" or fields.optional(family.window_field, low=0) is None:
        return [FULL] * layers
    if family.window == "all":
        return [_SLIDING] * layers
    if family.window == "switch":
        on = fields.flag("use_sliding_window", default=False)
        first = fields.number("max_window_layers", default=layers, low=0) if on else layers
        return [_SLIDING if i >= first else FULL for i in range(layers)]
    if family.window_field == "attention_chunk_size":
        # Named for the opposite: a one stands for a layer that does turn, within a chunk.
        turning = fields.flags("no_rope_layers", layers)
        if turning is not None:
            return [_CHUNKED if turns else FULL for turns in turning]
    names = ("sliding_window_pattern", "no_rope_layer_interval")
    every = fields.number(*names, default=int(family.window))
    return [_SLIDING if (i + 1) % every else FULL for i in range(layers)]


def attention_layers(fields: Fields, family: Family, shape: Shape) -> tuple[Attention, ...]:
    """Return what each layer keeps of a sequence.

    Raises:
        ConfigError: For a kind that is not known.
    """
    kinds = layer_kinds(fields, family, shape.layers)
    return tuple(attention_layer(fields, family, shape, kind) for kind in kinds)


def attention_layer(fields: Fields, family: Family, shape: Shape, kind: str) -> Attention:
    """Return what one layer keeps of a sequence."""
    if kind == LINEAR:
        delta = Delta.read(fields)
        conv = delta.mixed * (delta.kernel - 1) * _CONV_BYTES
        state = delta.value_heads * delta.key_dim * delta.value_dim * _STATE_BYTES
        return Attention("linear", state=conv + state)
    if family.attention == "mla":
        rank, rope = fields.number("kv_lora_rank"), fields.number("qk_rope_head_dim")
        # The indexer keeps a key of its own for each token.
        index = fields.number("index_head_dim") if family.indexer else 0
        return Attention("latent", rank + rope + index)
    elements = 2 * shape.kv_heads * shape.head_dim
    if kind in (_SLIDING, _CHUNKED):
        return Attention("sliding", elements, window=fields.number(family.window_field))
    return Attention("full", elements)


@dataclass(frozen=True, slots=True)
class Delta:
    """A gated delta layer: linear attention with a convolution before it."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int

    @classmethod
    def read(cls, fields: Fields) -> Delta:
        """Read its sizes."""
        return cls(
            fields.number("linear_num_key_heads"),
            fields.number("linear_num_value_heads"),
            fields.number("linear_key_head_dim"),
            fields.number("linear_value_head_dim"),
            fields.number("linear_conv_kernel_dim", default=4),
        )

    @property
    def mixed(self) -> int:
        """Width that the convolution mixes: Q, K and V."""
        return 2 * self.key_heads * self.key_dim + self.values

    @property
    def values(self) -> int:
        """Width of V over all heads."""
        return self.value_heads * self.value_dim


def expert_count(fields: Fields) -> int:
    """Return the routed experts of a layer.

    Raises:
        ConfigError: When the file does not say.
    """
    names = ("num_local_experts", "num_experts", "n_routed_experts")
    return fields.number(*names, high=_MOST_EXPERTS)


def active_experts(fields: Fields) -> int:
    """Return the routed experts that one token passes through.

    Raises:
        ConfigError: When the file does not say, or says more than there are.
    """
    return fields.number("num_experts_per_tok", "experts_per_token", high=expert_count(fields))


def sparse_layers(fields: Fields, family: Family, layers: int) -> list[bool]:
    """Return which layers have experts instead of one feed-forward network.

    Raises:
        ConfigError: For a kind that is not known.
    """
    named = fields.words("mlp_layer_types", layers) if family.sparse != "none" else None
    if named is not None:
        if not set(named) <= {"dense", "sparse"}:
            raise ConfigError(f"{fields.where}: mlp_layer_types holds neither dense nor sparse.")
        return [kind == "sparse" for kind in named]
    if family.sparse == "step":
        step = fields.number("decoder_sparse_step", default=1)
        dense = fields.numbers("mlp_only_layers")
        return [i not in dense and (i + 1) % step == 0 for i in range(layers)]
    if family.sparse == "first":
        first = fields.number("first_k_dense_replace", default=0, low=0)
        every = fields.optional("moe_layer_freq") or 1
        return [i >= first and i % every == 0 for i in range(layers)]
    if family.sparse == "interleave":
        step = fields.number("interleave_moe_layer_step", default=1)
        listed = fields.numbers("moe_layers")
        return [i in listed if listed else (i + 1) % step == 0 for i in range(layers)]
    return [family.sparse == "all"] * layers


def window_notes(layers: tuple[Attention, ...]) -> tuple[Note, ...]:
    """Say what is assumed of layers that do not keep the whole sequence."""
    kinds = {layer.kind for layer in layers}
    keys = (("sliding", "window"), ("latent", "latent"), ("linear", "state"))
    return tuple(Note(key, {}) for kind, key in keys if kind in kinds)
