"""From answers to what a judge is asked, and the journals that keep what it said.

Each run keeps the verdicts on its own answers, in a run folder of the judge within its own,
so that it can be scored alone. What is in one is never asked for another again.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, overload

from evalkit.collect.journal import RunFolder
from evalkit.collect.judge_prompt import JudgeItem, judge_messages
from evalkit.collect.judge_rubric import Rubric
from evalkit.fingerprint import digest, prompt_hash, request_fingerprints
from evalkit.types import Completion, Identity, Request, Sampling

FIRST: Final = 0
"""The epoch of an item's asking."""
AGAIN: Final = 1
"""The epoch in which an item is asked again whose first verdict could not be read."""
TURNED: Final = 2
"""The epoch of the share that is asked twice, in another order."""

# At temperature 0 another seed gives the same text.
_AGAIN_TEMPERATURE: Final = 0.5


def judge_sampling(base: Sampling, epoch: int) -> Sampling:
    """Return how an epoch is sampled."""
    if epoch != AGAIN:
        return base
    warm = max(base.temperature, _AGAIN_TEMPERATURE)
    return replace(base, seed=base.seed + 1, temperature=warm)


class JudgeRequests(Sequence[Request]):
    """What a judge is asked, in an order by chance; each prompt is made when it is looked at."""

    def __init__(
        self,
        asked: Iterable[tuple[JudgeItem, int]],
        rubric: Rubric,
        sampling: Sampling,
        identity: Identity,
        seed: int,
    ) -> None:
        # Sorted first: the order must not tell which arm an answer came from.
        self._asked = sorted(asked, key=lambda one: (one[0].key, one[1]))
        random.Random(seed).shuffle(self._asked)
        self._rubric = rubric
        self._sampling = sampling
        self._fingerprint = request_fingerprints(identity)

    def __len__(self) -> int:
        return len(self._asked)

    @overload
    def __getitem__(self, index: int) -> Request: ...

    @overload
    def __getitem__(self, index: slice) -> list[Request]: ...

    def __getitem__(self, index: int | slice) -> Request | list[Request]:
        if isinstance(index, slice):
            return [self._request(*one) for one in self._asked[index]]
        return self._request(*self._asked[index])

    def _request(self, item: JudgeItem, epoch: int) -> Request:
        messages = judge_messages(item, self._rubric, turned=epoch == TURNED)
        sampling = judge_sampling(self._sampling, epoch)
        hashed = prompt_hash(messages, sampling)
        return Request(
            sample_id=item.key,
            taskset=item.taskset,
            epoch=epoch,
            messages=messages,
            sampling=sampling,
            prompt_hash=hashed,
            fingerprint=self._fingerprint(hashed, epoch),
        )


def drawn_twice(items: Iterable[JudgeItem], share: float, seed: int) -> Iterator[JudgeItem]:
    """Yield the share that is asked twice: each item by itself, so that more change no others."""
    for item in items:
        if int(digest([seed, item.key])[:8], 16) < share * 2**32:
            yield item


class JudgeJournals:
    """The journals of one judge in several runs, as one."""

    def __init__(self, folders: Mapping[RunFolder, Collection[str]]) -> None:
        """Take folders that are opened for writing, with the keys of the items of each."""
        self._folders = {folder: frozenset(keys) for folder, keys in folders.items()}

    def share(self) -> None:
        """Copy what one run holds to the others that need it.

        Raises:
            StoreError: When a journal cannot be read or written.
        """
        held = {folder: folder.answered() for folder in self._folders}
        for folder in self._folders:
            for completion in folder.completions():
                if completion.error is not None:
                    continue
                for other, keys in self._folders.items():
                    needs = completion.sample_id in keys
                    if needs and completion.fingerprint not in held[other]:
                        other.append(completion)
                        held[other].add(completion.fingerprint)

    def answered(self) -> set[str]:
        """Return the fingerprints that have a reply in some run; after `share` in all."""
        return set().union(*(folder.answered() for folder in self._folders))

    def append(self, *completions: Completion) -> None:
        """Write each record to the runs whose answers it is about.

        Raises:
            StoreError: When they cannot be written.
        """
        for folder, keys in self._folders.items():
            mine = [completion for completion in completions if completion.sample_id in keys]
            if mine:
                folder.append(*mine)
