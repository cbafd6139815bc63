"""From tasksets to requests: pure, and the same for every endpoint but the fingerprint."""

from __future__ import annotations

import random
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import overload

from evalkit.collect.redaction import Redaction
from evalkit.fingerprint import prompt_hashes, request_fingerprints
from evalkit.types import Identity, Message, Request, Sample, Sampling, Taskset


@dataclass(frozen=True, slots=True)
class _Block:
    """One epoch of a taskset."""

    samples: Sequence[Sample]
    sampling: Sampling
    epoch: int
    hashed: Callable[[tuple[Message, ...]], str]


class Requests(Sequence[Request]):
    """What an endpoint is asked, in order.

    A request is made anew whenever it is looked at: a hundred thousand of them would take
    ten times the memory of this, which holds four bytes for each.
    """

    def __init__(self, blocks: Sequence[_Block], identity: Identity, seed: int) -> None:
        self._blocks = blocks
        self._fingerprint = request_fingerprints(identity)
        self._starts = list(accumulate((len(b.samples) for b in blocks), initial=0))
        self._order = array("I", range(self._starts[-1]))
        random.Random(seed).shuffle(self._order)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Request: ...

    @overload
    def __getitem__(self, index: slice) -> list[Request]: ...

    def __getitem__(self, index: int | slice) -> Request | list[Request]:
        if isinstance(index, slice):
            return [self._request(position) for position in self._order[index]]
        return self._request(self._order[index])

    def at(self, places: Iterable[int]) -> Requests:
        """Return those that stand at some places, in the order of the places."""
        chosen = copy(self)
        chosen._order = array("I", (self._order[place] for place in places))
        return chosen

    def _request(self, position: int) -> Request:
        number = bisect_right(self._starts, position) - 1
        block = self._blocks[number]
        sample = block.samples[position - self._starts[number]]
        prompt = block.hashed(sample.messages)
        return Request(
            sample_id=sample.id,
            taskset=sample.taskset,
            epoch=block.epoch,
            messages=sample.messages,
            sampling=block.sampling,
            prompt_hash=prompt,
            fingerprint=self._fingerprint(prompt, block.epoch),
        )


def without(requests: Sequence[Request], answered: Collection[str]) -> Sequence[Request]:
    """Return the requests whose fingerprint is not among the answered ones."""
    if not answered:
        return requests
    places = (n for n, request in enumerate(requests) if request.fingerprint not in answered)
    if isinstance(requests, Requests):
        return requests.at(places)
    return [requests[place] for place in places]


def build_requests(
    tasksets: Sequence[Taskset],
    identity: Identity,
    sampling_for: Callable[[Taskset], Sampling],
    epochs: int,
    seed: int,
    redaction: Redaction | None = None,
) -> Requests:
    """List what an endpoint is asked, in the order in which it is asked.

    The order is a shuffle across tasksets that depends on `seed` and the samples alone: it
    is equal for every endpoint, and a server that drifts hits all families alike.

    Args:
        tasksets: What to ask.
        identity: Who is asked; part of each fingerprint.
        sampling_for: How to sample for a taskset.
        epochs: Repeats of each sample, counted from 0. Each has its own sampling seed,
            since equal seeds give equal texts.
        seed: Of the order.
        redaction: Keys the hashes of prompts, where texts are not kept.

    Raises:
        ValueError: When `epochs` is not positive, or a sample occurs twice.
    """
    if epochs < 1:
        raise ValueError(f"epochs must be at least 1, not {epochs}")
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for taskset in tasksets:
        known = len(ids[taskset.name])
        ids[taskset.name].update(sample.id for sample in taskset.samples)
        if len(ids[taskset.name]) < known + len(taskset.samples):
            raise ValueError("a sample occurs twice in the tasksets")
    blocks = [
        _Block(taskset.samples, sampling, epoch, _hashes(taskset, sampling, redaction))
        for taskset in tasksets
        for base in (sampling_for(taskset),)
        for epoch in range(epochs)
        for sampling in (replace(base, seed=base.seed + epoch),)
    ]
    return Requests(blocks, identity, seed)


def _hashes(
    taskset: Taskset, sampling: Sampling, redaction: Redaction | None
) -> Callable[[tuple[Message, ...]], str]:
    hashed = prompt_hashes(sampling)
    if redaction is None:
        return hashed
    return lambda messages: redaction.prompt(taskset.name, hashed(messages))
