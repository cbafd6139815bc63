"""Data sets of the Hugging Face Hub, through `datasets`: pinned, cached, and never run as code.

A set is always read at one commit. What is in the cache at that commit is read without a
network; what is not is fetched once. `HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE`
and `HF_DATASETS_OFFLINE` mean what they mean to the hub's own client.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit.errors import MissingExtraError, TasksetError, UsageError
from evalkit.tasksets.parquet import INSTALL_HF
from evalkit.tasksets.records import Located

HUB = "hf"
_REFERENCE = re.compile(
    r"(?P<repo>[\w.-]+/[\w.-]+|[\w-]+)(?:@(?P<revision>[\w./-]+))?"
    r"(?::(?P<config>[^:]*))?(?::(?P<split>[^:]*))?"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Seconds until the hub must have said which commit is asked for.
_PATIENCE = 10.0
_USUAL_SPLITS = ("test", "validation", "train")


@dataclass(frozen=True, slots=True)
class HubSet:
    """One split of a data set on the hub.

    Attributes:
        repo: `ORG/NAME`.
        revision: A commit, a branch or a tag; `None` for the newest.
        config: Its configuration, where it has several.
        split: `None` for the first of test, validation and train that it has.
    """

    repo: str
    revision: str | None = None
    config: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        """Write it as it is read: `ORG/NAME@REVISION:CONFIG:SPLIT`."""
        at = f"@{self.revision}" if self.revision else ""
        rest = f":{self.config or ''}:{self.split}" if self.split else f":{self.config or ''}"
        return f"{self.repo}{at}{rest}".rstrip(":")

    @property
    def commit(self) -> str | None:
        """The revision, where it is a commit's whole hash."""
        found = self.revision is not None and _COMMIT.fullmatch(self.revision)
        return self.revision if found else None


@dataclass(frozen=True, slots=True)
class HubRows:
    """The rows of a data set, and where they come from.

    Attributes:
        source: With the commit and the split that were read.
    """

    source: HubSet
    _rows: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._rows.column_names)

    def records(self) -> Iterator[Located]:
        """Yield the rows, one by one."""
        for place, record in enumerate(self._rows):
            yield Located(record, place, f"'{HUB}:{self.source}' row {place + 1}")


def parse_hub_set(reference: str) -> HubSet:
    """Read `ORG/NAME[@REVISION][:CONFIG][:SPLIT]`.

    Raises:
        UsageError: When it is not of that form.
    """
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise UsageError(
            f"'{HUB}:{reference}' names no data set of the hub.",
            hint=f"Write {HUB}:ORG/NAME or {HUB}:ORG/NAME@REVISION:CONFIG:SPLIT.",
        )
    return HubSet(found["repo"], found["revision"], found["config"] or None, found["split"] or None)


def load_rows(wanted: HubSet) -> HubRows:
    """Read a data set, from the cache where it is there at that commit.

    Raises:
        MissingExtraError: When `datasets` is not installed.
        TasksetError: When it is neither cached nor to be fetched, or is not there.
    """
    datasets = _datasets()
    if wanted.commit is not None:
        found = _cached(wanted)
        if found is not None:
            return found
    if datasets.config.HF_HUB_OFFLINE:
        return _newest_cached(wanted) or _refuse(wanted, "HF_HUB_OFFLINE forbids to fetch it")
    pinned = _resolve(wanted)
    if pinned is None:
        return _newest_cached(wanted) or _refuse(wanted, "the hub cannot be reached")
    return _cached(pinned) or _fetch(pinned)


@contextmanager
def reachable_or_offline(repos: Sequence[str]) -> Iterator[None]:
    """Let others load these sets; without a network from the cache, and without trying again.

    Raises:
        MissingExtraError: When `datasets` is not installed.
    """
    remote = [repo for repo in repos if not Path(repo).exists()]
    datasets = _datasets()
    if not remote or datasets.config.HF_HUB_OFFLINE or _answers(remote[0]):
        yield
        return
    from huggingface_hub import constants

    switches = [(datasets.config, "HF_HUB_OFFLINE"), (constants, "HF_HUB_OFFLINE")]
    before = [getattr(owner, name) for owner, name in switches]
    for owner, name in switches:
        setattr(owner, name, True)
    try:
        yield
    finally:
        for (owner, name), value in zip(switches, before, strict=True):
            setattr(owner, name, value)


def _answers(repo: str) -> bool:
    try:
        return _resolve(HubSet(repo)) is not None
    except TasksetError:
        return True


def _datasets() -> Any:
    try:
        import datasets
    except ImportError:
        raise MissingExtraError("A data set of the hub", INSTALL_HF) from None
    # Bars and hints are for who calls them directly.
    datasets.disable_progress_bars()
    for library in ("datasets", "huggingface_hub"):
        logging.getLogger(library).setLevel(logging.ERROR)
    return datasets


def _refuse(wanted: HubSet, why: str) -> HubRows:
    at = f" --revision {wanted.revision}" if wanted.revision else ""
    raise TasksetError(
        f"Data set {wanted.repo}{_at(wanted)} is not in the cache, and {why}.",
        hint=f"Where there is a network, run: hf download {wanted.repo} --repo-type dataset{at}; "
        "then point HF_HOME to that cache. Or give the set's own file: FORMAT:FILE.",
    )


def _at(wanted: HubSet) -> str:
    return f" at {wanted.revision[:12]}" if wanted.revision else ""


