"""What is asked: the same for every arm, and recorded so that it can be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evalkit.config import Config, SamplingOptions
from evalkit.errors import StoreError, TasksetError, UnknownNameError, UsageError
from evalkit.resources import resource_dir
from evalkit.scoring.base import SCORERS, require
from evalkit.tasksets.catalogue import Selection, builtin_names, select
from evalkit.tasksets.drawing import Drawing, ordered_units
from evalkit.tasksets.formats.base import FORMATS
from evalkit.tasksets.harness_reference import HARNESS, parse_reference
from evalkit.tasksets.hub import HUB
from evalkit.tasksets.published import LOCAL, is_published
from evalkit.tasksets.suites import SuiteName
from evalkit.types import Language, Sample, Sampling, Taskset


class SampleIndex(Mapping[tuple[str, str], Sample]):
    """Samples by (taskset, id), without a tuple in memory for each."""

    def __init__(self, tasksets: Iterable[Taskset]) -> None:
        self._by_id = {t.name: {sample.id: sample for sample in t.samples} for t in tasksets}

    def __getitem__(self, key: tuple[str, str]) -> Sample:
        taskset, sample_id = key
        return self._by_id[taskset][sample_id]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((name, sample_id) for name, ids in self._by_id.items() for sample_id in ids)

    def __len__(self) -> int:
        return sum(map(len, self._by_id.values()))


OWN_TASKSETS: Final = "tasksets"
"""Folder in a run's own that holds its prompts, where another tool asked them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The prompts of a run.

    Attributes:
        selection: The tasksets that are asked, and those left out.
        sampling: Fields that every request carries.
        limit: Samples a taskset at most; `None` for all.
        epochs: Repeats of each sample.
        seed: Seed of the draw and of the order.
        languages: Only samples in these; nothing means all.
        suite: How much the generators made.
        staged: Whether whole units were drawn, for a plan of more than one look.
        stage_2: Further samples a taskset at most, as stage 2; `None` for no such stage.
        skip_faulty: Whether samples whose label is known to be wrong were left out.
    """

    selection: Selection
    sampling: SamplingOptions
    limit: int | None
    epochs: int
    seed: int
    languages: tuple[Language, ...] = ()
    suite: SuiteName | None = None
    staged: bool = False
    stage_2: int | None = None
    skip_faulty: bool = False

    @property
    def tasksets(self) -> tuple[Taskset, ...]:
        """The tasksets that are asked."""
        return self.selection.tasksets

    def samples(self) -> Mapping[tuple[str, str], Sample]:
        """Return every sample by (taskset, id)."""
        return SampleIndex(self.tasksets)

    @property
    def stage(self) -> int:
        """The last stage that is asked."""
        return 1 if self.stage_2 is None else 2

    def drawing(self) -> Drawing:
        """Return in which stage and order every sample is drawn, where a plan asks."""
        if not self.staged:
            return Drawing()
        places = {
            (taskset.name, sample.id): place
            for taskset in self.tasksets
            for place, unit in enumerate(ordered_units(taskset, self.seed))
            for sample in unit
        }
        stages = dict.fromkeys(self.selection.second, 2)
        return Drawing(stages, places, self.selection.left)

    def sampling_for(self, taskset: Taskset) -> Sampling:
        """Return how a taskset is sampled."""
        options = self.sampling.model_dump()
        own, stop = options.pop("max_tokens"), options.pop("stop")
        return Sampling(max_tokens=own or taskset.max_tokens, stop=stop or taskset.stop, **options)

    def record(self) -> dict[str, Any]:
        """Return what a run's header must hold to make this plan again."""
        builtin = {name: str(resource_dir("tasksets") / name) for name in builtin_names()}
        return {
            "tasksets": [
                {
                    "name": taskset.name,
                    "path": None
                    if taskset.path is None or builtin.get(taskset.name) == taskset.path
                    else absolute_source(taskset.path),
                    "content_hash": taskset.content_hash,
                    **_provenance(taskset),
                }
                for taskset in self.tasksets
            ],
            "sampling": self.sampling.model_dump(mode="json"),
            "limit": self.limit,
            "epochs": self.epochs,
            "seed": self.seed,
            "languages": list(self.languages),
            "suite": self.suite,
            "staged": self.staged,
            "stage_2": self.stage_2,
            "skip_faulty": self.skip_faulty,
        }


def _provenance(taskset: Taskset) -> dict[str, Any]:
    """Return which commit of a public set was read, and what of it counts with a doubt or not."""
    told = {
        "revision": taskset.revision,
        "known_faults": sorted(taskset.faults),
        "left_out": dict(taskset.left_out),
    }
    return {key: value for key, value in told.items() if value}


def _with_folders(config: Config) -> tuple[str, ...]:
    """Return the tasks, those of lm-eval with the folders of the user's own."""
    begin = f"{HARNESS}:"
    return tuple(
        str(parse_reference(task.removeprefix(begin), config.include_path))
        if task.startswith(begin)
        else task
        for task in config.tasks
    )


