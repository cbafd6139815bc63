"""Whether a judge that evalkit would have to start has said everything already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evalkit.collect.events import RunSummary
from evalkit.collect.header import identity_of
from evalkit.collect.journal import RunFolder, is_run_folder
from evalkit.collect.judge_prompt import JudgeItem
from evalkit.collect.judge_requests import AGAIN, FIRST, TURNED, JudgeRequests, drawn_twice
from evalkit.endpoints.base import Endpoint, Launched
from evalkit.scoring.judge import UNPARSABLE, read_rulings
from evalkit.stages.judge_choosing import Judge
from evalkit.stages.judge_folders import FOLDER, judge_mark
from evalkit.types import Identity


def first_asking(
    judge: Judge, items: Iterable[JudgeItem], seed: int
) -> list[tuple[JudgeItem, int]]:
    """Return what is asked at first: each item, and the drawn share in another order too."""
    every = list(items)
    twice = drawn_twice(every, judge.repeat, seed)
    return [*((item, FIRST) for item in every), *((item, TURNED) for item in twice)]


def unread(folders: Iterable[RunFolder], keys: Iterable[str]) -> set[str]:
    """Return the items whose first verdict could not be read, nor a second one."""
    wanted = set(keys)
    return {
        key
        for folder in folders
        for key, ruling in read_rulings(folder.completions()).by_key.items()
        if ruling.reason == UNPARSABLE and key in wanted
    }


def kept(
    judge: Judge, endpoint: Endpoint, wanted: Mapping[Path, Mapping[str, JudgeItem]], seed: int
) -> tuple[Identity, str, RunSummary] | None:
    """Return judge, folder and summary where nothing is left to ask of a server to be started.

    Raises:
        StoreError: When a journal cannot be read.
    """
    if not isinstance(endpoint, Launched):
        return None
    found = [_of_run(judge, endpoint, run, items, seed) for run, items in wanted.items()]
    whole = [one for one in found if one is not None]
    if len(whole) < len(found) or len({name for _, name, _ in whole}) != 1:
        return None
    identity, name, _ = whole[0]
    n = sum(count for _, _, count in whole)
    return identity, name, RunSummary(n, n, 0, 0, 0, False, 0, 0, 0.0)


def _of_run(
    judge: Judge, endpoint: Launched, run: Path, items: Mapping[str, JudgeItem], seed: int
) -> tuple[Identity, str, int] | None:
    for path in sorted((run / FOLDER).glob("*/")):
        if not is_run_folder(path):
            continue
        folder = RunFolder(path)
        header = folder.read_header() or {}
        identity = identity_of(header)
        mine = path.name.endswith(judge_mark(identity, judge.rubric, judge.sampling))
        if not mine or header.get("changed") or identity.command_hash != endpoint.command_hash():
            continue
        asked = first_asking(judge, items.values(), seed)
        again = [(items[key], AGAIN) for key in unread([folder], items)]
        if _answered(judge, identity, folder, [*asked, *again]):
            return identity, path.name, len(asked) + len(again)
    return None


def _answered(
    judge: Judge, identity: Identity, folder: RunFolder, asked: Sequence[tuple[JudgeItem, int]]
) -> bool:
    answered = folder.answered()
    requests = JudgeRequests(asked, judge.rubric, judge.sampling, identity, 0)
    return all(request.fingerprint in answered for request in requests)
