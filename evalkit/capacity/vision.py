"""The encoder for pictures that some models carry: its tensors, where its kind is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalkit.capacities import Note
from evalkit.capacity.fields import Fields
from evalkit.capacity.model import Tensor

_SIGLIP: Final = "siglip_vision_model"
_QWEN: Final = (
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_vl_vision",
    "qwen3_vl_moe_vision",
    "qwen3_5_vision",
    "qwen3_5_moe_vision",
)
_SIGLIP_DEFAULTS: Final = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "image_size": 896,
    "patch_size": 14,
}
_MOST_LAYERS: Final = 2000


def vision_tensors(
    config: Mapping[str, Any], text_hidden: int, where: str
) -> tuple[tuple[Tensor, ...], tuple[Note, ...]]:
    """Return the tensors of `vision_config`, and what must be said of them.

    An encoder that is not known is not counted, and the note says so.

    Raises:
        ConfigError: When a size is missing or is no number.
    """
    raw = config.get("vision_config")
    if not isinstance(raw, Mapping) or not raw:
        return (), ()
    kind = raw.get("model_type")
    if kind == _SIGLIP and config.get("model_type") == "gemma3":
        fields = Fields(raw, f"{where}: vision_config", _SIGLIP_DEFAULTS)
        tensors = tuple(_siglip(fields, text_hidden))
    elif kind in _QWEN:
        fields = Fields(raw, f"{where}: vision_config")
        tensors = tuple(_qwen(fields))
    else:
        name = kind if isinstance(kind, str) else "?"
        return (), (Note("vision_unknown", {"kind": name[:40]}),)
    return tensors, (*fields.notes(), Note("vision", {}))


def _sum(name: str, elements: int) -> Tensor:
    return Tensor(name, "vision", elements, linear=False, active=0)


def _matrix(name: str, rows: int, columns: int, count: int = 1) -> Tensor:
    return Tensor(f"vision.{name}", "vision", rows, columns, count=count, active=0)


def _siglip(fields: Fields, text_hidden: int) -> Iterator[Tensor]:
    width, inner = fields.number("hidden_size"), fields.number("intermediate_size")
    layers = fields.number("num_hidden_layers", high=_MOST_LAYERS)
    image, patch = fields.number("image_size"), fields.number("patch_size")
    yield _matrix("attention", width, width, 4 * layers)
    yield _matrix("mlp", inner, width, 2 * layers)
    biases = 4 * width + inner + width + 4 * width
    yield _sum("vision.vectors", layers * biases + 2 * width)
    yield _sum("vision.patches", width * (3 * patch * patch + 1))
    yield _sum("vision.positions", (image // patch) ** 2 * width)
    yield _matrix("projector", width, text_hidden)
    yield _sum("vision.projector_norm", width)


def _qwen(fields: Fields) -> Iterator[Tensor]:
    width, inner = fields.number("hidden_size"), fields.number("intermediate_size")
    layers = fields.number("depth", high=_MOST_LAYERS)
    out, merge = fields.number("out_hidden_size"), fields.number("spatial_merge_size", default=2)
    patch, frames = fields.number("patch_size"), fields.number("temporal_patch_size", default=2)
    channels = fields.number("in_channels", default=3)
    yield _matrix("attention", width, width, 4 * layers)
    yield _matrix("mlp", inner, width, 2 * layers)
    yield _sum("vision.vectors", layers * (4 * width + inner + width + 4 * width))
    yield _sum("vision.patches", width * (channels * frames * patch * patch + 1))
    yield _sum("vision.positions", fields.number("num_position_embeddings") * width)
    wide = width * merge * merge
    deep = len(fields.numbers("deepstack_visual_indexes"))
    yield _matrix("merger_1", wide, wide, 1 + deep)
    yield _matrix("merger_2", out, wide, 1 + deep)
    yield _sum("vision.merger_vectors", (1 + deep) * (wide + out) + 2 * width + deep * 2 * wide)
