"""From a taskset's folder, its only file, or a generator's recipe to its samples."""

from __future__ import annotations

import codecs
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from evalkit.errors import TasksetError
from evalkit.fingerprint import digest_and_seal, digest_and_seal_rows
from evalkit.tasksets.clusters import join_equal_prompts
from evalkit.tasksets.generators.base import Made, take
from evalkit.tasksets.head import HEAD, READING, RUNS_CODE, Head, parse_head, read_head
from evalkit.tasksets.rows import Row, json_rows
from evalkit.tasksets.source import open_source, source_rows
from evalkit.tasksets.tables import table_rows
from evalkit.tasksets.textfile import open_text, read_text
from evalkit.types import Language, Message, Sample, Taskset

TABLES: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
"""Endings of tables, and what separates their cells unless the head says otherwise."""
FILES = ("samples.jsonl", "samples.csv", "samples.tsv")
ENDINGS = (".jsonl", *TABLES)
HEADED = (*ENDINGS, ".yaml")
"""Endings of files that are a whole taskset; a YAML file names the `source` of its rows."""
_FENCE = "---"
_ENCODING = re.compile(r"""^encoding:[ \t]{0,9}["']?([\w.-]{1,40})""", re.MULTILINE)
_MAX_HEAD = 100_000
_SHORT, _MEDIUM = 500, 4000
_NO_METADATA: Mapping[str, Any] = {}


def load_folder(folder: Path) -> Taskset:
    """Read and check a taskset folder whose samples are written down.

    Raises:
        TasksetError: Names the file and line: missing file, broken YAML, JSON or table,
            unknown key, duplicate id, or no sample at all.
    """
    head = read_head(folder)
    if head.source is not None:
        return _load_source(head, folder / HEAD, str(folder))
    path = _samples_file(folder)
    with open_text(path, head.encoding, newline=_newline(path), nameable=True) as lines:
        return taskset_of(head, path, str(folder), _rows(path, head, lines))


def load_file(path: Path) -> Taskset:
    """Read and check a taskset that is one file: YAML between two lines `---`, then rows.

    A `.yaml` file is a head alone, which names the source of its rows.

    Raises:
        TasksetError: As `load_folder` does.
    """
    if path.suffix.lower() == ".yaml":
        head = parse_head(read_text(path), f"'{path}'")
        if head.source is None:
            raise TasksetError(
                f"'{path}' does not say where its rows are.", hint="Add `source: hf:ORG/NAME`."
            )
        return _load_source(head, path, str(path))
    with open_text(path, _told_encoding(path), newline=_newline(path), nameable=True) as lines:
        head, first = _front(path, lines)
        if head.generator is not None:
            raise TasksetError(f"'{path}': only the {HEAD} of a folder may have 'generator'.")
        return taskset_of(head, path, str(path), _rows(path, head, lines, first))


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
    return replace(_taskset(head, str(folder), rows), seal=seal)


def _samples_file(folder: Path) -> Path:
    found = [folder / name for name in FILES if (folder / name).exists()]
    if not found:
        raise TasksetError(
            f"'{folder}' is not a taskset: it has no {FILES[0]}.",
            hint=f"Its samples stand in one of {', '.join(FILES)}.",
        )
    if len(found) > 1:
        raise TasksetError(
            f"'{folder}' has both {found[0].name} and {found[1].name}.",
            hint="Keep the one that holds the samples.",
        )
    return found[0]


def _newline(path: Path) -> str:
    # The records of a table end as its system writes them, those of JSON lines by a feed.
    return "" if path.suffix.lower() in TABLES else "\n"


def _rows(path: Path, head: Head, lines: Iterable[str], first: int = 1) -> Iterator[Row]:
    ending, file = path.suffix.lower(), f"'{path}'"
    if ending in TABLES:
        delimiter = head.delimiter or TABLES[ending]
        rows = table_rows(lines, head, file, delimiter=delimiter, first=first)
    else:
        rows = json_rows(lines, head, file, first)
    return _once(rows, file, "line")


