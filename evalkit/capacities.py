"""How much memory a deployment needs: what crosses from counting to rendering.

All sizes are whole bytes. GB is 10⁹ bytes everywhere, as vendors sell it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CAPACITY_VERSION = 1

# What memory goes to, in the order of every table and chart.
COMPONENTS = (
    "weights",
    "repacked",
    "kv_cache",
    "draft_weights",
    "draft_kv_cache",
    "activations",
    "reserve",
    "headroom",
)
# What parameters belong to, likewise.
PARTS = (
    "embedding",
    "head",
    "attention",
    "feed_forward",
    "experts",
    "shared_experts",
    "router",
    "norms",
    "mtp",
    "vision",
)


@dataclass(frozen=True, slots=True)
class Note:
    """An assumption, or something that the reader must know.

    Attributes:
        key: Names the sentence in the catalogue of words, below `capacity.note`.
        facts: Finished strings for its fields.
    """

    key: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PartSize:
    """One part of a model.

    Attributes:
        part: One of `PARTS`.
        parameters: All that are resident.
        active: Those that one token passes through.
    """

    part: str
    parameters: int
    active: int


@dataclass(frozen=True, slots=True)
class LayerCount:
    """Layers that keep the same of a sequence.

    Attributes:
        kind: `full`, `sliding`, `latent` (MLA) or `linear`.
        window: Tokens that each keeps at most; `None` for no limit.
        elements: Of the KV cache, a token and layer.
    """

    kind: str
    window: int | None
    elements: int
    layers: int


@dataclass(frozen=True, slots=True)
class Room:
    """The longest context that fits for so many sequences at once.

    Attributes:
        context: Tokens of each; 0 when not even one fits.
        at_limit: Whether the model's own limit stops it, and not the memory.
    """

    concurrency: int
    context: int
    at_limit: bool


@dataclass(frozen=True, slots=True)
class Footprint:
    """One quantization of the model, and what it needs.

    Attributes:
        name: As it was asked for; `stored` for what the file itself is.
        layout: The layout in words, e.g. `int4, groups of 128`.
        active_weights: Bytes of weights that one token reads.
        bits_per_weight: Mean over the parameters that are loaded.
        checkpoint: Bytes of the weights as a file holds them, with parts that are not loaded.
        components: Bytes of each of `COMPONENTS` that is there.
        needed: Their sum: a device must have at least so much.
        fits: Whether the device holds it; `None` without a device.
        fits_at_all: Whether it holds it with one short sequence at least.
        longest_context: At the asked concurrency; 0 when none fits.
        most_sequences: At the asked context; 0 when none fits.
        rooms: The longest context at several concurrencies.
    """

    name: str
    layout: str
    active_weights: int
    bits_per_weight: float
    checkpoint: int
    components: Mapping[str, int]
    needed: int
    fits: bool | None
    fits_at_all: bool | None
    longest_context: int | None
    most_sequences: int | None
    rooms: tuple[Room, ...]


@dataclass(frozen=True, slots=True)
class Capacity:
    """The answer of `evalkit capacity`.

    Attributes:
        parameters: All of the model's, without those that it is stored with but a server
            does not load.
        active_parameters: Those that one token passes through; embedding rows count whole.
        kv_bytes_per_token: Each further token of a sequence that no window cuts.
        kv_bytes_per_sequence: One sequence at the asked context.
        max_context: The model's own limit; `None` when the file does not say.
        device: Bytes of memory that there are; `None` when it was not asked.
        headroom: Share of the device that stays free.
    """

    model: str
    architecture: str
    engine: str
    parameters: int
    active_parameters: int
    parts: tuple[PartSize, ...]
    layers: tuple[LayerCount, ...]
    kv: str
    kv_bytes_per_token: int
    kv_bytes_per_sequence: int
    max_context: int | None
    context: int
    concurrency: int
    device: int | None
    headroom: float
    draft: str | None
    footprints: tuple[Footprint, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class StoredCapacity:
    """The content of `capacity.json`: a plan that lies beside a comparison.

    Attributes:
        arms: Names of footprints by arms of the comparison, where it was told which is which.
    """

    schema_version: int
    evalkit_version: str
    created: str
    plan: Capacity
    arms: Mapping[str, str]
