"""What changed between two releases, told from their identities alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalkit.releases import ReleaseChange, Sameness

_WEIGHTS: Final = ("weights_hash", "quantization", "weights_bytes", "n_params", "size")
_ENGINE: Final = ("engine", "engine_version")
# They tell nothing of weights or engine by themselves, but a reader wants to know.
_BESIDE: Final = (
    "model",
    "base_url",
    "context_length",
    "template_hash",
    "tokenizer_hash",
    "rendering_hash",
    "request_hash",
    "command_hash",
    "hardware",
)


def release_change(
    candidate: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> ReleaseChange:
    """Tell new weights from a new engine.

    Equal hashes of weights are the same weights; another hash, quantization, size or number
    of parameters are other ones. Names prove neither: where no hash is told by both and
    nothing differs, it is not known. An engine is the same when both tell the same name and
    version; and where the weights are the same, also the same command, if evalkit started it.

    Args:
        candidate: Name of the later release.
        before: Identity of the earlier one, as `comparison.json` holds it.
        after: Identity of the later one.
    """
    fields = {
        name: (_fact(before, name), _fact(after, name))
        for name in (*_WEIGHTS, *_ENGINE, *_BESIDE)
        if _fact(before, name) != _fact(after, name)
    }
    weights = _weights(before, after)
    return ReleaseChange(candidate, weights, _engine(before, after, weights), fields)


def _weights(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sameness:
    # The hash alone decides where both have one: it covers all the rest.
    hashes = (before.get("weights_hash"), after.get("weights_hash"))
    if None not in hashes:
        return Sameness.SAME if hashes[0] == hashes[1] else Sameness.NEW
    differ = any(_both_differ(before, after, name) for name in _WEIGHTS)
    return Sameness.NEW if differ else Sameness.UNKNOWN


def _engine(before: Mapping[str, Any], after: Mapping[str, Any], weights: Sameness) -> Sameness:
    if any(_both_differ(before, after, name) for name in _ENGINE):
        return Sameness.NEW
    if weights is Sameness.SAME and _both_differ(before, after, "command_hash"):
        return Sameness.NEW
    known = all(_fact(one, name) is not None for one in (before, after) for name in _ENGINE)
    return Sameness.SAME if known else Sameness.UNKNOWN


def _both_differ(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    one, other = _fact(before, name), _fact(after, name)
    return one is not None and other is not None and one != other


def _fact(identity: Mapping[str, Any], name: str) -> Any:
    details = identity.get("details")
    found = identity.get(name)
    if found is None and name in ("n_params", "size") and isinstance(details, Mapping):
        return details.get(name)
    return found
