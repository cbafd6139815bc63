"""Q4_K_M and Q5_K_M: llama.cpp gives some layers more bits than others.

The rule is that of `llama_tensor_get_type` in llama.cpp's quantizer: the output, and half of
the layers' V and down projections, get Q6_K; rows that are no multiple of 256 fall back to a
format of blocks of 32. It is kept here for models whose tensors it tells apart without doubt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evalkit.capacity.formats import BLOCK, FORMATS, Q6_K_BITS, Format, Layout
from evalkit.capacity.model import Model, Tensor
from evalkit.errors import UsageError

_EIGHT: Final = 8
_BIG_LAYERS: Final = 80
_LAYER: Final = re.compile(r"(?:layers|blk)\.(\d+)\.")
# Q4_K becomes Q5_0 where a row holds no whole blocks, and Q5_K becomes Q5_1.
_SMALLER: Final = {4.5: 5.5, 5.5: 6.0}
_V: Final = ("v_proj", "attn_v")
_K: Final = ("k_proj", "attn_k")
_OUT: Final = ("o_proj", "attn_output")
_DOWN: Final = ("down_proj", "ffn_down", "ffn_down_exps")
# Their Q, K and V are one tensor in GGUF, or their projections have other names.
_OTHERS: Final = ("phi3", "starcoder2")


def _k(name: str, bits: float, *, repacked: bool = False) -> Format:
    made = Format(name, bits, others=32, embedding_bits=bits, head_bits=Q6_K_BITS)
    return replace(made, repacked=repacked)


_Q4, _Q5, _Q6 = _k("q4_k", 4.5, repacked=True), _k("q5_k", 5.5), _k("q6_k", Q6_K_BITS)
MIXTURES: Final[Mapping[str, Format]] = {
    "q4_k_m": replace(_Q4, name="q4_k_m"),
    "q5_k_m": replace(_Q5, name="q5_k_m"),
}


@dataclass(frozen=True, slots=True)
class MixedLayout(Layout):
    """The types of a mixture, layer by layer.

    Attributes:
        layers: Of the model.
        experts: Of each layer; 0 for a dense model.
        big: Whether it is a 70B model, whose V serves eight heads and gets one bit more.
    """

    layers: int
    experts: int
    big: bool

    def format_of(self, tensor: Tensor) -> Format | None:
        """Return the type that the mixture gives a linear layer."""
        if tensor.part in ("router", "mtp", "vision"):
            return None
        found = self._typed(tensor)
        if tensor.columns % BLOCK == 0:
            return found
        return replace(found, bits=_SMALLER.get(found.bits, found.bits), repacked=False)

    def tensor_bytes(self, tensor: Tensor, *, tied: bool) -> int:
        """Return the bytes of one of a tensor; an embedding too needs whole blocks."""
        if tensor.part == "embedding" and not tied and tensor.columns % BLOCK:
            return int(tensor.elements * _SMALLER[self.base.bits]) // 8
        return Layout.tensor_bytes(self, tensor, tied=tied)

    def _typed(self, tensor: Tensor) -> Format:
        base = _Q4 if self.base.bits == _Q4.bits else _Q5
        if self.experts == _EIGHT and tensor.name.endswith((*_V, *_K)):
            return FORMATS["q8_0"]
        if self.experts == _EIGHT and tensor.name.endswith(_OUT):
            return _Q5
        if tensor.name.endswith((*_V, *_DOWN)) and self._more(tensor.name):
            return _Q6
        return _Q5 if self.big and tensor.name.endswith(_V) else base

    def _more(self, name: str) -> bool:
        found = _LAYER.search(name)
        layer, eighth = int(found[1]) if found else 0, self.layers // 8
        return layer < eighth or layer >= 7 * self.layers // 8 or (layer - eighth) % 3 == 2


def mixed_layout(name: str, model: Model) -> Layout:
    """Return the layout of a mixture.

    Raises:
        UsageError: For a model whose tensors the rule cannot be told of.
    """
    parts = {tensor.part for tensor in model.tensors}
    kinds = {layer.kind for layer in model.layers}
    if "shared_experts" in parts or kinds - {"full", "sliding"} or model.architecture in _OTHERS:
        raise UsageError(
            f"What {name} gives each tensor of '{model.architecture}' is not known here.",
            hint="Give the GGUF file: it is counted tensor by tensor.",
        )
    experts = max((t.count for t in model.tensors if t.part == "experts"), default=0)
    layers = len(model.layers)
    big = model.architecture == "llama" and layers == _BIG_LAYERS
    return MixedLayout(name, MIXTURES[name], layers, experts, big)
