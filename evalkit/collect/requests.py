"""From tasksets to requests: pure, and the same for every endpoint but the fingerprint."""

from __future__ import annotations

import math
import random
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import accumulate
from typing import overload

from evalkit.collect.redaction import Redaction
from evalkit.fingerprint import digest, prompt_hashes, request_fingerprints
from evalkit.types import REPEAT_EPOCH, Identity, Message, Request, Sample, Sampling, Taskset

_HASH_BYTES = 16
_NO_HASH = bytes(_HASH_BYTES)


class _Block:
    """One epoch of a taskset, asked of one endpoint. Hashes are made once.

    Attributes:
        samples: What is asked.
        sampling: How.
        epoch: Which one.
    """

    __slots__ = ("_fingerprints", "_hash", "_prompts", "epoch", "samples", "sampling")

    def __init__(
        self,
        samples: Sequence[Sample],
        sampling: Sampling,
        epoch: int,
        hashed: Callable[[tuple[Message, ...]], str],
    ) -> None:
        self.samples, self.sampling, self.epoch = samples, sampling, epoch
        self._hash = hashed
        self._prompts = _Hashes(len(samples))
        self._fingerprints = _Hashes(len(samples))

    def prompt(self, index: int) -> str:
        """Return a sample's prompt hash."""
        found = self._prompts.get(index)
        return found or self._prompts.put(index, self._hash(self.samples[index].messages))

    def fingerprint(self, index: int, made: Callable[[str, int], str]) -> str:
        """Return a request's fingerprint, which `made` makes of prompt hash and epoch."""
        found = self._fingerprints.get(index)
        if found is not None:
            return found
        sample, prompt = self.samples[index], self.prompt(index)
        # Equal prompts are equal requests, and each is to have an answer of its own, also
        # where two tasksets share a prompt.
        asked = f"{prompt} {sample.taskset}"
        if sample.repeated:
            asked = f"{asked} {sample.id}"
        return self._fingerprints.put(index, made(asked, self.epoch))


class _Hashes:
    """Hashes of 128 bits by their place, of which each takes only so much memory."""

    __slots__ = ("_bytes",)

    def __init__(self, n: int) -> None:
        self._bytes = bytearray(_HASH_BYTES * n)

    def get(self, index: int) -> str | None:
        """Return a hash as it is written; `None` when it was not put there yet."""
        at = index * _HASH_BYTES
        found = self._bytes[at : at + _HASH_BYTES]
        return None if found == _NO_HASH else found.hex()

    def put(self, index: int, made: str) -> str:
        """Keep a hash, and return it."""
        at = index * _HASH_BYTES
        self._bytes[at : at + _HASH_BYTES] = bytes.fromhex(made)
        return made


class Requests(Sequence[Request]):
    """What an endpoint is asked, in order.

    A request is made anew whenever it is looked at: a hundred thousand of them would take
    ten times the memory of this, which holds 36 bytes for each.
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

    def spread(self, repeats: Requests) -> Requests:
        """Return these with repeats evenly among them; their own order stays.

        A server that drifts hits both alike, and the two askings of a prompt lie far apart.

        Args:
            repeats: For the same endpoint.
        """
        mixed = copy(self)
        mixed._blocks = [*self._blocks, *repeats._blocks]
        mixed._starts = list(accumulate((len(b.samples) for b in mixed._blocks), initial=0))
        mixed._order = array("I")
        done, step = 0, len(self) / len(repeats) if len(repeats) else 0.0
        for index, position in enumerate(repeats._order):
            upto = int((index + 0.5) * step)
            mixed._order.extend(self._order[done:upto])
            mixed._order.append(self._starts[-1] + position)
            done = upto
        mixed._order.extend(self._order[done:])
        return mixed

    def fingerprints(self) -> Iterator[str]:
        """Yield the fingerprint of each, in order: quicker than each request."""
        for position in self._order:
            block, index = self._place(position)
            yield block.fingerprint(index, self._fingerprint)

    def first_prompts(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Yield taskset, id and prompt hash of each of the first epoch, in order."""
        for position in self._order:
            block, index = self._place(position)
            if block.epoch == 0:
                sample = block.samples[index]
                yield (sample.taskset, sample.id), block.prompt(index)

    def _place(self, position: int) -> tuple[_Block, int]:
        number = bisect_right(self._starts, position) - 1
        return self._blocks[number], position - self._starts[number]

    def _request(self, position: int) -> Request:
        block, index = self._place(position)
        sample = block.samples[index]
        return Request(
            sample_id=sample.id,
            taskset=sample.taskset,
            epoch=block.epoch,
            messages=sample.messages,
            sampling=block.sampling,
            prompt_hash=block.prompt(index),
            fingerprint=block.fingerprint(index, self._fingerprint),
        )


