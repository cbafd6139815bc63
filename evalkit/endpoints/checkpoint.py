"""What the `config.json` of a checkpoint says about its weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST_BYTES = 1 << 20
_SHORT = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint on this machine.

    Attributes:
        quantization: In words, e.g. `compressed-tensors int4, groups of 64`; the type of
            plain weights when they are not quantized.
        quantized: Whether the configuration tells of any quantization.
    """

    path: Path
    quantization: str | None
    quantized: bool


def read_checkpoint(root: str) -> Checkpoint | None:
    """Read `config.json` in a folder; `None` when there is none that can be read."""
    folder = Path(root)
    if not folder.is_absolute():
        return None
    try:
        with (folder / "config.json").open("rb") as file:
            config = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(config, Mapping):
        return None
    found = config.get("quantization_config") or config.get("compression_config")
    if isinstance(found, Mapping) and found:
        return Checkpoint(folder, _method(found), quantized=True)
    inner = config.get("text_config")
    inner = inner if isinstance(inner, Mapping) else {}
    names = (source.get(key) for source in (config, inner) for key in ("dtype", "torch_dtype"))
    dtype = next((name for name in names if isinstance(name, str)), None)
    return Checkpoint(folder, None if dtype is None else _SHORT.get(dtype, dtype), quantized=False)


def _method(config: Mapping[str, Any]) -> str:
    words = [str(config.get("quant_method") or config.get("quantization_method") or "quantized")]
    weights = next(_weights(config), config)
    bits = _bits(weights)
    kind = weights.get("type")
    if bits is not None:
        words.append(f"{kind if kind in ('int', 'float') else 'int'}{bits}".replace("float", "fp"))
    text = " ".join(words)
    group = weights.get("group_size")
    return f"{text}, groups of {group}" if isinstance(group, int) and group > 0 else text


def _weights(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what compressed-tensors says about weights, of each group of layers."""
    groups = config.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping):
            yield weights


def _bits(config: Mapping[str, Any]) -> int | None:
    for key in ("num_bits", "bits", "w_bit"):
        if isinstance(config.get(key), int):
            return int(config[key])
    if config.get("load_in_4bit"):
        return 4
    return 8 if config.get("load_in_8bit") else None
