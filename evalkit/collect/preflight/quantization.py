"""Is the candidate really the cheaper build? Names promise, servers and files tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from evalkit.collect.preflight.findings import Finding
from evalkit.types import Identity

_PLAIN: Final = 16
_BITS: Final = (
    (re.compile(r"(?:^|[^a-z0-9])(?:i?q|tq)([1-8])(?:_|$|[^a-z0-9])", re.IGNORECASE), 0),
    (re.compile(r"(?:^|[^a-z])(?:u?int|nf|fp|float|mxfp|nvfp)[-_ ]?([2-8])(?![0-9])", re.I), 0),
    (re.compile(r"(?:^|[^a-z0-9])w([2-8])a(?:8|16)", re.IGNORECASE), 0),
    (re.compile(r"(?:^|[^0-9])([2-8])[-_ ]?bits?(?![a-z])", re.IGNORECASE), 0),
    (re.compile(r"(?:^|[^a-z0-9])(?:bf16|f16|fp16|float16|bfloat16)(?![0-9a-z])", re.I), 16),
    (re.compile(r"(?:^|[^a-z0-9])(?:f32|fp32|float32)(?![0-9a-z])", re.IGNORECASE), 32),
)
_LOW: Final = re.compile(r"(?:^|[^a-z])(?:awq|gptq|bnb|quantized)(?![a-z])", re.IGNORECASE)


def bits_of(text: str | None) -> int | None:
    """Return the bits of a weight that a name tells of: `Q4_K_M`, `w4a16`, `int8`, `bf16`."""
    if not text:
        return None
    for pattern, fixed in _BITS:
        found = pattern.search(text)
        if found is not None:
            return fixed or int(found.group(1))
    return None


def _all_bits(text: str) -> set[int]:
    found = ((fixed, match) for pattern, fixed in _BITS for match in pattern.finditer(text))
    return {fixed or int(match.group(1)) for fixed, match in found}


def claim_findings(identity: Identity, claims: Sequence[str]) -> list[Finding]:
    """Judge one endpoint: what its names promise must be what it tells.

    Args:
        identity: What it tells.
        claims: Its name, label and model's name.
    """
    told = identity.quantization
    evidence = {"told": told, "names": list(claims), "file": identity.details.get("file")}
    if told is None:
        message = "It does not tell how its weights are quantized."
        return [Finding("quantization", "not_testable", message, evidence)]
    bits = bits_of(told)
    if "draft" in identity.details:
        # Such a name tells of two models: `f16+q4`.
        claims = [claim for claim in claims if bits not in _all_bits(claim)]
    for claim in claims:
        promised = bits_of(claim)
        low = promised is None and _LOW.search(claim) is not None
        if bits is None or (promised is None and not low):
            continue
        if (promised is not None and promised != bits) or (low and bits >= _PLAIN):
            message = f"It is named '{claim}', but what is served is {told}."
            return [Finding("quantization", "failed", message, evidence)]
    return [Finding("quantization", "ok", f"Its weights are {told}.", evidence)]


def compare(a: Identity, b: Identity, *, same_numbers: bool | None) -> list[Finding]:
    """Judge two endpoints: the candidate must be another and cheaper build.

    Args:
        a: Of the baseline.
        b: Of the candidate.
        same_numbers: Whether both compute the very same numbers, as far as they tell.
    """
    evidence = {"baseline": _facts(a), "candidate": _facts(b)}
    if a.quantization is None or b.quantization is None:
        message = "Whether the candidate is quantized more is not told by both."
        return [Finding("quantized", "not_testable", message, evidence)]
    online = "config_quantized" in b.details and a.details.get("root") == b.details.get("root")
    if online and not b.details["config_quantized"] and same_numbers is False:
        message = (
            "Both load the same unquantized checkpoint; as their numbers differ, one is quantized "
            "while it is loaded."
        )
        return [Finding("quantized", "not_testable", message, evidence)]
    bits_a, bits_b = bits_of(a.quantization), bits_of(b.quantization)
    if b.details.get("config_quantized") is False or (bits_b or 0) >= _PLAIN:
        message = f"The candidate is not quantized: it is {b.quantization}."
        return [Finding("quantized", "differs", message, evidence)]
    alike = [_facts(a)[key] == _facts(b)[key] for key in ("quantization", "n_params", "bytes")]
    if all(alike) and _facts(a)["bytes"] is not None:
        message = f"Both are {a.quantization} of the same size: neither is the cheaper build."
        return [Finding("quantized", "differs", message, evidence)]
    if bits_a is not None and bits_b is not None and bits_b > bits_a:
        message = f"The candidate ({b.quantization}) is finer than the baseline."
        return [Finding("quantized", "ok", message, evidence)]
    message = f"The baseline is {a.quantization}, the candidate {b.quantization}."
    return [Finding("quantized", "ok", message, evidence)]


def _facts(identity: Identity) -> dict[str, Any]:
    details = identity.details
    size = identity.weights_bytes
    return {
        "quantization": identity.quantization,
        "n_params": details.get("n_params"),
        "bytes": size if size is not None else details.get("size"),
    }