def _refuse_unknown_scorers(selection: Selection) -> None:
    for taskset in selection.tasksets:
        if taskset.scorer not in SCORERS:
            error = UnknownNameError("scorer", taskset.scorer, SCORERS)
            raise TasksetError(f"Taskset '{taskset.name}': {error.message}", hint=error.hint)
        require(SCORERS.get(taskset.scorer))


def make_plan(config: Config) -> Plan:
    """Make the plan that a configuration describes.

    Raises:
        UnknownNameError: For a taskset that is not known.
        MissingExtraError: For one whose scorer needs a package that is not installed.
        TasksetError: For one that cannot be used.
        UsageError: For a second stage that the policy does not plan, or that has no prompts.
    """
    staged = config.policy.plan != "single"
    if config.stage_2 is not None and config.policy.plan != "two-stage":
        raise UsageError(
            f"A second stage is not planned: the policy's plan is '{config.policy.plan}'.",
            hint="Declare `plan: two-stage` in the policy before the first stage is asked.",
        )
    selection = select(
        _with_folders(config),
        limit=config.limit,
        seed=config.seed,
        allow_code=config.allow_code,
        languages=config.languages,
        suite=config.suite,
        staged=staged,
        stage_2=config.stage_2,
        skip_faulty=config.skip_faulty,
    )
    _refuse_unknown_scorers(selection)
    return Plan(
        selection,
        config.sampling,
        config.limit,
        config.epochs,
        config.seed,
        config.languages,
        config.suite,
        staged,
        config.stage_2,
        config.skip_faulty,
    )


def recorded_plan(header: Mapping[str, Any], folder: Path, *, allow_code: bool) -> Plan:
    """Make the plan that a recorded run followed.

    Code answers were collected already; `allow_code` decides whether they may be run.

    Raises:
        StoreError: When the header holds no plan, or a taskset has changed since.
    """
    plan, changed = read_plan(header, folder, allow_code=allow_code)
    for name in changed:
        raise StoreError(
            f"Taskset '{name}' has changed since {folder} was recorded.",
            hint="Ask again with the present taskset, or use the evalkit that recorded it.",
        )
    return plan


def read_plan(
    header: Mapping[str, Any], folder: Path, *, allow_code: bool
) -> tuple[Plan, tuple[str, ...]]:
    """Make the plan that a recorded run followed, and name the tasksets that changed since.

    Raises:
        StoreError: When the header holds no plan.
        UsageError: When a taskset is no longer there or cannot be used.
    """
    try:
        record = header["plan"]
        hashes = {row["name"]: row["content_hash"] for row in record["tasksets"]}
        names = [_source(row, folder) for row in record["tasksets"]]
        languages = tuple(record["languages"])
        staged, stage_2 = record.get("staged", False), record.get("stage_2")
        skip_faulty = record.get("skip_faulty", False)
        selection = select(
            names,
            limit=record["limit"],
            seed=record["seed"],
            allow_code=allow_code,
            languages=languages,
            suite=record.get("suite"),
            staged=staged,
            stage_2=stage_2,
            skip_faulty=skip_faulty,
        )
        plan = Plan(
            selection,
            SamplingOptions.model_validate(record["sampling"]),
            record["limit"],
            record["epochs"],
            record["seed"],
            languages,
            record.get("suite"),
            staged,
            stage_2,
            skip_faulty,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{folder} does not say what was asked: {error}.") from None
    skipped = [taskset for taskset, _ in plan.selection.skipped]
    found = (*plan.tasksets, *skipped)
    return plan, tuple(t.name for t in found if t.content_hash != hashes.get(t.name))


def _source(row: Mapping[str, Any], folder: Path) -> str:
    """Return where a taskset lies: in the run's own folder, if there, wherever that was moved."""
    own = folder / OWN_TASKSETS / str(row["name"])
    inside = row["path"] is not None and Path(str(row["name"])).name == row["name"]
    return str(own) if inside and own.is_dir() else str(row["path"] or row["name"])


def absolute_source(source: str) -> str:
    """Return where a taskset lies so that it is found from any folder.

    A path or FORMAT:FILE; what lies on the hub is named as it is.

    >>> absolute_source("/a/b"), absolute_source("gsm8k:/a/test.jsonl")
    ('/a/b', 'gsm8k:/a/test.jsonl')
    >>> absolute_source("gsm8k"), absolute_source("gsm8k:hf:openai/gsm8k:main")
    ('gsm8k', 'gsm8k:hf:openai/gsm8k:main')
    """
    kind, colon, rest = source.partition(":")
    if colon and kind == HARNESS:
        return str(parse_reference(rest))
    if (colon and (kind == HUB or rest.startswith(f"{HUB}:"))) or is_published(source):
        return source
    if colon and (kind in FORMATS or kind == LOCAL):
        return f"{kind}:{Path(rest).absolute()}"
    return str(Path(source).absolute())


def plan_difference(one: Plan, other: Plan) -> list[str]:
    """Name what two plans do not share: pairs of such runs would not be pairs.

    Where a taskset lay does not matter: its content is hashed.
    """
    first, second = one.record(), other.record()
    for record in (first, second):
        for row in record["tasksets"]:
            del row["path"]
    return [key for key in first if first[key] != second[key]]
