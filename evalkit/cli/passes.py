"""pass@k of one arm, as `run`, `score` and `grade` tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.estimates import Estimate


def estimate_body(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return an estimate for JSON; fractions."""
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
        "n": estimate.n,
        "confidence_level": estimate.confidence_level,
    }


def estimate_text(estimate: Mapping[str, Any]) -> str:
    """Return an estimate of `estimate_body` in percent, with its interval."""
    value, low, high = (estimate[key] for key in ("value", "low", "high"))
    if value is None:
        return "no data"
    level = f"{100 * estimate['confidence_level']:g}%"
    limits = "no interval" if low is None else f"{level}: {100 * low:.1f} to {100 * high:.1f}%"
    return f"{100 * value:.1f}% ({limits})"


def pass_body(found: Mapping[int, Estimate]) -> dict[str, Any]:
    """Return pass@k by k for JSON; `n` are prompts."""
    return {str(k): estimate_body(estimate) for k, estimate in found.items()}


def pass_lines(body: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each k of `pass_body`."""
    for k, estimate in body.items():
        yield f"{f'pass@{k}':<15}{estimate_text(estimate)} of {estimate['n']} prompts"
