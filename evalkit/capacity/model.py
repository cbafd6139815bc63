"""A model as its tensors and its layers of attention: all that memory depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from evalkit.capacities import PARTS, LayerCount, Note, PartSize

# Parts that a file holds, and a server loads only where it is told to.
OPTIONAL_PARTS = ("mtp",)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One matrix or vector, or `count` equal ones.

    Attributes:
        name: As in the checkpoint; equal experts of a layer are one with `*` for the number.
        part: One of `capacities.PARTS`.
        rows: Outputs.
        columns: Inputs; 1 for a vector.
        linear: Whether it is the matrix of a linear layer, which formats may quantize.
        active: How many of `count` one token passes through.
        stored: Bytes of each, where the file says.
        repacked: Whether a CPU keeps a second copy, in the order that its kernels read.
    """

    name: str
    part: str
    rows: int
    columns: int = 1
    linear: bool = True
    count: int = 1
    active: int = 1
    stored: int | None = None
    repacked: bool = False

    @property
    def elements(self) -> int:
        """Parameters of one."""
        return self.rows * self.columns


@dataclass(frozen=True, slots=True)
class Attention:
    """What one layer keeps of a sequence.

    Attributes:
        kind: `full`, `sliding`, `latent` (MLA) or `linear` (a state of fixed size).
        elements: Of the KV cache, a token.
        window: Tokens that a sliding layer keeps at most.
        state: Bytes of fixed size, a sequence.
    """

    kind: str
    elements: int = 0
    window: int | None = None
    state: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A model, read from its configuration or its GGUF file.

    Attributes:
        layers: One for each layer that keeps something of a sequence.
        mtp_layers: Those of the head that predicts further tokens.
        width: Elements that the widest step of a layer holds a token, beside the residual.
        hidden: Elements of the residual stream.
        kv: Precision of the KV cache that the file asks for, if any.
    """

    name: str
    architecture: str
    tensors: tuple[Tensor, ...]
    layers: tuple[Attention, ...]
    mtp_layers: tuple[Attention, ...]
    hidden: int
    width: int
    vocabulary: int
    max_context: int | None
    kv: str | None = None
    notes: tuple[Note, ...] = field(default=())

    def loaded(self, *, mtp: bool) -> tuple[Tensor, ...]:
        """Return the tensors that a server loads."""
        return tuple(t for t in self.tensors if mtp or t.part not in OPTIONAL_PARTS)


def parameters(tensors: Iterable[Tensor]) -> int:
    """Count the parameters of tensors."""
    return sum(tensor.elements * tensor.count for tensor in tensors)


def active_parameters(tensors: Iterable[Tensor]) -> int:
    """Count the parameters that one token passes through."""
    return sum(tensor.elements * tensor.active for tensor in tensors)


def part_sizes(tensors: Iterable[Tensor]) -> tuple[PartSize, ...]:
    """Sum parameters by part, in the order of `PARTS`."""
    whole, active = Counter[str](), Counter[str]()
    for tensor in tensors:
        whole[tensor.part] += tensor.elements * tensor.count
        active[tensor.part] += tensor.elements * tensor.active
    return tuple(PartSize(part, whole[part], active[part]) for part in PARTS if whole[part])


def layer_counts(layers: Iterable[Attention]) -> tuple[LayerCount, ...]:
    """Count layers by what they keep, in the order in which they first stand."""
    counts = Counter((layer.kind, layer.window, layer.elements) for layer in layers)
    return tuple(LayerCount(*key, count) for key, count in counts.items())
