"""From tasksets to requests: pure, and the same for every endpoint but the fingerprint."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from evalkit.collect.redaction import Redaction
from evalkit.fingerprint import prompt_hash, request_fingerprint
from evalkit.types import Identity, Request, Sample, Sampling, Taskset


def build_requests(
    tasksets: Sequence[Taskset],
    identity: Identity,
    sampling_for: Callable[[Taskset], Sampling],
    epochs: int,
    seed: int,
    redaction: Redaction | None = None,
) -> list[Request]:
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
    samples = [
        (sample, replace(base, seed=base.seed + epoch), epoch)
        for taskset in tasksets
        for base in (sampling_for(taskset),)
        for epoch in range(epochs)
        for sample in taskset.samples
    ]
    seen = {(sample.taskset, sample.id, epoch) for sample, _, epoch in samples}
    if len(seen) != len(samples):
        raise ValueError("a sample occurs twice in the tasksets")
    random.Random(seed).shuffle(samples)
    return [
        _request(sample, sampling, epoch, identity, redaction)
        for sample, sampling, epoch in samples
    ]


def _request(
    sample: Sample,
    sampling: Sampling,
    epoch: int,
    identity: Identity,
    redaction: Redaction | None,
) -> Request:
    prompt = prompt_hash(sample.messages, sampling)
    if redaction is not None:
        prompt = redaction.prompt(sample.taskset, prompt)
    return Request(
        sample_id=sample.id,
        taskset=sample.taskset,
        epoch=epoch,
        messages=sample.messages,
        sampling=sampling,
        prompt_hash=prompt,
        fingerprint=request_fingerprint(identity, prompt, epoch),
    )
