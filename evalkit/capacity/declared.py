"""What `quantization_config` says of the weights that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from evalkit.capacities import Note
from evalkit.capacity.fields import Fields
from evalkit.capacity.formats import FORMATS, Format, Layout, find_format
from evalkit.capacity.model import Tensor
from evalkit.capacity.patterns import Patterns, without_signs
from evalkit.errors import ConfigError

_STORED: Final = "stored"
_IGNORES: Final = ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules")
_GPTQ: Final = ("gptq", "gptqmodel", "auto-round", "autoround", "auto_round")


@dataclass(frozen=True, slots=True)
class DeclaredLayout(Layout):
    """Formats by module, as the file declares them.

    Attributes:
        left_out: Modules that stay at 16 bits.
        others: Modules with formats of their own, before the base.
        only: Parts that are quantized at all; `None` for every linear layer.
        head: Whether the head is quantized too.
    """

    left_out: Patterns
    others: tuple[tuple[Patterns, Format], ...] = ()
    only: tuple[str, ...] | None = None
    head: bool = False

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say what was read."""
        return (Note("stored", {"layout": self.words}),)

    def format_of(self, tensor: Tensor) -> Format | None:
        """Return the format that the file gives a linear layer."""
        if tensor.part in ("router", "vision") or self.left_out.match(tensor):
            return None
        if self.only is not None and tensor.part not in self.only:
            return None
        for patterns, own in self.others:
            if patterns.match(tensor):
                return own
        return self.base

    def tensor_bytes(self, tensor: Tensor, *, tied: bool) -> int:
        """Return the bytes of one of a tensor; a head may be quantized too."""
        if self.head and tensor.part == "head" and not self.left_out.match(tensor):
            return self.base.matrix_bytes(tensor.rows, tensor.columns)
        return Layout.tensor_bytes(self, tensor, tied=tied)


def declared_layout(config: Mapping[str, Any], where: str) -> Layout | None:
    """Return the layout of the weights as they are stored.

    Args:
        config: What `config.json` holds.
        where: The file, for messages.

    Returns:
        `None` when the file declares neither a quantization nor a type.

    Raises:
        ConfigError: For a method or an option that is not known.
    """
    inner = config.get("text_config")
    sources = [config, inner] if isinstance(inner, Mapping) else [config]
    for source in sources:
        raw = source.get("quantization_config") or source.get("compression_config")
        if isinstance(raw, Mapping) and raw:
            return _quantized(Fields(raw, f"{where}: quantization_config"), raw)
    for source in sources:
        dtype = source.get("dtype") or source.get("torch_dtype")
        if isinstance(dtype, str) and dtype in ("bfloat16", "float16", "float32"):
            return Layout(_STORED, find_format(dtype))
    return None


def declared_kv(config: Mapping[str, Any]) -> str | None:
    """Return the precision of the KV cache that a checkpoint is calibrated for."""
    raw = config.get("quantization_config")
    if not isinstance(raw, Mapping):
        return None
    scheme = raw.get("kv_cache_scheme")
    bits = scheme.get("num_bits") if isinstance(scheme, Mapping) else None
    return "fp8" if bits == 8 or raw.get("kv_cache_quant_algo") == "FP8" else None


def _quantized(fields: Fields, raw: Mapping[str, Any]) -> Layout:
    name = raw.get("quant_method")
    method = name.lower() if isinstance(name, str) else ""
    left_out = Patterns.read(
        next((raw[key] for key in _IGNORES if raw.get(key) is not None), None), fields.where
    )
    if method in _GPTQ:
        return _gptq(fields, raw, method)
    if method == "awq":
        return DeclaredLayout(_STORED, _grouped(fields, "awq"), left_out)
    if method == "fp8":
        return DeclaredLayout(_STORED, _fp8(fields, raw), left_out)
    if method == "mxfp4":
        return DeclaredLayout(_STORED, FORMATS["mxfp4"], left_out, only=("experts",))
    if method == "bitsandbytes":
        return _bitsandbytes(fields, raw)
    if method == "compressed-tensors":
        return _compressed(fields, raw, left_out)
    if method == "modelopt" and raw.get("quant_algo") in ("NVFP4", "FP8"):
        base = FORMATS[str(raw["quant_algo"]).lower()]
        return DeclaredLayout(_STORED, base, left_out)
    raise ConfigError(
        f"{fields.where}: the method '{str(name)[:40]}' is not one whose layout is known.",
        hint="Name formats with --quant, e.g. int4,fp8,bf16, without 'stored'.",
    )