def _load_source(head: Head, path: Path, origin: str) -> Taskset:
    """Make a taskset of the rows that its head names."""
    found = open_source(head)
    rows = _once(source_rows(head, found), f"'{found.source.repo}'", "row")
    return replace(taskset_of(head, path, origin, rows), revision=found.source.revision)


def _once(rows: Iterable[tuple[int, Row]], where: str, unit: str) -> Iterator[Row]:
    """Yield rows, unless an id stands there twice."""
    # In the order of the rows, whose numbers stand beside it.
    seen: dict[str, None] = {}
    numbers = array("I")
    for number, row in rows:
        if row.id in seen:
            earlier = numbers[list(seen).index(row.id)]
            raise TasksetError(
                f"{where} {unit} {number}: id '{row.id}' stands already in {unit} {earlier}.",
                hint="Give every sample an id of its own.",
            )
        seen[row.id] = None
        numbers.append(number)
        yield row


def _told_encoding(path: Path) -> str | None:
    """Return the encoding that the head of a file names for all of it, if it names one.

    The head is looked at byte by byte: its keys are the same in every encoding to be named.
    """
    with open_text(path, "latin-1", newline=_newline(path)) as lines:
        if lines.readline(_MAX_HEAD).strip() != _FENCE:
            return None
        front: list[str] = []
        size = 0
        while size < _MAX_HEAD and (line := lines.readline(_MAX_HEAD)).strip() != _FENCE and line:
            size += len(line)
            front.append(line.encode("latin-1").decode("ascii", errors="ignore"))
    found = _ENCODING.search("".join(front))
    if found is None:
        return None
    try:
        return codecs.lookup(found[1]).name
    except LookupError:
        # The check of the head says so.
        return None


def _front(path: Path, lines: TextIO) -> tuple[Head, int]:
    """Read the head that stands before the rows; return it and the number of the next line."""
    front: list[str] = []
    opened = lines.readline()
    if opened.strip() != _FENCE:
        raise TasksetError(
            f"'{path}' does not say what it is.",
            hint=f"Begin it with the keys of a {HEAD} between two lines '{_FENCE}', or put it "
            f"into a folder with a {HEAD}.",
        )
    for line in lines:
        if line.strip() == _FENCE:
            # Blank lines in place of the fences keep the numbers of lines.
            return parse_head("\n" + "".join(front), f"'{path}'"), len(front) + 3
        front.append(line)
    raise TasksetError(f"'{path}': no second line '{_FENCE}' ends the head.")


def taskset_of(head: Head, path: Path, origin: str, rows: Iterable[Row]) -> Taskset:
    """Make a taskset of rows that are checked already.

    Args:
        head: What it is.
        path: The file of the rows.
        origin: What loads it again, by name.
        rows: With distinct ids.

    Raises:
        TasksetError: When there is no row.
    """
    shaped = ((_sample(head, row), row.model_dump(mode="json")) for row in rows)
    taskset = _taskset(head, origin, shaped)
    if not taskset.samples:
        raise TasksetError(f"Taskset '{head.name}' is empty: '{path}' holds no sample.")
    return taskset


def _taskset(head: Head, origin: str, rows: Iterable[tuple[Sample, Any]]) -> Taskset:
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
        samples=join_equal_prompts(samples),
        content_hash=content_hash,
        code=head.code or head.scorer in RUNS_CODE,
        path=origin,
        seal=seal,
        open_answers=head.open_answers,
        stop=head.stop,
    )


def _shaping(head: Head) -> dict[str, Any]:
    """Return what of a head shapes prompts and scores."""
    told = {"suites", "open_answers", "generator", "options", *READING}
    shaping = head.model_dump(mode="json", exclude=told)
    if not head.stop:
        del shaping["stop"]
    made = {"generator": head.generator, "options": head.options}
    return shaping if head.generator is None else {**shaping, **made}


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
