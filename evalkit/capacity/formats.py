"""How many bytes a weight matrix takes in each format, with its scales and zero points.

Sources: GPTQ and AWQ as AutoGPTQ and AutoAWQ pack them (a 16-bit scale and a packed zero
point for each group, an int32 group index for each input of GPTQ); compressed-tensors for
W4A16, W8A16 and FP8 (one scale a group or an output); DeepSeek-V3, section 3.3, for FP8 in
blocks of 128 × 128 with float32 scales; QLoRA, section 3, for NF4; the OCP Microscaling
specification 1.0 for MXFP4; NVIDIA's NVFP4; ggml-common.h for the block formats of GGUF.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evalkit.capacities import Note
from evalkit.capacity.model import Tensor
from evalkit.errors import UnknownNameError

HALF_BITS: Final = 16
Q6_K_BITS: Final = 6.5625
BLOCK: Final = 256


@dataclass(frozen=True, slots=True)
class Format:
    """One way to store a weight matrix.

    Attributes:
        bits: Of one weight.
        group: Inputs that share a scale; 0 for one scale an output.
        scale_bits: Of one scale; 0 when there is none.
        zero_bits: Of one zero point, likewise.
        block_rows: Outputs that share a scale as well.
        index_bits: Of what is kept for each input.
        others: Bits of norms, biases and what else is no linear layer.
        embedding_bits: Of embedding and head; they stay at `HALF_BITS` where `None`.
        repacked: Whether llama.cpp lays it out anew for a CPU, and holds both.
        head_bits: Of the head, where it differs, and of an embedding that is both.
    """

    name: str
    bits: float
    group: int = 0
    scale_bits: int = 0
    zero_bits: float = 0
    block_rows: int = 1
    index_bits: int = 0
    others: int = HALF_BITS
    embedding_bits: float | None = None
    head_bits: float | None = None
    repacked: bool = False

    @property
    def quantized(self) -> bool:
        """Whether linear layers are stored in another way than the rest."""
        return self.bits != self.others

    @property
    def words(self) -> str:
        """The layout for readers, e.g. `int4, groups of 128`."""
        if self.block_rows > 1:
            return f"{self.name}, blocks of {self.block_rows} × {self.group}"
        return f"{self.name}, groups of {self.group}" if self.group else self.name

    def matrix_bytes(self, rows: int, columns: int) -> int:
        """Return the bytes of a linear layer's matrix, with everything that unpacks it.

        Args:
            rows: Outputs.
            columns: Inputs.
        """
        bits = rows * columns * whole_blocks(self.bits, columns)
        scales = _up(rows, self.block_rows) * (_up(columns, self.group) if self.group else 1)
        bits += scales * (self.scale_bits + self.zero_bits) + columns * self.index_bits
        return _up(int(bits), 8)


def _up(value: int, unit: int) -> int:
    return -(-value // unit)


def whole_blocks(bits: float, columns: int) -> float:
    """Return the bits of Q6_K, or of Q8_0 where a row holds no whole blocks; else `bits`."""
    return 8.5 if bits == Q6_K_BITS and columns % BLOCK else bits


def _ggml(name: str, bits: float, head: float) -> Format:
    return Format(name, bits, others=32, embedding_bits=bits, head_bits=head)


_INT4 = Format("int4", 4, group=128, scale_bits=16, zero_bits=4)
FORMATS: Final[Mapping[str, Format]] = {
    "fp32": Format("fp32", 32, others=32, embedding_bits=32),
    "bf16": Format("bf16", 16),
    "fp16": Format("fp16", 16),
    "fp8": Format("fp8", 8, scale_bits=32),
    "int8": Format("int8", 8, scale_bits=16),
    "int4": _INT4,
    "awq": replace(_INT4, name="awq int4"),
    "gptq": replace(_INT4, name="gptq int4", index_bits=32),
    "nf4": Format("nf4", 4, group=64, scale_bits=32),
    "mxfp4": Format("mxfp4", 4, group=32, scale_bits=8),
    "nvfp4": Format("nvfp4", 4, group=16, scale_bits=8),
    "q8_0": _ggml("q8_0", 8.5, 8.5),
    "q6_k": _ggml("q6_k", Q6_K_BITS, Q6_K_BITS),
    # llama.cpp gives the output, and an embedding that is the output too, Q6_K.
    "q5_0": _ggml("q5_0", 5.5, Q6_K_BITS),
    "q4_0": replace(_ggml("q4_0", 4.5, Q6_K_BITS), repacked=True),
}
# Bits of one element of a KV cache; those of GGUF hold their scales.
KV_BITS: Final[Mapping[str, float]] = {"bf16": 16, "fp16": 16, "fp8": 8, "q8_0": 8.5, "q4_0": 4.5}
_ALIASES: Final = {
    "w4a16": "int4",
    "w8a16": "int8",
    "w8a8": "int8",
    "f16": "fp16",
    "f32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "float32": "fp32",
}


def find_format(name: str) -> Format:
    """Return a format by its name.

    Raises:
        UnknownNameError: With the nearest that are known.
    """
    key = _ALIASES.get(name.lower(), name.lower())
    if key not in FORMATS:
        known = [*FORMATS, *_ALIASES, "q4_k_m", "q5_k_m", "stored"]
        raise UnknownNameError("quantization", name[:40], known)
    return FORMATS[key]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which format each tensor of a model has.

    A layout of a name quantizes every linear layer and nothing else; one that a file
    declares says more (`declared`).
    """

    name: str
    base: Format

    @property
    def words(self) -> str:
        """The layout for readers."""
        return self.base.words

    @property
    def notes(self) -> tuple[Note, ...]:
        """What readers must know about it."""
        return ()

    def format_of(self, tensor: Tensor) -> Format | None:
        """Return the format of a linear layer; `None` for one that stays as it is."""
        return self.base if tensor.part not in _KEPT else None

    def tensor_bytes(self, tensor: Tensor, *, tied: bool) -> int:
        """Return the bytes of one of a tensor.

        Args:
            tensor: Of the model.
            tied: Whether the embedding is the head too.
        """
        base = self.base
        if tensor.part in ("embedding", "head"):
            bits = base.embedding_bits or HALF_BITS
            if base.head_bits is not None and (tied or tensor.part == "head"):
                bits = base.head_bits
            bits = whole_blocks(bits, tensor.columns)
            return _up(int(tensor.elements * bits), 8)
        found = self.format_of(tensor) if tensor.linear else None
        if found is not None:
            return found.matrix_bytes(tensor.rows, tensor.columns)
        # Matrices that stay are 16-bit; a GGUF file keeps the small ones at 32.
        return _up(tensor.elements * base.others, 8)


# Formats leave these alone: routing is sensitive, and the heads are small.
_KEPT: Final = ("router", "mtp", "vision")


def weight_bytes(layout: Layout, tensors: tuple[Tensor, ...], *, active: bool = False) -> int:
    """Sum the bytes of tensors under a layout.

    Args:
        layout: Which format each has.
        tensors: Of one model.
        active: Only those that one token reads; of an embedding that is no head, one row.
    """
    tied = not any(tensor.part == "head" for tensor in tensors)
    total = 0
    for tensor in tensors:
        size = layout.tensor_bytes(tensor, tied=tied)
        if active and tensor.part == "embedding" and not tied:
            total += size // tensor.rows
        else:
            total += size * (tensor.active if active else tensor.count)
    return total


@dataclass(frozen=True, slots=True)
class StoredLayout(Layout):
    """The layout of a file that says how many bytes each tensor has."""

    def tensor_bytes(self, tensor: Tensor, *, tied: bool) -> int:
        """Return the bytes that the file holds."""
        if tensor.stored is None:
            return Layout.tensor_bytes(self, tensor, tied=tied)
        return tensor.stored
