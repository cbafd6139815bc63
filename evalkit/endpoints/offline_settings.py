"""Configuration of the engines that are packages: `kind: vllm`, and checkpoints."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, field_validator

import evalkit.workers
from evalkit.endpoints.checkpoint import read_checkpoint
from evalkit.endpoints.completions import PromptSettings
from evalkit.endpoints.engine import available_cores
from evalkit.endpoints.launch_settings import LaunchSettings, weight_stamps
from evalkit.endpoints.settings import require_json
from evalkit.fingerprint import canonical, digest
from evalkit.plainkeys import names_secret

WORKER_VERSION: Final = 1
"""Raised when the worker answers otherwise than before: earlier answers are asked again."""

QUANTIZATIONS: Final = {
    "bnb-nf4": ("bitsandbytes", "bitsandbytes nf4"),
    "bnb-fp4": ("bitsandbytes", "bitsandbytes fp4"),
    "bnb-int8": ("bitsandbytes", "bitsandbytes int8"),
    "torchao-int8wo": ("torchao", "torchao int8 weight-only"),
    "torchao-fp8wo": ("torchao", "torchao fp8 weight-only"),
    "torchao-int4wo": ("torchao", "torchao int4 weight-only"),
}
"""What transformers does while it loads: the package for it, and its name in words."""

_WORKERS = Path(evalkit.workers.__file__).parent


class OfflineSettings(PromptSettings):
    """What both kinds share. Further keys are those of `kind: openai` and `kind: launch`.

    Attributes:
        model: Folder of a checkpoint, or its name on the hub.
        revision: Branch, tag or commit on the hub; a commit pins it.
        python: Interpreter that has the engine's packages; default: evalkit's own.
        dtype: Type of weights that are not quantized, e.g. `bfloat16`.
        context: Tokens of prompt and answer together; default: the model's.
        batch: Requests that are computed together at most.
        env: Set for the worker beside evalkit's own environment.
        label: What a report calls it; default: model, quantization and engine.
        extra_body: `chat_template_kwargs`, for one; any other field is refused.
        omit: Sampling fields that are not sent.
        client_stop: Cut the finished answer at stop strings, instead of sending them.
        hardware: What it runs on, for the report.
        ready_timeout: Seconds until the first real answer.
        stop_timeout: Seconds between SIGTERM and SIGKILL.
        restarts: How often a worker that dies during a run is started again.
    """

    engine: ClassVar[str]

    model: str = Field(min_length=1)
    label: str | None = None
    revision: str | None = None
    python: str = Field(default_factory=lambda: sys.executable)
    quantization: str | None = None
    dtype: str | None = None
    context: int | None = Field(default=None, ge=16)
    batch: int | None = Field(default=None, ge=1)
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    extra_body: dict[str, Any] = Field(default_factory=dict, repr=False)
    omit: tuple[str, ...] = ()
    client_stop: bool = False
    hardware: str | None = None
    ready_timeout: float = Field(default=1800.0, gt=0)
    stop_timeout: float = Field(default=20.0, ge=0)
    restarts: int = Field(default=1, ge=0)

    @field_validator("model")
    @classmethod
    def _is_checkpoint(cls, value: str) -> str:
        folder = Path(value).expanduser()
        if folder.is_dir() and not (folder / "config.json").is_file():
            raise ValueError(f"'{value}' holds no config.json, so that it is no checkpoint")
        return str(folder.resolve()) if folder.is_dir() else value

    @field_validator("python")
    @classmethod
    def _is_path(cls, value: str) -> str:
        return str(Path(value).expanduser())

    @property
    def name(self) -> str:
        """What the model is called: the folder's name, or the hub's."""
        return Path(self.model).name if Path(self.model).is_dir() else self.model

    @property
    def described(self) -> str:
        """The label, or else model, quantization and engine."""
        loaded = f", {self.quantization}" if self.quantization else ""
        return self.label or f"{self.name}{loaded} ({self.engine})"

    @property
    def packages(self) -> tuple[str, ...]:
        """What the interpreter must be able to import."""
        raise NotImplementedError

    def worker_options(self) -> dict[str, Any]:
        """Return what the worker is told; JSON can hold it."""
        raise NotImplementedError

    def loaded_quantization(self) -> str | None:
        """Return in words what is done to the weights while they are loaded."""
        raise NotImplementedError

    def launch_settings(self) -> LaunchSettings:
        """Return the worker as a server to launch."""
        command = (
            self.python, "-m", "evalkit_worker", self.engine, "--model", self.model,
            "--name", "{model}", "--port", "{port}",
            "--options", canonical(self.worker_options()),
        )  # fmt: skip
        paths = [str(_WORKERS), self.env.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))]
        env = {**_QUIET, **self.env, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        if Path(self.model).is_dir():
            env.setdefault("HF_HUB_OFFLINE", "1")
        shared = (
            "label", "hardware", "api", "chat_template", "tokenizer", "chat_template_kwargs",
            "extra_body", "omit", "client_stop", "ready_timeout", "stop_timeout", "restarts",
        )  # fmt: skip
        told = {key: getattr(self, key) for key in shared}
        return LaunchSettings(model=self.name, command=command, env=env, **told)

    def work_hash(self) -> str:
        """Hash what decides what is served: model, options, environment, the files of weights."""
        env = {name: value for name, value in self.env.items() if not names_secret(name)}
        told = {
            "worker": WORKER_VERSION,
            "engine": self.engine,
            "python": self.python,
            "model": self.model,
            "options": self.worker_options(),
            "env": env,
            "files": weight_stamps((self.model,)),
            "commit": cached_commit(self.model, self.revision, {**os.environ, **self.env}),
        }
        return digest(told)


# Nobody is told what is evaluated, and threads that wait leave their core to others.
_QUIET = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "OMP_WAIT_POLICY": "passive",
    "TOKENIZERS_PARALLELISM": "false",
    "VLLM_NO_USAGE_STATS": "1",
}


class VLLMSettings(OfflineSettings):
    """Configuration of `kind: vllm`.

    Attributes:
        quantization: What vLLM does while it loads, e.g. `fp8`; a quantized checkpoint needs
            none.
        engine_args: Further arguments of `vllm.LLM`, e.g. `tensor_parallel_size`.
    """

    engine: ClassVar[str] = "vllm"

    kind: Literal["vllm"] = "vllm"
    engine_args: dict[str, Any] = Field(default_factory=dict)

    @field_validator("engine_args")
    @classmethod
    def _are_arguments(cls, value: dict[str, Any]) -> dict[str, Any]:
        own = {"model", "revision", "quantization", "dtype", "max_model_len"}
        for name in sorted(own & value.keys()):
            raise ValueError(f"{name} has a key of its own, beside engine_args")
        if "trust_remote_code" in value:
            raise ValueError("a checkpoint's own code is not run (trust_remote_code)")
        return require_json(value)

    @property
    def packages(self) -> tuple[str, ...]:
        """VLLM brings all that it needs."""
        return ("vllm",)

    def worker_options(self) -> dict[str, Any]:
        """Return the arguments of `vllm.LLM`."""
        told = {
            "revision": self.revision,
            "quantization": self.quantization,
            "dtype": self.dtype,
            "max_model_len": self.context,
            "batch": self.batch,
        }
        return {**self.engine_args, **{k: v for k, v in told.items() if v is not None}}

    def loaded_quantization(self) -> str | None:
        """Return vLLM's own word for it."""
        return None if self.quantization is None else f"{self.quantization}, while it is loaded"


