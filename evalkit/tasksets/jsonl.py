"""Reading a taskset folder: `taskset.yaml` beside `samples.jsonl`, or a generator's recipe."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from evalkit.errors import TasksetError
from evalkit.fingerprint import digest_and_seal, digest_and_seal_rows
from evalkit.tasksets.generators.base import Made, take
from evalkit.types import Family, Language, Message, Sample, Taskset
from evalkit.yamlfile import explain_validation

HEAD = "taskset.yaml"
SAMPLES = "samples.jsonl"
# Whatever a taskset says of itself, these scorers run what a model wrote.
RUNS_CODE = frozenset({"code"})
_SHORT, _MEDIUM = 500, 4000
_NO_METADATA: Mapping[str, Any] = {}


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Head(_Checked):
    """What `taskset.yaml` may say. `{input}` in a template is replaced literally.

    Attributes:
        generator: Makes the samples, in place of `samples.jsonl`.
        options: What that generator is told.
        suites: Whether the taskset is part of the suites.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    version: int = Field(ge=1)
    family: Family
    description: str
    scorer: str
    max_tokens: int = Field(ge=1)
    margin: float = Field(5.0, gt=0, lt=100)
    measures_hallucination: bool = False
    code: bool = False
    system: dict[Language, str] = Field(default_factory=dict)
    template: dict[Language, str] = Field(default_factory=dict)
    generator: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    suites: bool = True


class _Turn(_Checked):
    role: Literal["system", "user", "assistant"]
    content: str


class Row(_Checked):
    """One line of `samples.jsonl`: `input` or `messages`, never both."""

    id: str = Field(min_length=1)
    language: Language
    category: str = ""
    input: str | None = None
    messages: tuple[_Turn, ...] = ()
    target: dict[str, Any]
    cluster: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


def read_head(folder: Path) -> Head:
    """Read and check `taskset.yaml`.

    Raises:
        TasksetError: Names the file and line.
    """
    return _read_head(folder / HEAD)


def load_folder(folder: Path) -> Taskset:
    """Read and check a taskset folder whose samples are written down.

    Raises:
        TasksetError: Names the file and line: missing file, broken YAML or JSON, unknown
            key, duplicate id, or no sample at all.
    """
    head = read_head(folder)
    path = folder / SAMPLES
    rows = ((_sample(head, row), row.model_dump(mode="json")) for row in _distinct_rows(path))
    taskset = _taskset(head, folder, rows)
    if not taskset.samples:
        raise TasksetError(f"Taskset '{head.name}' is empty: '{path}' holds no sample.")
    return taskset


def make_folder(folder: Path, sizes: Mapping[Language, int], seed: int) -> Taskset:
    """Make the samples of a taskset folder that holds a generator's recipe.

    Args:
        folder: With a `taskset.yaml` that names its generator.
        sizes: Samples by language.
        seed: Equal seeds make equal samples; a larger size keeps those of a smaller one.

    Raises:
        TasksetError: When the folder cannot be used, or the generator cannot make so many.
        UnknownNameError: For a generator that is not known.
    """
    head = read_head(folder)
    if head.generator is None:
        raise ValueError(f"'{folder}' holds no recipe of a generator")
    made = (
        one
        for language, n in sizes.items()
        for one in take(head.generator, language, seed, n, head.options)
    )
    rows = ((_made_sample(head, one), [one.id, dict(one.draft.target)]) for one in made)
    # Everybody can make these samples; the seal stays when more of them are asked.
    _, seal = digest_and_seal({"head": _shaping(head), "seed": seed})
    return replace(_taskset(head, folder, rows), seal=seal)


def _taskset(head: Head, folder: Path, rows: Iterable[tuple[Sample, Any]]) -> Taskset:
    """Make a taskset of samples, each with what of it is hashed."""
    samples: list[Sample] = []

    def content() -> Iterator[Any]:
        for sample, row in rows:
            samples.append(sample)
            yield row

    content_hash, seal = digest_and_seal_rows(_shaping(head), content())
    return Taskset(
        name=head.name,
        version=head.version,
        family=head.family,
        description=head.description,
        scorer=head.scorer,
        max_tokens=head.max_tokens,
        margin=head.margin,
        measures_hallucination=head.measures_hallucination,
        samples=tuple(samples),
        content_hash=content_hash,
        code=head.code or head.scorer in RUNS_CODE,
        path=str(folder),
        seal=seal,
    )


