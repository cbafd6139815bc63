"""From a model and its layouts to bytes, and to what fits.

needed = (weights + KV cache + draft + activations + reserve) / (1 - headroom)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evalkit.capacities import Capacity, Footprint, Note, Room
from evalkit.capacity.formats import KV_BITS, Layout, StoredLayout, weight_bytes
from evalkit.capacity.model import (
    Attention,
    Model,
    Tensor,
    active_parameters,
    layer_counts,
    parameters,
    part_sizes,
)

_LOGIT_BYTES: Final = 4
_MOST_CONTEXT: Final = 1 << 24
_MOST_SEQUENCES: Final = 1 << 16
_ROOMS: Final = (1, 2, 4, 8, 16, 32, 64)
_ADVISED: Final = 0.10


@dataclass(frozen=True, slots=True)
class Engine:
    """What a kind of server takes beside the model.

    Attributes:
        prefill_tokens: Of one step, over all sequences.
        activation_bytes: Of one element.
        reserve: Bytes of runtime, libraries and graphs.
    """

    prefill_tokens: int
    activation_bytes: int
    reserve: int


# vLLM: `max_num_batched_tokens` of a large device, and a CUDA context with captured graphs.
# llama.cpp: `n_ubatch`, float32 activations, and the process on a CPU (docs/capacity.md).
ENGINES: Final[Mapping[str, Engine]] = {
    "vllm": Engine(prefill_tokens=8192, activation_bytes=2, reserve=1_500_000_000),
    "llama.cpp": Engine(prefill_tokens=512, activation_bytes=4, reserve=100_000_000),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """What proposes tokens: a model of its own, or the model's own MTP head.

    Attributes:
        model: `None` for the MTP head.
        layout: Of the draft model.
    """

    model: Model | None = None
    layout: Layout | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What is to be served, and on what.

    Attributes:
        context: Tokens of each sequence, prompt and answer together.
        concurrency: Sequences at once.
        kv: A key of `formats.KV_BITS`.
        device: Bytes; `None` when only the need is asked.
        headroom: Share of the device that stays free.
    """

    context: int
    concurrency: int
    kv: str
    engine: str
    prefill_tokens: int
    reserve: int
    headroom: float
    device: int | None = None


def kv_bytes(layers: Sequence[Attention], context: int, kv: str) -> int:
    """Return the KV cache of one sequence, with the states of layers that keep no tokens.

    Args:
        layers: Of the model.
        context: Tokens of the sequence.
        kv: A key of `formats.KV_BITS`.
    """
    bits = KV_BITS[kv]
    total = 0
    for layer in layers:
        tokens = context if layer.window is None else min(context, layer.window)
        total += int(layer.elements * tokens * bits) // 8 + layer.state
    return total


def activation_bytes(model: Model, tokens: int, sequences: int, element: int) -> int:
    """Return the peak of a prefill step: residual, its norm and the widest layer, and logits.

    Args:
        model: The model.
        tokens: Of the step.
        sequences: Whose next token is drawn, each from float32 logits.
        element: Bytes of one activation.
    """
    step = tokens * (2 * model.hidden + model.width) * element
    return step + sequences * model.vocabulary * _LOGIT_BYTES


