"""Where a model's metadata come from: a folder, a file, or a name that is in the cache."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from evalkit.capacity.declared import declared_kv, declared_layout
from evalkit.capacity.formats import FORMATS, Layout, StoredLayout
from evalkit.capacity.gguf_file import model_from_gguf
from evalkit.capacity.hf_config import model_from_config
from evalkit.capacity.model import Model
from evalkit.errors import ConfigError, StoreError, UsageError

_CONFIG: Final = "config.json"
_MOST_BYTES: Final = 16 << 20
_HINT: Final = (
    "Give a folder with config.json, a config.json, a .gguf file, or a name that transformers "
    "has in its cache."
)


@dataclass(frozen=True, slots=True)
class Source:
    """A model, and how its own file stores it.

    Attributes:
        engine: Which kind of server reads such files: `vllm` or `llama.cpp`.
        quantized: Whether the file itself is quantized.
        raw: The configuration; nothing for GGUF.
    """

    model: Model
    engine: str
    quantized: bool
    where: str
    layout: Layout | None = None
    raw: Mapping[str, Any] | None = None

    def stored(self) -> Layout:
        """Return the layout of the file itself.

        Raises:
            ConfigError: When the file does not say, or says what is not understood.
        """
        found = self.layout
        if found is None and self.raw is not None:
            found = declared_layout(self.raw, self.where)
        if found is None:
            raise ConfigError(
                f"{self.where} does not say how the weights are stored.",
                hint="Name formats with --quant, e.g. int4,fp8,bf16.",
            )
        return found


def read_source(named: str) -> Source:
    """Read a model's metadata; no weights, no network.

    Raises:
        ConfigError: When what was found does not tell the model's memory.
        StoreError: When it cannot be read.
        UsageError: When nothing is there.
    """
    if not named:
        raise UsageError("The name of the model is empty.", hint=_HINT)
    path = Path(named)
    try:
        folder, file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        folder = file = False
    if folder:
        path = _inside(path)
    elif not file:
        return _cached(named)
    if path.suffix == ".gguf":
        model, label = model_from_gguf(path)
        layout = StoredLayout("stored", replace(FORMATS["fp32"], name=label))
        return Source(model, "llama.cpp", True, path.name, layout=layout)
    name = path.resolve().parent.name if path.name == _CONFIG else path.stem
    return _from_config(_read(path), name, path.name)


def _inside(folder: Path) -> Path:
    config = folder / _CONFIG
    if config.is_file():
        return config
    found = sorted(folder.glob("*.gguf"))
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} GGUF files: name one" if found else "neither config.json nor a .gguf file"
    raise UsageError(f"{folder} holds {what}.", hint=_HINT)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path} has more than 16 MB: that is no config.json.", hint=_HINT)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {str(error)[:80]}.", hint=_HINT) from error
    if not isinstance(found, Mapping):
        raise ConfigError(f"{path} holds no JSON object.", hint=_HINT)
    return found


def _cached(name: str) -> Source:
    """Ask transformers, which may know a name from its cache; never the network."""
    # It says on stderr that PyTorch is missing, which does not matter here.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    missing = UsageError(f"There is no model at '{name[:80]}'.", hint=_HINT)
    if name.startswith(("/", ".", "~")) or Path(name).suffix in (".gguf", ".json"):
        raise missing
    try:
        from transformers import AutoConfig
    except ImportError:
        raise missing from None
    try:
        config = AutoConfig.from_pretrained(name, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise missing from None
    return _from_config(config.to_dict(), name, name)


def _from_config(raw: Mapping[str, Any], name: str, where: str) -> Source:
    model = replace(model_from_config(raw, name, where), kv=declared_kv(raw))
    quantized = bool(raw.get("quantization_config") or raw.get("compression_config"))
    return Source(model, "vllm", quantized, where, raw=raw)