class CheckpointSettings(OfflineSettings):
    """Configuration of `kind: local` for a checkpoint of transformers.

    Attributes:
        quantization: What is done while it loads: `bnb-nf4`, `bnb-fp4`, `bnb-int8`,
            `torchao-int8wo`, `torchao-fp8wo` or `torchao-int4wo`. A quantized checkpoint needs
            none.
        device: `cpu`, `cuda`, `cuda:1`, `mps`, or `auto` to spread it; default: a GPU if any.
        batch: 1 by default: padding to a common length changes numbers a little, so that
            answers would depend on their neighbours.
        threads: For computing on the CPU; default: the cores this process may use.
    """

    engine: ClassVar[str] = "transformers"

    kind: Literal["local"] = "local"
    device: str | None = None
    batch: int | None = Field(default=1, ge=1)
    threads: int = Field(default_factory=available_cores, ge=1)

    @field_validator("quantization")
    @classmethod
    def _is_known(cls, value: str | None) -> str | None:
        if value is not None and value not in QUANTIZATIONS:
            raise ValueError(f"'{value}' is none of {', '.join(QUANTIZATIONS)}")
        return value

    @property
    def packages(self) -> tuple[str, ...]:
        """What transformers needs for this checkpoint and this quantization."""
        needed = ["torch", "transformers", "accelerate"]
        if self.quantization is not None:
            needed.append(QUANTIZATIONS[self.quantization][0])
        found = read_checkpoint(self.model)
        words = "" if found is None or not found.quantized else found.quantization or ""
        by_method = {"compressed-tensors": "compressed_tensors", "bitsandbytes": "bitsandbytes",
                     "torchao": "torchao"}  # fmt: skip
        needed += [package for method, package in by_method.items() if words.startswith(method)]
        return tuple(dict.fromkeys(needed))

    def worker_options(self) -> dict[str, Any]:
        """Return what the worker passes on to transformers."""
        keys = ("revision", "quantization", "dtype", "context", "batch", "device", "threads")
        return {key: getattr(self, key) for key in keys if getattr(self, key) is not None}

    def loaded_quantization(self) -> str | None:
        """Return package and format."""
        return None if self.quantization is None else QUANTIZATIONS[self.quantization][1]


def cached_commit(model: str, revision: str | None, env: Mapping[str, str]) -> str | None:
    """Return the commit that the hub's cache holds of a model, as far as it holds any."""
    if Path(model).is_dir():
        return None
    home = Path(env.get("HF_HOME") or "~/.cache/huggingface").expanduser()
    cache = Path(env["HF_HUB_CACHE"]) if env.get("HF_HUB_CACHE") else home / "hub"
    ref = cache / f"models--{model.replace('/', '--')}" / "refs" / (revision or "main")
    try:
        return ref.read_text("ascii").strip() or None
    except (OSError, ValueError):
        # A commit has no file there: it is the revision itself.
        return revision