@dataclass(frozen=True, slots=True)
class _Need:
    """One quantization's need as a function of context and concurrency."""

    model: Model
    weights: int
    repacked: int
    draft_weights: int
    draft: Draft | None
    work: Workload

    def components(self, context: int, concurrency: int) -> dict[str, int]:
        work = self.work
        engine = ENGINES[work.engine]
        tokens = min(work.prefill_tokens, context * concurrency)
        found = {
            "weights": self.weights,
            **({"repacked": self.repacked} if self.repacked else {}),
            "kv_cache": kv_bytes(self.model.layers, context, work.kv) * concurrency,
        }
        activations = activation_bytes(self.model, tokens, concurrency, engine.activation_bytes)
        if self.draft is not None:
            own = self.draft.model
            layers = self.model.mtp_layers if own is None else own.layers
            found["draft_weights"] = self.draft_weights
            found["draft_kv_cache"] = kv_bytes(layers, context, work.kv) * concurrency
            if own is not None:
                # The two take turns: the larger of the two peaks counts.
                other = activation_bytes(own, tokens, concurrency, engine.activation_bytes)
                activations = max(activations, other)
        found["activations"] = activations
        found["reserve"] = work.reserve
        used = sum(found.values())
        found["headroom"] = -int(-used // (1 - work.headroom)) - used
        return found

    def fits(self, context: int, concurrency: int) -> bool:
        device = self.work.device
        return device is not None and sum(self.components(context, concurrency).values()) <= device


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number from 1 that fits, under a monotone rule; 0 for none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def plan_capacity(
    model: Model, layouts: Sequence[Layout], work: Workload, draft: Draft | None = None
) -> Capacity:
    """Count what each layout needs, and what fits.

    Args:
        model: The model.
        layouts: Formats to compare.
        work: What is to be served.
        draft: What proposes tokens, if anything.
    """
    loaded = model.loaded(mtp=False)
    notes = [*model.notes, *_notes(model, work, draft)]
    if any(type(layout) is Layout and layout.base.quantized for layout in layouts):
        notes.append(Note("kept", {}))
    footprints = []
    for layout in layouts:
        notes += [note for note in layout.notes if note not in notes]
        footprints.append(_footprint(model, layout, work, draft))
    if any("repacked" in footprint.components for footprint in footprints):
        notes.append(Note("repacked", {}))
    return Capacity(
        model=model.name,
        architecture=model.architecture,
        engine=work.engine,
        parameters=parameters(loaded),
        active_parameters=active_parameters(loaded),
        parts=part_sizes(model.tensors),
        layers=layer_counts(model.layers),
        kv=work.kv,
        kv_bytes_per_token=_per_token(model, work),
        kv_bytes_per_sequence=kv_bytes(model.layers, work.context, work.kv),
        max_context=model.max_context,
        context=work.context,
        concurrency=work.concurrency,
        device=work.device,
        headroom=work.headroom,
        draft=None if draft is None else (draft.model.name if draft.model else "MTP"),
        footprints=tuple(footprints),
        notes=tuple(notes),
    )


def _per_token(model: Model, work: Workload) -> int:
    growing = [layer for layer in model.layers if layer.window is None]
    bits = sum(layer.elements for layer in growing) * KV_BITS[work.kv]
    return int(bits) // 8


def _footprint(model: Model, layout: Layout, work: Workload, draft: Draft | None) -> Footprint:
    loaded = model.loaded(mtp=False)
    weights = weight_bytes(layout, loaded)
    extra = 0
    checkpoint = weight_bytes(layout, model.tensors)
    if draft is not None and draft.model is not None and draft.layout is not None:
        extra = weight_bytes(draft.layout, draft.model.loaded(mtp=False))
    elif draft is not None:
        extra = checkpoint - weights
    repacked = _repacked(layout, loaded) if work.engine == "llama.cpp" else 0
    need = _Need(model, weights, repacked, extra, draft, work)
    components = need.components(work.context, work.concurrency)
    needed = sum(components.values())
    return Footprint(
        name=layout.name,
        layout=layout.words,
        active_weights=weight_bytes(layout, loaded, active=True),
        bits_per_weight=weights * 8 / parameters(loaded),
        checkpoint=checkpoint,
        components=components,
        needed=needed,
        fits=None if work.device is None else needed <= work.device,
        fits_at_all=None if work.device is None else need.fits(1, 1),
        rooms=tuple(_rooms(need)) if work.device is not None else (),
        longest_context=_room(need, work.concurrency).context if work.device else None,
        most_sequences=(
            _largest(lambda n: need.fits(work.context, n), _MOST_SEQUENCES) if work.device else None
        ),
    )


def _repacked(layout: Layout, tensors: Sequence[Tensor]) -> int:
    """Return the bytes that llama.cpp holds twice on a CPU."""
    if isinstance(layout, StoredLayout):
        return sum((t.stored or 0) * t.count for t in tensors if t.repacked)
    linear = [t for t in tensors if t.linear and t.part not in ("embedding", "head")]
    found = [t for t in linear if (own := layout.format_of(t)) is not None and own.repacked]
    return weight_bytes(layout, tuple(found))


def _rooms(need: _Need) -> Iterator[Room]:
    for concurrency in sorted({*_ROOMS, need.work.concurrency}):
        yield _room(need, concurrency)


def _room(need: _Need, concurrency: int) -> Room:
    limit = need.model.max_context
    most = min(limit or _MOST_CONTEXT, _MOST_CONTEXT)
    context = _largest(lambda tokens: need.fits(tokens, concurrency), most)
    return Room(concurrency, context, at_limit=context == most)


def _notes(model: Model, work: Workload, draft: Draft | None) -> Iterator[Note]:
    if model.max_context is None:
        yield Note("no_limit", {})
    elif work.context > model.max_context:
        facts = {"context": f"{work.context:,}", "limit": f"{model.max_context:,}"}
        yield Note("beyond_limit", facts)
    if model.kv is not None and model.kv != work.kv:
        yield Note("kv_declared", {"declared": model.kv, "kv": work.kv})
    if any(tensor.part == "experts" for tensor in model.tensors):
        yield Note("experts", {})
    if not any(tensor.part == "head" for tensor in model.tensors):
        yield Note("tied", {})
    if draft is not None and draft.model is not None:
        layout = draft.layout.words if draft.layout else ""
        yield Note("draft", {"draft": draft.model.name, "layout": layout})
    key = "engine_llama" if work.engine == "llama.cpp" else "engine_vllm"
    yield Note(key, {"tokens": f"{work.prefill_tokens:,}"})
    yield Note("units", {})
    if work.headroom < _ADVISED:
        yield Note("headroom_low", {})
    if work.device is not None:
        yield Note("one_device", {})