def _resolve(wanted: HubSet) -> HubSet | None:
    """Ask the hub which commit a revision is; `None` when it cannot be reached.

    Raises:
        TasksetError: When there is no such set or revision, or it may not be read.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        info = HfApi().dataset_info(wanted.repo, revision=wanted.revision, timeout=_PATIENCE)
    except GatedRepoError:
        raise TasksetError(
            f"Data set {wanted.repo} is only for who has agreed to its terms.",
            hint="Agree on its page, and set HF_TOKEN.",
        ) from None
    except RevisionNotFoundError:
        raise TasksetError(f"Data set {wanted.repo} has no revision '{wanted.revision}'.") from None
    except (RepositoryNotFoundError, HFValidationError):
        raise TasksetError(
            f"The hub has no data set '{wanted.repo}'.",
            hint="A private one needs HF_TOKEN; look for its name on the hub.",
        ) from None
    except HfHubHTTPError:
        return None
    except _network_errors():
        return None
    return replace(wanted, revision=info.sha) if info.sha else None


def _network_errors() -> tuple[type[BaseException], ...]:
    """Return what the hub's client raises without a network; its library changes by version."""
    found: list[type[BaseException]] = [OSError]
    for name in ("httpx2", "httpx"):
        library = sys.modules.get(name)
        if library is not None:
            found += [library.HTTPError, library.InvalidURL]
    return tuple(found)


def _fetch(pinned: HubSet) -> HubRows:
    try:
        return _load(pinned, pinned.repo, revision=pinned.commit)
    except _network_errors() as error:
        raise TasksetError(
            f"Data set {pinned.repo}{_at(pinned)} could not be fetched: {_said(error)}",
            hint="The same command tries again; what was fetched is kept.",
        ) from None


def _load(wanted: HubSet, path: str, **more: Any) -> HubRows:
    """Load by `datasets`, and choose the split.

    Raises:
        TasksetError: For a configuration or split that is not there, files that cannot be
            read, and a set that is code.
        OSError: When files are missing; and the errors of the hub's client.
    """
    datasets = _datasets()
    if int(datasets.__version__.partition(".")[0]) < 4:
        more["trust_remote_code"] = False
    try:
        loaded = datasets.load_dataset(path, wanted.config, split=wanted.split, **more)
    except RuntimeError as error:
        if "script" not in str(error):
            raise TasksetError(f"Data set {wanted.repo}: {_said(error)}") from None
        raise TasksetError(
            f"Data set {wanted.repo} is made by a program of its own, which evalkit does not run.",
            hint="Take a copy of it that is data, or its own file: FORMAT:FILE.",
        ) from None
    except (ValueError, datasets.exceptions.DatasetsError) as error:
        if isinstance(error, OSError):
            raise
        raise TasksetError(f"Data set {wanted.repo}: {_said(error)}") from None
    if isinstance(loaded, dict):
        names = [name for name in _USUAL_SPLITS if name in loaded] or sorted(loaded)
        return HubRows(replace(wanted, split=names[0]), loaded[names[0]])
    return HubRows(wanted, loaded)


def _said(error: BaseException) -> str:
    """Return the first line of an error, as one sentence."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason")
    return line.rstrip(".:") + "."


def _cached(wanted: HubSet) -> HubRows | None:
    """Read a set at its commit without asking anybody: prepared before, or as it was fetched."""
    return _prepared(wanted) or _snapshot(wanted)


def _prepared(wanted: HubSet) -> HubRows | None:
    """Read what `datasets` prepared: `ORG___NAME/CONFIG/VERSION/COMMIT/name-split*.arrow`."""
    datasets = _datasets()
    from datasets.naming import camelcase_to_snakecase

    *org, name = wanted.repo.split("/")
    snake = camelcase_to_snakecase(name)
    root = Path(datasets.config.HF_DATASETS_CACHE) / "___".join([*org, snake])
    splits = (wanted.split,) if wanted.split else _USUAL_SPLITS
    for split in splits:
        found: dict[Path, list[Path]] = {}
        for path in sorted(root.glob(f"{wanted.config or '*'}/*/{wanted.commit}/*.arrow")):
            shard = re.fullmatch(rf"{re.escape(snake)}-{re.escape(split)}(-\d+-of-\d+)?", path.stem)
            if shard and not path.parent.name.endswith(".incomplete"):
                found.setdefault(path.parent, []).append(path)
        if len(found) == 1:
            (files,) = found.values()
            parts = [datasets.Dataset.from_file(str(path)) for path in files]
            return HubRows(replace(wanted, split=split), datasets.concatenate_datasets(parts))
    return None


def _snapshot(wanted: HubSet) -> HubRows | None:
    """Read the files that the hub's client has fetched, if all that are needed are there."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = snapshot_download(
            wanted.repo, repo_type="dataset", revision=wanted.commit, local_files_only=True
        )
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    try:
        return _load(wanted, folder)
    except (TasksetError, OSError):
        # A part of the set, as a split alone leaves it.
        return None


def _newest_cached(wanted: HubSet) -> HubRows | None:
    """Read the newest commit in the cache, where none is asked for."""
    if wanted.revision not in (None, "main"):
        return None
    datasets = _datasets()
    from datasets.naming import camelcase_to_snakecase
    from huggingface_hub.constants import HF_HUB_CACHE

    *org, name = wanted.repo.split("/")
    prepared = Path(datasets.config.HF_DATASETS_CACHE) / "___".join(
        [*org, camelcase_to_snakecase(name)]
    )
    fetched = Path(HF_HUB_CACHE) / f"datasets--{'--'.join([*org, name])}" / "snapshots"
    folders = [*prepared.glob(f"{wanted.config or '*'}/*/*"), *fetched.glob("*")]
    commits = [path for path in folders if _COMMIT.fullmatch(path.name)]
    for path in sorted(commits, key=lambda path: path.stat().st_mtime, reverse=True):
        found = _cached(replace(wanted, revision=path.name))
        if found is not None:
            return found
    return None