def fingerprints_of(requests: Sequence[Request]) -> Iterator[str]:
    """Yield the fingerprint of each request, in order."""
    if isinstance(requests, Requests):
        return requests.fingerprints()
    return (request.fingerprint for request in requests)


def first_prompts(requests: Sequence[Request]) -> dict[tuple[str, str], str]:
    """Return the prompt hash of each sample's first epoch, by taskset and id."""
    if isinstance(requests, Requests):
        return dict(requests.first_prompts())
    return {(r.taskset, r.sample_id): r.prompt_hash for r in requests if r.epoch == 0}


def without(requests: Sequence[Request], answered: Collection[str]) -> Sequence[Request]:
    """Return the requests whose fingerprint is not among the answered ones."""
    if not answered:
        return requests
    known = enumerate(fingerprints_of(requests))
    places = (n for n, fingerprint in known if fingerprint not in answered)
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


def build_repeats(
    tasksets: Sequence[Taskset],
    identity: Identity,
    sampling_for: Callable[[Taskset], Sampling],
    epochs: int,
    seed: int,
    share: float,
    redaction: Redaction | None = None,
) -> Requests:
    """List what the baseline is asked a second time, to see how often it differs from itself.

    A seeded share of each taskset, rounded up, so that every taskset has its part; a larger
    share holds a smaller one, and only what is new in it is asked. The messages are those of
    the first time. So is the sampling at temperature 0, where only the server's own noise
    (batching) is left; above it the seed is the one after those of the epochs, since an equal
    seed would hide the noise of sampling.

    Args:
        tasksets: What was asked.
        identity: Who is asked; part of each fingerprint.
        sampling_for: How to sample for a taskset.
        epochs: Repeats that are part of the run itself.
        seed: Of draw and order.
        share: In [0, 1].
        redaction: As for `build_requests`.

    Raises:
        ValueError: For a share out of range.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], not {share}")
    blocks = []
    for taskset in tasksets if share else ():
        sampling = sampling_for(taskset)
        if sampling.temperature > 0:
            sampling = replace(sampling, seed=sampling.seed + epochs)
        ranked = sorted(taskset.samples, key=lambda sample: _rank(sample, seed))
        drawn = ranked[: repeats_of(len(ranked), share)]
        blocks.append(_Block(drawn, sampling, REPEAT_EPOCH, _hashes(taskset, sampling, redaction)))
    return Requests(blocks, identity, seed)


def repeats_of(n: int, share: float) -> int:
    """Return how many of n samples are asked a second time.

    >>> repeats_of(50, 0.1), repeats_of(51, 0.1), repeats_of(51, 0)
    (5, 6, 0)
    """
    # 0.1 of 50 must not become 6 by rounding.
    return math.ceil(n * share - 1e-9)


def _rank(sample: Sample, seed: int) -> str:
    """Order by chance, but each sample by itself: more samples leave the others' order."""
    return digest([seed, sample.taskset, sample.id])


def _hashes(
    taskset: Taskset, sampling: Sampling, redaction: Redaction | None
) -> Callable[[tuple[Message, ...]], str]:
    hashed = prompt_hashes(sampling)
    if redaction is None:
        return hashed
    return lambda messages: redaction.prompt(taskset.name, hashed(messages))