def _gptq(fields: Fields, raw: Mapping[str, Any], method: str) -> Layout:
    if raw.get("extra_config") or without_signs(raw.get("dynamic"), "+:"):
        raise ConfigError(
            f"{fields.where}: layers with settings of their own are not understood.",
            hint="Name formats with --quant, e.g. int4,fp8,bf16, without 'stored'.",
        )
    dynamic = without_signs(raw.get("dynamic"), "-:") or []
    listed = raw.get("modules_to_not_convert")
    kept = listed if isinstance(listed, list) else []
    left_out = Patterns.read([*dynamic, *kept], fields.where)
    head = fields.flag("lm_head", default=False)
    return DeclaredLayout(_STORED, _grouped(fields, method), left_out, head=head)


def _grouped(fields: Fields, method: str) -> Format:
    """Return a format of integers with a scale and a zero point for each group."""
    bits = fields.number("bits", "w_bit", low=2, high=8)
    group = fields.number("group_size", "q_group_size", default=128, low=-1)
    return Format(
        f"{method} int{bits}",
        bits,
        group=max(group, 0),
        scale_bits=16,
        zero_bits=bits,
        index_bits=0 if method == "awq" else 32,
    )


def _fp8(fields: Fields, raw: Mapping[str, Any]) -> Format:
    block = raw.get("weight_block_size")
    if block is None:
        return FORMATS["fp8"]
    sides = block if isinstance(block, list) and len(block) == 2 else []
    if len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
        raise ConfigError(f"{fields.where}: weight_block_size is no pair of whole numbers.")
    return Format("fp8", 8, group=sides[1], scale_bits=32, block_rows=sides[0])


def _bitsandbytes(fields: Fields, raw: Mapping[str, Any]) -> Layout:
    left_out = Patterns.read(raw.get("llm_int8_skip_modules"), fields.where)
    if fields.flag("load_in_4bit", "_load_in_4bit", default=False):
        double = fields.flag("bnb_4bit_use_double_quant", default=False)
        # Scales of 64 weights become 8-bit, with a float32 scale for 256 of them.
        base = replace(FORMATS["nf4"], scale_bits=8 if double else 32, zero_bits=32 / 256 * double)
        return DeclaredLayout(_STORED, replace(base, name="bitsandbytes 4-bit"), left_out)
    if fields.flag("load_in_8bit", "_load_in_8bit", default=False):
        base = Format("bitsandbytes int8", 8, scale_bits=32)
        return DeclaredLayout(_STORED, base, left_out)
    raise ConfigError(f"{fields.where}: bitsandbytes with neither load_in_4bit nor load_in_8bit.")


def _compressed(fields: Fields, raw: Mapping[str, Any], left_out: Patterns) -> Layout:
    groups = raw.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        raise ConfigError(f"{fields.where} has no config_groups.")
    base: Format | None = None
    others = []
    for name, group in groups.items():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        where = f"{fields.where}: {str(name)[:40]}"
        if not isinstance(weights, Mapping):
            raise ConfigError(f"{where} does not say how weights are stored.")
        found = _weights(Fields(weights, where), weights, str(raw.get("format")))
        targets = group.get("targets")
        if targets is None or targets == ["Linear"]:
            base = base or found
        else:
            others.append((Patterns.read(targets, where), found))
    if base is None:
        base = FORMATS["bf16"]
    return DeclaredLayout(_STORED, base, left_out, tuple(others))


def _weights(fields: Fields, raw: Mapping[str, Any], packing: str) -> Format:
    bits = fields.number("num_bits", low=2, high=16)
    kind = raw.get("type", "int")
    if kind not in ("int", "float"):
        raise ConfigError(f"{fields.where}: the type '{str(kind)[:40]}' is not known.")
    strategy = raw.get("strategy", "group" if "group_size" in fields else "channel")
    group = fields.number("group_size", default=0, low=-1) if "group_size" in fields else 0
    if packing.startswith("nvfp4") or (kind == "float" and bits == 4 and group == 16):
        return FORMATS["nvfp4"]
    if packing.startswith("mxfp4") or (kind == "float" and bits == 4 and group == 32):
        return FORMATS["mxfp4"]
    symmetric = fields.flag("symmetric", default=True)
    name = f"compressed-tensors {'fp' if kind == 'float' else 'int'}{bits}"
    base = Format(name, bits, scale_bits=16, zero_bits=0 if symmetric else bits)
    if strategy == "block":
        sides = raw.get("block_structure")
        return replace(_fp8(fields, {"weight_block_size": sides}), name=name)
    if strategy not in ("group", "channel", "tensor", "tensor_group"):
        raise ConfigError(f"{fields.where}: the strategy '{str(strategy)[:40]}' is not known.")
    return replace(base, group=max(group, 0))
