"""Public sets by their names: where they lie on the hub, at which commit, in which format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, load_published, published_taskset
from evalkit.tasksets.hub import HUB, HubRows, HubSet, load_rows, parse_hub_set
from evalkit.tasksets.parquet import PARQUET, parquet_records
from evalkit.tasksets.records import Located
from evalkit.types import Taskset

LOCAL = "path"


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A public set that has a name here.

    Attributes:
        form: Name of its format.
        source: On the hub, at a commit; without one it is resolved and recorded. `None`
            where its authors keep it elsewhere.
        configs: Further configurations whose rows follow.
        home: Where its own file is to be had, when it is not on the hub.
    """

    form: str
    source: HubSet | None
    configs: tuple[str, ...] = ()
    home: str = ""


def _on_hub(
    form: str, repo: str, config: str | None, split: str, revision: str | None, *configs: str
) -> PublishedSet:
    return PublishedSet(form, HubSet(repo, revision, config, split), configs)


PUBLISHED: Mapping[str, PublishedSet] = {
    "cmath": _on_hub("cmath", "weitianwen/cmath", None, "test", None),
    "gsm8k": _on_hub(
        "gsm8k", "openai/gsm8k", "main", "test", "740312add88f781978c0658806c59bc2815b9866"
    ),
    "halluqa": PublishedSet("halluqa", None, home="https://github.com/OpenMOSS/HalluQA"),
    "humaneval": _on_hub(
        "humaneval",
        "openai/openai_humaneval",
        "openai_humaneval",
        "test",
        "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
    ),
    "ifbench": _on_hub(
        "ifbench",
        "allenai/IFBench_test",
        None,
        "train",
        "2e8a48de45ff3bf41242f927254ca81b59ca3ae2",
    ),
    "ifeval": _on_hub(
        "ifeval", "google/IFEval", None, "train", "966cd89545d6b6acfd7638bc708b98261ca58e84"
    ),
    "math500": _on_hub(
        "math", "HuggingFaceH4/MATH-500", None, "test", "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"
    ),
    "mbpp": _on_hub(
        "mbpp",
        "google-research-datasets/mbpp",
        "full",
        "test",
        "4bb6404fdc6cacfda99d4ac4205087b89d32030c",
    ),
    "mgsm": _on_hub(
        "mgsm", "juletxara/mgsm", "en", "test", "b2f13d426afe3be8d69a7e739b36724db8b66bbc", "zh"
    ),
    "popqa": _on_hub(
        "popqa", "akariasai/PopQA", None, "test", "098765c79ea10a2cb19c828324e33281b8336ec0"
    ),
    "simpleqa": _on_hub(
        "simpleqa", "basicv8vc/SimpleQA", None, "test", "e319282ab125c3dbd0c7fd00be2e4dd54e7e8f94"
    ),
    "triviaqa": _on_hub(
        "triviaqa",
        "mandarjoshi/trivia_qa",
        "rc.nocontext",
        "validation",
        "0f7faf33a3908546c6fd5b73a660e0f8ff173c2f",
    ),
    "truthfulqa": _on_hub(
        "truthfulqa",
        "truthfulqa/truthful_qa",
        "generation",
        "validation",
        "741b8276f2d1982aa3d5b832d3ee81ed3b896490",
    ),
}
"""Commits as other evaluation projects pin them too; `cmath` is resolved when it is loaded."""


def is_published(name: str) -> bool:
    """Whether a name, with or without `@REVISION`, is that of a public set."""
    return name.partition("@")[0] in PUBLISHED


def load_by_name(name: str) -> Taskset:
    """Load a public set from the hub: `gsm8k`, or `gsm8k@REVISION`.

    Raises:
        MissingExtraError: When `datasets` is not installed.
        TasksetError: When the set cannot be had.
    """
    name, _, revision = name.partition("@")
    entry = PUBLISHED[name]
    if entry.source is None:
        raise TasksetError(
            f"'{name}' is not on the hub under its authors' name.",
            hint=f"Take its file from {entry.home}, and name it: {entry.form}:FILE.",
        )
    source = replace(entry.source, revision=revision or entry.source.revision)
    parts = [load_rows(source)]
    commit = parts[0].source.revision
    for config in entry.configs:
        parts.append(load_rows(replace(source, revision=commit, config=config)))
    head = FORMATS.get(entry.form).head.model_copy(update={"name": name})
    made = published_taskset(
        entry.form, _records(parts), Path(source.repo), f"{name}@{commit}", head
    )
    return replace(made, revision=commit)


