"""`kind: vllm`, and `kind: local` of a checkpoint: engines that are packages, not servers.

The engine lives in a process of its own (`evalkit_worker`), which may run under another
interpreter than evalkit: two environments never have to agree on a version, a crash takes
nothing with it, and the end of the process gives the device back before the next arm begins.
It is started, watched, asked and ended as the server of `kind: launch` is.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalkit.endpoints.base import ENDPOINTS, EndpointOptions
from evalkit.endpoints.engine import hardware
from evalkit.endpoints.identity import ModelList
from evalkit.endpoints.launch import LaunchEndpoint
from evalkit.endpoints.offline_settings import CheckpointSettings, OfflineSettings, VLLMSettings
from evalkit.endpoints.settings import check_settings
from evalkit.endpoints.wire import parse_json
from evalkit.errors import ConfigError, MissingExtraError
from evalkit.types import Identity

_BITS = {"float32": 32, "f32": 32, "bfloat16": 16, "bf16": 16, "float16": 16, "f16": 16}
_FIND = (
    "import importlib.util, sys\n"
    "print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])"
)
_FIND_SECONDS = 60.0


class OfflineEndpoint(LaunchEndpoint):
    """A worker that is started when this is entered, and ended when it is left."""

    def __init__(self, name: str, offline: OfflineSettings, options: EndpointOptions) -> None:
        super().__init__(name, offline.launch_settings(), options)
        self._offline = offline

    @property
    def label(self) -> str:
        """Model, quantization and engine, unless the configuration says otherwise."""
        return self._offline.described

    def command_hash(self) -> str:
        """Hash what decides what is served, without starting it."""
        return self._offline.work_hash()

    async def identity(self) -> Identity:
        """Say what is loaded: the checkpoint, what was done to it, the engine and its version.

        Raises:
            EndpointError: When the worker does not answer.
        """
        served = await super().identity()
        _, page = await self.exchange("/v1/models")
        entry = ModelList.read(parse_json(page)).entries[0]
        facts: Mapping[str, Any] = entry.get("meta") or {}
        details = {k: v for k, v in served.details.items() if k != "command"}
        for key in ("dtype", "device", "revision"):
            if facts.get(key):
                details[key] = facts[key]
        quantization = _narrower(served.quantization, facts.get("dtype"))
        loaded = self._offline.loaded_quantization()
        if loaded is not None and not details.get("config_quantized"):
            quantization = loaded
            details["config_quantized"] = True
            details["quantized_while_loading"] = True
        size = facts.get("size")
        return replace(
            served,
            kind=self._offline.engine,
            quantization=quantization,
            weights_bytes=size if isinstance(size, int) else None,
            hardware=served.hardware or (hardware() if facts.get("device") == "cpu" else None),
            details=details,
        )


def require_packages(name: str, settings: OfflineSettings) -> None:
    """Make sure that the interpreter has what the engine needs, without loading it.

    Raises:
        ConfigError: When there is no such interpreter.
        MissingExtraError: Naming what is missing, with the line that installs it.
    """
    python = shutil.which(settings.python)
    if python is None:
        raise ConfigError(
            f"Endpoint '{name}': the interpreter '{settings.python}' is not found.",
            hint="Name one that has the engine's packages, e.g. python: .venv-vllm/bin/python.",
        )
    missing = _missing(python, settings.packages, settings.env.get("PYTHONPATH"))
    if missing:
        needed = " ".join(package.replace("_", "-") for package in missing)
        raise MissingExtraError(
            f"Endpoint '{name}' ({settings.quantization or settings.engine})",
            f"{settings.python} -m pip install {needed}",
        )


@functools.lru_cache(maxsize=64)
def _missing(python: str, packages: Sequence[str], path: str | None) -> tuple[str, ...]:
    env = dict(os.environ) if path is None else {**os.environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(
            [python, "-c", _FIND, *packages],
            capture_output=True, text=True, env=env, timeout=_FIND_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"The interpreter '{python}' does not run: {error}.") from error
    return tuple(done.stdout.split())


def _narrower(stored: str | None, loaded: object) -> str | None:
    """Return the type that decides about the numbers: wider ones add nothing to stored ones."""
    there, made = _BITS.get(stored or ""), _BITS.get(str(loaded))
    if there is None or made is None or made >= there:
        return stored
    return str(loaded)


def checkpoint_endpoint(
    name: str, raw: Mapping[str, Any], options: EndpointOptions
) -> OfflineEndpoint:
    """Make an endpoint of `kind: local` for a checkpoint.

    Raises:
        ConfigError: Naming endpoint and key.
        MissingExtraError: When a package is not installed, before anything was begun.
    """
    settings = check_settings(CheckpointSettings, name, raw)
    require_packages(name, settings)
    return OfflineEndpoint(name, settings, options)


@ENDPOINTS.register("vllm")
def vllm_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> OfflineEndpoint:
    """Make an endpoint of `kind: vllm` from its configuration.

    Raises:
        ConfigError: Naming endpoint and key.
        MissingExtraError: When vLLM is not installed, before anything was begun.
    """
    settings = check_settings(VLLMSettings, name, raw)
    require_packages(name, settings)
    return OfflineEndpoint(name, settings, options)
