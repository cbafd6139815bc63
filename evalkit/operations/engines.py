"""The names under which engines export what is watched, and the bounds of their histograms.

vLLM: `vllm/v1/metrics/loggers.py` and `buckets.py` of 0.32; failed requests are counted by
prometheus-fastapi-instrumentator, which vLLM serves with. llama.cpp: `llama-server --metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VLLM: Final = "vllm"
LLAMA: Final = "llama.cpp"
ENGINES: Final = (VLLM, LLAMA)

# Seconds. `--custom-histogram-buckets` of vLLM changes them.
BUCKETS: Final[Mapping[str, tuple[float, ...]]] = {
    "ttft": (
        0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5,
        10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
    ),
    "itl": (
        0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
        20.0, 40.0, 80.0,
    ),
}  # fmt: skip

GENERATED: Final = {VLLM: "vllm:generation_tokens_total", LLAMA: "llamacpp:tokens_predicted_total"}
RUNNING: Final = {VLLM: "vllm:num_requests_running", LLAMA: "llamacpp:requests_processing"}
ACCEPTED: Final = {
    VLLM: "vllm:spec_decode_num_accepted_tokens_total",
    LLAMA: "llamacpp:spec_decode_num_accepted_tokens_total",
}
DRAFTED: Final = {
    VLLM: "vllm:spec_decode_num_draft_tokens_total",
    LLAMA: "llamacpp:spec_decode_num_draft_tokens_total",
}


def engine_of(told: str | None) -> str | None:
    """Return whose metrics an engine exports, by the name that it tells; `None`: not known.

    >>> engine_of("vLLM"), engine_of("llama.cpp (xllamacpp)"), engine_of(None)
    ('vllm', 'llama.cpp', None)
    """
    name = (told or "").lower()
    if "vllm" in name:
        return VLLM
    return LLAMA if "llama" in name else None