def _shaping(head: Head) -> dict[str, Any]:
    """Return what of a head shapes prompts and scores."""
    shaping = head.model_dump(mode="json", exclude={"suites", "generator", "options"})
    made = {"generator": head.generator, "options": head.options}
    return shaping if head.generator is None else {**shaping, **made}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise TasksetError(
            f"'{path.parent}' is not a taskset: it has no {path.name}.",
            hint=f"A taskset is a folder with {HEAD} and {SAMPLES}.",
        ) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise TasksetError(
            f"'{path}' line {line} is not UTF-8 text.", hint="Save the file as UTF-8."
        ) from None
    except OSError as error:
        raise TasksetError(f"'{path}' cannot be read: {error.strerror}.") from None


def _read_head(path: Path) -> Head:
    text = _read_text(path)
    try:
        loaded = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise TasksetError(f"'{path}'{line} is not valid YAML: {error.problem}.") from None
    except (yaml.YAMLError, RecursionError):
        raise TasksetError(f"'{path}' is not valid YAML.") from None
    if not isinstance(loaded, dict):
        raise TasksetError(f"'{path}' holds no keys with values.")
    try:
        return Head.model_validate(loaded)
    except ValidationError as error:
        message, hint = explain_validation(error, f"'{path}'", Head)
        raise TasksetError(message, hint=hint) from None


def _read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        where = f"'{path}' line {number}"
        try:
            loaded = _parse(line)
        except (json.JSONDecodeError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            raise TasksetError(f"{where} is not valid JSON: {reason}.") from None
        if not isinstance(loaded, dict):
            raise TasksetError(f"{where} is not a JSON object.")
        try:
            row = Row.model_validate(loaded)
        except ValidationError as error:
            message, hint = explain_validation(error, where, Row)
            raise TasksetError(message, hint=hint) from None
        # Only an escape can stand for half a character in a file that is UTF-8.
        if "\\u" in line and not _is_text(row.model_dump()):
            raise TasksetError(f"{where} holds half a character (a lone surrogate).")
        if (row.input is None) == (not row.messages):
            raise TasksetError(f"{where} needs either 'input' or 'messages'.")
        yield number, row


def _parse(line: str) -> Any:
    """Parse JSON so that rows share their keys and short words: half the memory of a row."""
    try:
        return from_json(line, cache_strings="all")
    except ValueError:
        # The standard parser has the last word, and a better one on what is wrong.
        return json.loads(line)


def _lines(path: Path) -> Iterator[str]:
    try:
        # Only a line feed ends a record: str.splitlines would also cut at U+2028 in a text.
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError):
        _read_text(path)  # says what is wrong, and where
        raise


def _is_text(value: Any) -> bool:
    """Whether all strings of a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _distinct_rows(path: Path) -> Iterator[Row]:
    """Yield rows, unless an id stands there twice."""
    seen: dict[str, int] = {}
    for number, row in _read_rows(path):
        if row.id in seen:
            raise TasksetError(
                f"'{path}' line {number}: id '{row.id}' stands already in line {seen[row.id]}.",
                hint="Give every sample an id of its own.",
            )
        seen[row.id] = number
        yield row


def _sample(head: Head, row: Row) -> Sample:
    turns = tuple(Message(turn.role, turn.content) for turn in row.messages)
    if row.input is not None:
        template = head.template.get(row.language, "{input}")
        turns = (Message("user", template.replace("{input}", row.input)),)
    messages = _with_system(head, row.language, turns)
    return Sample(
        id=row.id,
        taskset=head.name,
        family=head.family,
        language=row.language,
        category=intern(row.category),
        messages=messages,
        target=row.target,
        length_bucket=_bucket(messages),
        cluster=row.cluster,
        metadata=row.metadata or _NO_METADATA,
    )


def _made_sample(head: Head, made: Made) -> Sample:
    draft = made.draft
    messages = _with_system(head, made.language, draft.messages)
    return Sample(
        id=made.id,
        taskset=head.name,
        family=head.family,
        language=made.language,
        category=draft.category,
        messages=messages,
        target=draft.target,
        length_bucket=_bucket(messages),
        cluster=draft.cluster,
        metadata={**draft.metadata, "level": draft.level},
    )


def _with_system(head: Head, language: Language, turns: tuple[Message, ...]) -> tuple[Message, ...]:
    system = head.system.get(language)
    if system and turns[0].role != "system":
        return (Message("system", system), *turns)
    return turns


def _bucket(messages: tuple[Message, ...]) -> str:
    length = sum(len(message.content) for message in messages)
    if length < _SHORT:
        return "short"
    return "medium" if length < _MEDIUM else "long"