def load_from_hub(reference: str, form: str | None = None) -> Taskset:
    """Load any data set of the hub whose columns are those of a known format.

    Args:
        reference: `ORG/NAME[@REVISION][:CONFIG][:SPLIT]`.
        form: The format; by default the first that its first row is of.

    Raises:
        UsageError: When the reference is not of that form.
        MissingExtraError: When `datasets` is not installed.
        TasksetError: When the set cannot be had, or is of no known format.
    """
    rows = load_rows(parse_hub_set(reference))
    if form is None:
        first = next(rows.records(), None)
        form = None if first is None else _form_of(first)
        if form is None:
            raise TasksetError(
                f"'{HUB}:{rows.source}' is of no known format; its columns are "
                f"{', '.join(rows.columns)}.",
                hint=f"Say which column holds what: a YAML file with `source: {HUB}:{rows.source}` "
                "and `columns`, see docs/public-sets.md.",
            )
    made = published_taskset(
        form, rows.records(), Path(rows.source.repo), f"{form}:{HUB}:{rows.source}"
    )
    return replace(made, revision=rows.source.revision)


def load_named_format(form: str, source: str) -> Taskset:
    """Load what is in a public format: `gsm8k:FILE`, or `gsm8k:hf:ORG/NAME`.

    Raises:
        UsageError: When a reference to the hub is not of its form.
        MissingExtraError: When a package is not installed.
        TasksetError: When it cannot be read.
    """
    kind, colon, reference = source.partition(":")
    if colon and kind == HUB:
        return load_from_hub(reference, form)
    return load_published(form, Path(source))


def load_detected(path: Path) -> Taskset:
    """Load a public set's own file whose format nobody names (`path:FILE`).

    Raises:
        MissingExtraError: For a Parquet file, when its reader is not installed.
        TasksetError: When its first record is of no known format.
    """
    if not path.is_file():
        raise TasksetError(f"'{path}' is no file.", hint="Give a public set's own file.")
    for form in _SIGNS:
        first = _first_record(form, path)
        if first is not None and _form_of(first) == form:
            return load_published(form, path)
    raise TasksetError(
        f"'{path}' is in none of the formats {', '.join(FORMATS)}.",
        hint="Say which column holds what: see docs/tasksets.md.",
    )


def _first_record(form: str, path: Path) -> Located | None:
    try:
        if path.suffix == PARQUET:
            return next(parquet_records(path), None)
        return next(iter(FORMATS.get(form).records(path)), None)
    except TasksetError:
        return None


def _form_of(located: Located) -> str | None:
    """Return the first format that has all columns of a record, and can read it."""
    for form, signs in _SIGNS.items():
        if not any(all(sign in located.record for sign in told) for told in signs):
            continue
        try:
            FORMATS.get(form).row(located)
        except TasksetError:
            continue
        return form if form != "ifeval" or not _is_ifbench(located) else "ifbench"
    return None


def _is_ifbench(located: Located) -> bool:
    kinds = located.record.get("instruction_id_list") or ("",)
    return str(kinds[0]).partition(":")[0] in _IFBENCH_GROUPS


def _records(parts: list[HubRows]) -> Iterator[Located]:
    for part in parts:
        yield from part.records()


# From a format to the columns that only it has; the first that fits is taken.
_SIGNS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "humaneval": (("task_id", "prompt", "entry_point", "test"),),
    "mbpp": (("task_id", "test_list"),),
    "popqa": (("question", "possible_answers"),),
    "halluqa": (("question_id", "Question", "Best Answer1"),),
    "truthfulqa": (("Question", "Correct Answers"), ("question", "correct_answers")),
    "ifeval": (("prompt", "instruction_id_list", "kwargs"),),
    "ifbench": (("prompt", "instruction_id_list", "kwargs"),),
    "mgsm": (("question", "answer_number"),),
    "math": (("problem", "solution"),),
    "simpleqa": (("problem", "answer", "metadata"),),
    "gsm8k": (("question", "answer"),),
    "cmath": (("question", "golden"), ("question", "answer", "grade")),
    "triviaqa": (("question", "question_id", "answer"), ("Question", "QuestionId", "Answer")),
}
_IFBENCH_GROUPS = frozenset({"count", "custom", "format", "ratio", "repeat", "sentence", "words"})
