"""A model from its `config.json`, in the names of transformers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalkit.capacities import Note
from evalkit.capacity.families import Family, find_family
from evalkit.capacity.fields import Fields
from evalkit.capacity.layers import Block, mtp_tensors
from evalkit.capacity.model import Model, Tensor
from evalkit.capacity.structure import (
    FULL,
    Shape,
    active_experts,
    attention_layer,
    attention_layers,
    layer_kinds,
    read_shape,
    sparse_layers,
    window_notes,
)
from evalkit.capacity.vision import vision_tensors
from evalkit.errors import ConfigError

_MTP: Final = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers")
_MOST_MTP: Final = 16


def model_from_config(config: Mapping[str, Any], name: str, where: str) -> Model:
    """Return the model that a configuration describes.

    Args:
        config: What `config.json` holds.
        name: Of the model, for readers.
        where: The file, for messages.

    Raises:
        ConfigError: For an architecture that is not known, or a field that is missing or off.
    """
    inner = config.get("text_config")
    text = inner if isinstance(inner, Mapping) and inner else config
    kind = text.get("model_type") or config.get("model_type")
    architecture, family = find_family(kind, where)
    fields = Fields(text, where, family.defaults)
    shape = read_shape(fields, family)
    kinds = layer_kinds(fields, family, shape.layers)
    sparse = sparse_layers(fields, family, shape.layers)
    layers = attention_layers(fields, family, shape)
    tied = _tied(config, text, family, where)
    vision, vision_notes = vision_tensors(config, shape.hidden, where)
    extra = fields.optional(*_MTP, low=0, high=_MOST_MTP)
    tensors: list[Tensor] = list(_ends(shape, family, tied=tied))
    for index, (layer, experts) in enumerate(zip(kinds, sparse, strict=True)):
        block = Block(fields, family, shape, f"model.layers.{index}")
        tensors += block.tensors(layer, sparse=experts)
    for index in range(extra or 0):
        block = Block(fields, family, shape, f"model.layers.{shape.layers + index}", "mtp")
        tensors += mtp_tensors(block, FULL, sparse=sparse[-1])
    mtp = attention_layer(fields, family, shape, FULL)
    width = _width(fields, family, shape, any(sparse), not all(sparse))
    return Model(
        name=name,
        architecture=architecture,
        tensors=(*tensors, *vision),
        layers=layers,
        mtp_layers=(mtp,) * (extra or 0),
        hidden=shape.hidden,
        width=width,
        vocabulary=shape.vocabulary,
        max_context=fields.optional("max_position_embeddings"),
        notes=(*fields.notes(), *vision_notes, *_notes(family, extra), *window_notes(layers)),
    )


def _notes(family: Family, extra: int | None) -> Iterator[Note]:
    if extra:
        yield Note("mtp", {"count": str(extra)})
    if family.indexer:
        yield Note("indexer", {})


def _tied(config: Mapping[str, Any], text: Mapping[str, Any], family: Family, where: str) -> bool:
    # A wrapper's own word counts: the text part inside often holds a default.
    for source in (config, text):
        value = source.get("tie_word_embeddings")
        if isinstance(value, bool):
            return value
        if value is not None:
            raise ConfigError(f"{where}: tie_word_embeddings is not true or false.")
    return family.tied


def _ends(shape: Shape, family: Family, *, tied: bool) -> Iterator[Tensor]:
    size = (shape.vocabulary, shape.hidden)
    yield Tensor("model.embed_tokens", "embedding", *size)
    if not tied:
        yield Tensor("lm_head", "head", *size)
    width = shape.hidden * (2 if family.norm_bias else 1)
    yield Tensor("model.norm", "norms", width, linear=False)


def _width(fields: Fields, family: Family, shape: Shape, sparse: bool, dense: bool) -> int:
    """Return the elements that the widest step of any layer holds for a token."""
    q = shape.heads * shape.head_dim
    kv = shape.kv_heads * shape.head_dim
    widths = [2 * q + 2 * kv]
    if family.attention == "mla":
        rope, nope = fields.number("qk_rope_head_dim"), fields.number("qk_nope_head_dim")
        heads = 3 * nope + 2 * rope + 2 * fields.number("v_head_dim")
        widths = [shape.heads * heads]
    if dense:
        widths.append(3 * fields.number(family.dense_field))
    if sparse:
        expert = fields.number("moe_intermediate_size", "intermediate_size")
        widths.append(active_experts(fields) * (3 * expert + shape.hidden))
    return max(widths)
