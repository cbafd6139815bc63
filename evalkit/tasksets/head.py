"""The head of a taskset: `taskset.yaml` in its folder, or the first lines of its only file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evalkit.errors import TasksetError
from evalkit.tasksets.textfile import read_text
from evalkit.types import Family, Language
from evalkit.yamlfile import explain_validation

HEAD = "taskset.yaml"
# Whatever a taskset says of itself, these scorers run what a model wrote.
RUNS_CODE = frozenset({"code"})
# The scorer of what another tool asked and scored: it stands for that tool.
RECORDED = "recorded"
# What of a head tells only how its files are read, and shapes neither prompts nor scores.
READING = frozenset({"encoding", "delimiter", "columns", "defaults", "lists", "source"})
_FIELDS = ("id", "language", "category", "input", "messages", "target", "cluster", "metadata")
_GROUPS = ("target.", "metadata.")


class Head(BaseModel):
    """What a head may say. `{input}` in a template is replaced literally.

    Attributes:
        stop: Texts that end an answer.
        generator: Makes the samples, in place of a file.
        options: What that generator is told.
        open_answers: Whether an answer may be right in words that no target holds; then the
            report says how far its scorer agrees with people, and a judge decides if it can.
        suites: Whether the taskset is part of the suites.
        source: Where the rows are, when no file beside the head holds them: a data set of
            the hub, `hf:ORG/NAME[@REVISION][:CONFIG][:SPLIT]`.
        encoding: Of the samples' file, where it is neither UTF-8 nor UTF-16 with a mark.
        delimiter: Between the cells of a table; a comma, and a tab in `.tsv`.
        columns: From a field (`input`, `target.value`, ...) to the column, or the key of a
            JSON line, that holds it. What no field is read from is then left out.
        defaults: Of fields that a row does not give.
        lists: From a field to what separates the items in its cell.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    version: int = Field(ge=1)
    family: Family
    description: str
    scorer: str
    max_tokens: int = Field(ge=1)
    margin: float = Field(5.0, gt=0, lt=100)
    measures_hallucination: bool = False
    code: bool = False
    open_answers: bool = False
    system: dict[Language, str] = Field(default_factory=dict)
    template: dict[Language, str] = Field(default_factory=dict)
    stop: tuple[str, ...] = ()
    generator: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    suites: bool = True
    source: str | None = Field(None, pattern=r"^hf:.+")
    encoding: str | None = None
    delimiter: str | None = Field(None, min_length=1, max_length=1)
    columns: dict[str, str] = Field(default_factory=dict)
    defaults: dict[str, Any] = Field(default_factory=dict)
    lists: dict[str, str] = Field(default_factory=dict)

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str | None) -> str | None:
        try:
            # Codecs that make no text (base64, zlib) have no place here either.
            "".encode(value or "utf-8")
        except (LookupError, UnicodeError, ValueError):
            raise ValueError("no such encoding is known") from None
        return value

    @field_validator("columns", "defaults", "lists")
    @classmethod
    def _known_fields(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if not is_field(name):
                known = ", ".join(_FIELDS)
                raise ValueError(f"'{name}' is no field: {known}, target.KEY, metadata.KEY")
        return value


def is_field(name: str) -> bool:
    """Whether a row may have such a field: `input`, `target.value`, `metadata.source`, ..."""
    return name in _FIELDS or any(
        name.startswith(group) and len(name) > len(group) for group in _GROUPS
    )


def read_head(folder: Path) -> Head:
    """Read and check the `taskset.yaml` of a folder.

    Raises:
        TasksetError: Names the file and line.
    """
    path = folder / HEAD
    if not path.exists():
        raise TasksetError(
            f"'{folder}' is not a taskset: it has no {HEAD}.",
            hint=f"A taskset is a folder with {HEAD} and samples.jsonl or samples.csv.",
        )
    return parse_head(read_text(path), f"'{path}'")


def parse_head(text: str, where: str) -> Head:
    """Check the YAML of a head.

    Args:
        text: The YAML.
        where: Names its file in errors.

    Raises:
        TasksetError: Names the file and line.
    """
    try:
        loaded = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise TasksetError(f"{where}{line} is not valid YAML: {error.problem}.") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise TasksetError(f"{where} is not valid YAML.") from None
    if not isinstance(loaded, dict):
        raise TasksetError(f"{where} holds no keys with values.")
    try:
        return Head.model_validate(loaded)
    except ValidationError as error:
        message, hint = explain_validation(error, where, Head)
        raise TasksetError(message, hint=hint) from None
