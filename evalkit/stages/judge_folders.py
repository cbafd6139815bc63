"""Who decides a run's answers: rules, or a judge whose verdicts lie in the run's own folder.

`judge.json` in a run folder names the judge's journal, `judge/NAME-HASH/`, and the tasksets
that it decides. Scoring needs nothing else: no endpoint, and no configuration.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from evalkit.collect.header import identity_of
from evalkit.collect.journal import RunFolder, open_run
from evalkit.collect.judge_prompt import PROMPT_VERSION
from evalkit.collect.judge_rubric import Rubric, recorded_rubric
from evalkit.collect.writer import reason_of, write_atomic
from evalkit.errors import StoreError
from evalkit.fingerprint import digest, identity_key
from evalkit.scoring.base import SCORERS, Scorer
from evalkit.scoring.judge import JudgeScorer, Rulings, read_rulings
from evalkit.types import Identity, Sampling, Taskset

POINTER: Final = "judge.json"
FOLDER: Final = "judge"


def judge_mark(identity: Identity, rubric: Rubric, sampling: Sampling) -> str:
    """Return what tells one judge from another: who it is, its rubric, how it is asked."""
    return digest([dict(identity_key(identity)), rubric.hash, PROMPT_VERSION, asdict(sampling)])[
        :12
    ]


@dataclass(frozen=True)
class Judged:
    """A judge that was asked about the answers of a run.

    Attributes:
        folder: Its journal.
        tasksets: Names of those that it decides.
        mark: See `judge_mark`.
    """

    folder: RunFolder
    tasksets: tuple[str, ...]
    mark: str

    @cached_property
    def header(self) -> Mapping[str, Any]:
        """What was recorded of the judge."""
        return self.folder.read_header() or {}

    @cached_property
    def rubric(self) -> Rubric:
        """What it judged by.

        Raises:
            StoreError: When the header does not say.
        """
        try:
            return recorded_rubric(self.header["rubric"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{self.folder.path} does not say by what was judged: {error}.") from (
                None
            )

    @cached_property
    def rulings(self) -> Rulings:
        """What it said.

        Raises:
            StoreError: For a line of its journal that is no record.
        """
        return read_rulings(self.folder.completions())

    @property
    def identity(self) -> Identity:
        """What it was found to be.

        Raises:
            StoreError: When the header does not say.
        """
        return identity_of(self.header)

    def scorer(self) -> JudgeScorer:
        """Return the scorer that looks its verdicts up."""
        return JudgeScorer(self.rubric, self.rulings.by_key)


def read_judged(run: Path) -> Judged | None:
    """Return who judged the answers of a run; `None` where rules decide alone.

    Raises:
        StoreError: When what it names is not there.
    """
    path = run / POINTER
    try:
        data = orjson.loads(path.read_bytes())
        name, mark = str(data["folder"]), str(data["mark"])
        tasksets = tuple(str(one) for one in data["tasksets"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path} does not say who judged: {error}.",
            hint="Name the judge again with --judge, or `--judge none` for rules alone.",
        ) from None
    if Path(name).name != name:
        raise StoreError(f"{path} names a folder that is not the run's own.")
    return Judged(open_run(run / FOLDER / name), tasksets, mark)


def write_judged(run: Path, folder: str, tasksets: Sequence[str], mark: str) -> None:
    """Record who decides from now on.

    Raises:
        StoreError: When it cannot be written.
    """
    data = {"folder": folder, "tasksets": sorted(tasksets), "mark": mark}
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        write_atomic(run / POINTER, [text.encode(), b"\n"])
    except OSError as error:
        raise StoreError(f"{run / POINTER}: {reason_of(error)}.") from error


def forget_judged(run: Path) -> None:
    """Let rules decide again; what a judge has said stays where it is."""
    (run / POINTER).unlink(missing_ok=True)


def discard_verdicts(run: Path) -> None:
    """Throw away what judges have said of a run (`--fresh`).

    Raises:
        StoreError: When it cannot be removed.
    """
    forget_judged(run)
    try:
        if (run / FOLDER).exists():
            shutil.rmtree(run / FOLDER)
    except OSError as error:
        raise StoreError(f"{run / FOLDER} cannot be removed: {reason_of(error)}.") from error


def deciding_scorers(run: Path, tasksets: Iterable[Taskset]) -> dict[str, Scorer]:
    """Return the scorer that decides each taskset of a run, by the taskset's name.

    Raises:
        UnknownNameError: For a scorer that is not known.
        StoreError: When the verdicts of a judge cannot be read.
    """
    scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in tasksets}
    judged = read_judged(run)
    if judged is not None and not scorers.keys().isdisjoint(judged.tasksets):
        scorer = judged.scorer()
        scorers |= {name: scorer for name in judged.tasksets if name in scorers}
    return scorers
