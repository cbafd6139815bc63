"""The quantizations that transformers applies while it loads, by short names."""

from __future__ import annotations

from typing import Any


def quantization_config(name: str, compute: Any) -> Any:
    """Return transformers' configuration of a quantization.

    Args:
        name: `bnb-nf4`, `bnb-fp4`, `bnb-int8`, `torchao-int8wo`, `torchao-fp8wo` or
            `torchao-int4wo`.
        compute: The type that bitsandbytes computes in.

    Raises:
        ValueError: For another name.
    """
    maker, _, scheme = name.partition("-")
    if maker == "bnb":
        from transformers import BitsAndBytesConfig

        if scheme == "int8":
            return BitsAndBytesConfig(load_in_8bit=True)
        if scheme in ("nf4", "fp4"):
            return BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type=scheme, bnb_4bit_compute_dtype=compute
            )
    if maker == "torchao":
        from torchao import quantization
        from transformers import TorchAoConfig

        schemes = {
            "int8wo": "Int8WeightOnlyConfig",
            "fp8wo": "Float8WeightOnlyConfig",
            "int4wo": "Int4WeightOnlyConfig",
        }
        if scheme in schemes:
            return TorchAoConfig(getattr(quantization, schemes[scheme])())
    raise ValueError(f"The quantization {name} is not known")
