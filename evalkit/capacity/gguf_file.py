"""A model from the metadata of a GGUF file: each tensor's shape, type and bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from evalkit.capacity.fields import Fields
from evalkit.capacity.model import Attention, Model, Tensor
from evalkit.capacity.structure import window_notes
from evalkit.errors import ConfigError, MissingExtraError, StoreError

INSTALL: Final = "pip install 'quant-evalkit[local]'"
# Layers that slide where the file only says how wide: all but every so many-th.
_WINDOWS: Final = {"gemma2": 2, "gemma3": 6, "gpt-oss": 2, "cohere2": 4, "olmo2": 4, "exaone4": 4}
# Types whose matrices llama.cpp lays out anew for a CPU, beside the mapped file.
_REPACKED: Final = ("Q4_0", "Q4_K", "IQ4_NL")
_PARTS: Final = (
    ("token_embd", "embedding"),
    ("output_norm", "norms"),
    ("nextn", "mtp"),
    ("ffn_gate_inp", "router"),
    ("exp_probs", "router"),
    ("_exps", "experts"),
    ("_shexp", "shared_experts"),
    ("norm", "norms"),
    ("attn", "attention"),
    ("ffn", "feed_forward"),
)


def model_from_gguf(path: Path) -> tuple[Model, str]:
    """Read a GGUF file.

    Returns:
        The model, and the quantization that the file names.

    Raises:
        MissingExtraError: When `gguf` is not installed.
        StoreError: When the file cannot be read.
        ConfigError: When its metadata do not tell the model's memory.
    """
    try:
        from gguf import GGUFReader, LlamaFileType
    except ImportError as error:
        raise MissingExtraError("Reading a GGUF file", INSTALL) from error
    try:
        reader = GGUFReader(path)
        scalars = {name: field.contents() for name, field in reader.fields.items() if _short(field)}
        tensors = tuple(_tensors(reader.tensors, scalars))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, struct.error) as error:
        raise StoreError(
            f"{path} is not a GGUF file that can be read: {str(error)[:80] or 'it ends early'}."
        ) from error
    number = scalars.get("general.file_type")
    known = {kind.value: kind.name for kind in LlamaFileType}
    label = known.get(number, "") if isinstance(number, int) else ""
    label = label.removeprefix("MOSTLY_").removeprefix("ALL_") or "GGUF"
    return _model(scalars, tensors, path), str(scalars.get("evalkit.quantization") or label)


def _short(field: Any) -> bool:
    """Whether a field is no vocabulary: those take seconds to decode."""
    return not field.name.startswith("tokenizer.") or len(field.data) <= 1


def _model(scalars: Mapping[str, Any], tensors: tuple[Tensor, ...], path: Path) -> Model:
    architecture = scalars.get("general.architecture")
    where = path.name
    if not isinstance(architecture, str):
        raise ConfigError(f"{where} does not say general.architecture.")
    prefix = f"{architecture}."
    own = {k.removeprefix(prefix): v for k, v in scalars.items() if k.startswith(prefix)}
    if any(key.startswith(("ssm.", "wkv.", "xlstm")) for key in own):
        raise ConfigError(
            f"{where}: '{architecture[:40]}' keeps a recurrent state, whose memory is not known "
            "from GGUF metadata.",
            hint="Give the config.json of the model.",
        )
    split = scalars.get("split.count")
    if isinstance(split, int) and split > 1:
        raise ConfigError(
            f"{where} is one of {split} parts of a model.",
            hint="Join them with llama-gguf-split --merge, or give the config.json.",
        )
    fields = Fields(own, where)
    embedding = next((t for t in tensors if t.part == "embedding"), None)
    if embedding is None:
        raise ConfigError(f"{where} holds no token embedding.")
    hidden = fields.number("embedding_length")
    layers = tuple(_layers(own, fields, architecture))
    return Model(
        name=path.stem,
        architecture=architecture,
        tensors=tensors,
        layers=layers,
        mtp_layers=(),
        hidden=hidden,
        width=_width(own, fields, hidden),
        vocabulary=embedding.rows,
        max_context=fields.optional("context_length"),
        notes=(*fields.notes(), *window_notes(layers)),
    )


def _tensors(found: Any, scalars: Mapping[str, Any]) -> Iterator[Tensor]:
    architecture = scalars.get("general.architecture")
    chosen = scalars.get(f"{architecture}.expert_used_count")
    for item in found:
        sides = [int(side) for side in item.shape]
        part = _part(item.name)
        # One tensor holds all experts of a layer: the last side is their number.
        experts = sides[2] if part == "experts" and len(sides) == 3 else 1
        rows = 1
        for side in sides[1:]:
            rows *= side
        matrix = len(sides) > 1
        yield Tensor(
            item.name.removesuffix(".weight"),
            part,
            rows=rows // experts if matrix else sides[0],
            columns=sides[0] if matrix else 1,
            linear=matrix and part not in ("norms", "router", "embedding", "head"),
            count=experts,
            active=min(chosen, experts) if experts > 1 and isinstance(chosen, int) else experts,
            stored=int(item.n_bytes) // experts,
            repacked=item.tensor_type.name in _REPACKED and part not in ("embedding", "head"),
        )


def _part(name: str) -> str:
    if name.startswith("output."):
        return "head"
    return next((part for key, part in _PARTS if key in name), "norms")


def _layers(own: Mapping[str, Any], fields: Fields, architecture: str) -> Iterator[Attention]:
    count = fields.number("block_count", high=2000)
    heads = _each(own, fields, "attention.head_count", count, None)
    kv_heads = _each(own, fields, "attention.head_count_kv", count, heads)
    latent = fields.optional("attention.key_length_mla")
    if latent is not None:
        rank, rope = fields.number("attention.kv_lora_rank"), fields.number("rope.dimension_count")
        yield from [Attention("latent", rank + rope)] * count
        return
    width = fields.number("embedding_length") // max(heads[0], 1)
    key = fields.optional("attention.key_length") or width
    value = fields.optional("attention.value_length") or key
    window = fields.optional("attention.sliding_window", low=0)
    pattern = own.get("attention.sliding_window_pattern")
    for index in range(count):
        elements = kv_heads[index] * (key + value)
        if window and _slides(index, pattern, architecture):
            yield Attention("sliding", elements, window=window)
        else:
            yield Attention("full", elements)


def _slides(index: int, pattern: Any, architecture: str) -> bool:
    if isinstance(pattern, list) and index < len(pattern):
        return bool(pattern[index])
    every = _WINDOWS.get(architecture)
    return every is not None and (index + 1) % every != 0


def _each(
    own: Mapping[str, Any], fields: Fields, key: str, count: int, default: list[int] | None
) -> list[int]:
    """Return a number for each layer: GGUF gives one for all, or a list."""
    value = own.get(key)
    if isinstance(value, list):
        if len(value) < count or not all(type(item) is int and item >= 0 for item in value):
            raise ConfigError(f"{fields.where}: {key} does not hold a number for each layer.")
        return value[:count]
    if value is None and default is not None:
        return default
    return [fields.number(key)] * count


def _width(own: Mapping[str, Any], fields: Fields, hidden: int) -> int:
    feed = own.get("feed_forward_length")
    widest = max(feed) if isinstance(feed, list) and feed else feed
    widths = [4 * hidden]
    if isinstance(widest, int):
        widths.append(3 * widest)
    expert = fields.optional("expert_feed_forward_length")
    chosen = fields.optional("expert_used_count")
    if chosen:
        inner = expert or (widest if isinstance(widest, int) else 0)
        widths.append(chosen * (3 * inner + hidden))
    return max(widths)
