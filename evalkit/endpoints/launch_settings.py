"""Configuration of `kind: launch`: the command, what is filled in, what is masked."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from evalkit.endpoints.masking import MASK, Secrets
from evalkit.endpoints.openai_settings import OpenAISettings
from evalkit.endpoints.ports import HOST
from evalkit.fingerprint import digest
from evalkit.plainkeys import names_secret

PLACES = ("port", "host", "log", "model")

_PLACE = re.compile(r"(?<![{$])\{([a-z_]+)\}(?!\})")
_QUOTED_PLACE = re.compile(r"'(\{(?:port|host|log|model)\})'")
_URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_SHORTEST_SECRET = 6
_WEIGHTS = {".safetensors", ".gguf", ".bin", ".pt", ".pth", ".onnx", ".json", ".jinja", ".model"}


class LaunchSettings(OpenAISettings):
    """Configuration of `kind: launch`, beside the keys of `kind: openai`.

    Attributes:
        command: What serves the model, in the foreground: a list, or a text that is split as
            a shell would, without a shell. `{port}`, `{host}`, `{model}` and `{log}` are
            filled in; other braces stay as they are.
        env: Set for the command beside evalkit's own environment; the places are filled in
            here too.
        port: A fixed one, for a command that takes none; default: any free port.
        health: A page that answers 2xx when the server is ready; default: `/health`, and a
            server without that page is ready when it answers at all.
        ready_timeout: Seconds until the first real answer.
        stop_timeout: Seconds between SIGTERM and SIGKILL.
        restarts: How often a server that dies during a run is started again.
        api_key_env: As with `kind: openai`, but without it no key is sent.
    """

    kind: Literal["launch"] = "launch"  # type: ignore[assignment]
    base_url: str = Field(default=f"http://{HOST}", repr=False)
    command: tuple[str, ...] = Field(min_length=1, repr=False)
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    port: int | None = Field(default=None, ge=1, le=65535)
    health: str | None = None
    ready_timeout: float = Field(default=1800.0, gt=0)
    stop_timeout: float = Field(default=20.0, ge=0)
    restarts: int = Field(default=1, ge=0)
    api_key_env: str | None = ""

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if not isinstance(value, str):
            # YAML reads a bare number as one.
            return [str(v) if isinstance(v, (int, float)) else v for v in _listed(value)]
        try:
            return shlex.split(value)
        except ValueError as error:
            raise ValueError(f"it cannot be split into words: {error}") from None

    @field_validator("env", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {k: str(v) if isinstance(v, (int, float)) else v for k, v in value.items()}

    @field_validator("health")
    @classmethod
    def _is_path(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError("it must be a path that begins with '/'")
        return value

    @model_validator(mode="after")
    def _tells_its_port(self) -> LaunchSettings:
        if "base_url" in self.model_fields_set:
            raise ValueError("base_url does not belong here: evalkit chooses host and port")
        texts = (*self.command, *self.env.values())
        for place in (place for text in texts for place in _PLACE.findall(text)):
            near = difflib.get_close_matches(place, PLACES, n=1, cutoff=0.6)
            if place not in PLACES and near:
                raise ValueError(f"{{{place}}} is not filled in; did you mean {{{near[0]}}}?")
        if self.port is None and not any("{port}" in text for text in texts):
            raise ValueError("the command takes no {port}; write it there, or a fixed port: beside")
        return self

    @property
    def program(self) -> str:
        """The program's name, for people."""
        names = [Path(word).name for word in self.command]
        for name, option, module in zip(names, names[1:], names[2:], strict=False):
            if name.startswith("python") and option == "-m":
                return module
        return names[0]

    def missing_program(self) -> str | None:
        """Return the command's first word when there is no such program."""
        search = self.env.get("PATH", os.environ.get("PATH"))
        return None if shutil.which(self.command[0], path=search) else self.command[0]

    def fill(self, text: str, *, port: int, log: Path) -> str:
        """Fill the places of one word in."""
        values = {"port": str(port), "host": HOST, "log": str(log), "model": self.model}
        return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)

    def shown(self, words: tuple[str, ...]) -> str:
        """Return a command as people may read it: without keys and logins."""
        masked = []
        hide = False
        for word in words:
            name, equals, _ = word.partition("=")
            if hide and not word.startswith("-"):
                word = MASK
            elif equals and names_secret(name):
                word = f"{name}={MASK}"
            hide = word.startswith("-") and not equals and names_secret(word)
            masked.append(word if word == MASK else shlex.quote(_URL_LOGIN.sub(f"{MASK}@", word)))
        return self.scrub(_QUOTED_PLACE.sub(r"\1", " ".join(masked)))

    def scrub(self, text: str) -> str:
        """Return a text without any secret of the command's environment or arguments."""
        return Secrets(self.secrets()).scrub(text)

    def secrets(self) -> tuple[str, ...]:
        """Return what must not be shown: values of variables and options that hold keys.

        The server inherits evalkit's environment, and may print what it finds there.
        """
        named = (os.environ | self.env).items() | self.headers.items()
        # SSH_AUTH_SOCK and the like name a file.
        found = [v for name, v in named if names_secret(name) and not _is_path(v)]
        found += list(_secret_arguments(self.command))
        found += [login[:-1] for word in self.command for login in _URL_LOGIN.findall(word)]
        long = {value for value in found if len(value) >= _SHORTEST_SECRET}
        return tuple(sorted(long, key=len, reverse=True))

    def command_hash(self) -> str:
        """Hash what decides what is served: command, environment and local files of weights.

        Port and log are not in it, nor is any key. Files count with name, size and time of
        change: weights that are made anew at the same path are other weights.
        """
        fixed, secrets = str(self.port), self.secrets()
        words = ["{port}" if word == fixed else word for word in self.command]
        words = [MASK if any(secret in word for secret in secrets) else word for word in words]
        env = {name: value for name, value in self.env.items() if not names_secret(name)}
        files = weight_stamps((*self.command, self.model))
        return digest({"command": words, "env": env, "files": files})


def _is_path(value: str) -> bool:
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False


def _listed(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


def _secret_arguments(command: tuple[str, ...]) -> Iterator[str]:
    for word, following in zip(command, (*command[1:], ""), strict=True):
        name, equals, value = word.partition("=")
        if not names_secret(name):
            continue
        if equals:
            yield value
        elif word.startswith("-") and not following.startswith("-"):
            yield following


def weight_stamps(words: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Return name, size and time of change of every file of weights that the words name."""
    found = []
    for name in dict.fromkeys(part for word in words for part in (word, word.partition("=")[2])):
        try:
            path = Path(name)
            if not name or not path.exists():
                continue
            if path.is_dir():
                files = sorted(path.iterdir()) if (path / "config.json").is_file() else []
            else:
                files = [path]
            for file in files:
                if file.suffix in _WEIGHTS and file.is_file():
                    stat = file.stat()
                    found.append((file.name, stat.st_size, stat.st_mtime_ns))
        except (OSError, ValueError):
            continue
    return found
