"""Samples with equal prompts are not independent: they become one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalkit.types import Message, Sample


def join_equal_prompts(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Give samples with equal messages one cluster, and join the clusters that they connect.

    All but the first of them are marked as repeated.

    A taskset without equal prompts is returned as it is.
    """
    first: dict[tuple[Message, ...], Sample] = {}
    equal: list[tuple[Sample, Sample]] = []
    for sample in samples:
        other = first.setdefault(sample.messages, sample)
        if other is not sample:
            equal.append((other, sample))
    if not equal:
        return tuple(samples)
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while name in above:
            name = above[name]
        return name

    for one, other in equal:
        if one.cluster is not None and other.cluster is not None:
            upper, lower = root(one.cluster), root(other.cluster)
            if upper != lower:
                above[lower] = upper
    # Where only one of the equal ones names a cluster, the others belong to it.
    named = {s.messages: s.cluster for s in reversed(samples) if s.cluster is not None}
    repeated = {sample.messages for _, sample in equal}

    def joined(sample: Sample) -> Sample:
        cluster = sample.cluster
        if sample.messages in repeated:
            cluster = named.get(sample.messages) or f"prompt of {first[sample.messages].id}"
        cluster = cluster if cluster is None else root(cluster)
        again = first[sample.messages] is not sample
        if cluster == sample.cluster and not again:
            return sample
        return replace(sample, cluster=cluster, repeated=again)

    return tuple(map(joined, samples))
