"""`capacity.json`: a capacity plan, and which arms of a comparison its formats are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evalkit.capacities import CAPACITY_VERSION, COMPONENTS, Capacity, Footprint, StoredCapacity
from evalkit.errors import StoreError
from evalkit.report.beside import dump_beside, load_beside
from evalkit.results import ArmInfo, Comparison

CAPACITY_FILE: Final = "capacity.json"
_AGAIN = "Count again with 'evalkit capacity', or take the file away."
# Names under which servers and checkpoints tell the same layout.
_SAME_LAYOUT: Final = {
    "f16": "fp16",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "f32": "fp32",
    "float32": "fp32",
    "fp8dynamic": "fp8",
    "fp8e4m3": "fp8",
    "w4a16": "int4",
    "w8a8": "int8",
    "w8a16": "int8",
}
# How far a file's size may lie from what was counted for it.
_NEAR: Final = 0.15


@dataclass(frozen=True, slots=True)
class Fits:
    """A plan beside a comparison.

    Attributes:
        arms: The footprint of each arm that has one.
        unclear: Codes with facts: what keeps an arm from having one.
    """

    plan: Capacity
    arms: Mapping[str, Footprint]
    unclear: tuple[tuple[str, Mapping[str, str]], ...]


def dump_capacity(found: StoredCapacity) -> bytes:
    """Return the content of `capacity.json`: indented, keys sorted."""
    return dump_beside(found)


def load_capacity(folder: Path) -> StoredCapacity | None:
    """Read `capacity.json` of a folder; `None` when there is none.

    Raises:
        StoreError: When it is broken, no such thing, or of a newer evalkit.
    """
    file = folder / CAPACITY_FILE
    found = load_beside(
        file, _adapter(), version=CAPACITY_VERSION, verb="'evalkit capacity'", again=_AGAIN
    )
    if found is not None:
        for one in found.plan.footprints:
            sizes = one.components.values()
            known = one.components.keys() <= set(COMPONENTS)
            if not known or min(sizes, default=-1) < 0 or sum(sizes) != one.needed:
                raise StoreError(
                    f"'{file}' was changed: its parts do not make its sums.", hint=_AGAIN
                )
    return found


def fits_of(stored: StoredCapacity, comparison: Comparison) -> Fits:
    """Find the footprint of each arm: as told, else by its name or its quantization.

    An arm whose name and quantization point at different footprints has none, and neither has
    one whose weights are of another size than those that were counted.
    """
    found: dict[str, Footprint] = {}
    unclear: list[tuple[str, Mapping[str, str]]] = []
    for info in (comparison.baseline, *comparison.candidates):
        chosen = _candidates(stored, info)
        if len({one.needed for one in chosen}) > 1:
            names = " / ".join(one.name for one in chosen)
            unclear.append(("AMBIGUOUS", {"endpoint": info.endpoint, "names": names}))
        elif chosen and not _same_size(chosen[0], info):
            unclear.append(("OTHER_SIZE", {"endpoint": info.endpoint, "names": chosen[0].name}))
        elif chosen:
            found[info.endpoint] = chosen[0]
    if not found and not unclear:
        unclear.append(("UNMATCHED", {"names": ", ".join(f.name for f in stored.plan.footprints)}))
    return Fits(stored.plan, found, tuple(unclear))


def _candidates(stored: StoredCapacity, info: ArmInfo) -> list[Footprint]:
    prints = stored.plan.footprints
    told = stored.arms.get(info.endpoint)
    if told is not None:
        return [one for one in prints if one.name == told]
    wanted = {_layout(info.endpoint), _layout(str(info.identity.get("quantization") or ""))}
    wanted -= {""}
    return [one for one in prints if {_layout(one.name), _layout(one.layout)} & wanted]


def _layout(name: str) -> str:
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    return _SAME_LAYOUT.get(bare, bare)


def _same_size(one: Footprint, info: ArmInfo) -> bool:
    size = info.identity.get("weights_bytes")
    if not isinstance(size, int) or size <= 0:
        return True
    return abs(one.checkpoint / size - 1) <= _NEAR


@cache
def _adapter() -> TypeAdapter[StoredCapacity]:
    return TypeAdapter(StoredCapacity)
