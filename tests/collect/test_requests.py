from __future__ import annotations

import random
from dataclasses import replace

import pytest

from evalkit.collect.requests import build_requests, without
from evalkit.types import Identity
from tests.collect.builders import IDENTITY, sampling_for, taskset

OTHER = Identity(kind="openai", model="fake", base_url="http://other/v1")
TASKSETS = [taskset("a", 20), taskset("b", 20, max_tokens=99)]


def build(identity: Identity = IDENTITY, epochs: int = 1, seed: int = 0) -> list[object]:
    return list(build_requests(TASKSETS, identity, sampling_for, epochs, seed))


def test_both_arms_are_asked_the_same_in_the_same_order() -> None:
    ours = build_requests(TASKSETS, IDENTITY, sampling_for, 1, 0)
    theirs = build_requests(TASKSETS, OTHER, sampling_for, 1, 0)
    assert [replace(r, fingerprint="") for r in ours] == [
        replace(r, fingerprint="") for r in theirs
    ]
    assert not {r.fingerprint for r in ours} & {r.fingerprint for r in theirs}


def test_every_sample_once_for_each_epoch() -> None:
    asked = build_requests(TASKSETS, IDENTITY, sampling_for, 3, 0)
    keys = {(r.taskset, r.sample_id, r.epoch) for r in asked}
    assert len(keys) == len(asked) == 120
    assert len({r.fingerprint for r in asked}) == 120


def test_the_order_depends_on_the_seed_and_mixes_tasksets() -> None:
    assert build(seed=0) == build(seed=0)
    assert build(seed=0) != build(seed=1)
    order = [r.taskset for r in build_requests(TASKSETS, IDENTITY, sampling_for, 1, 0)]
    assert {"a", "b"} == set(order[:10]) == set(order[-10:])


def test_the_order_is_that_of_a_shuffled_list() -> None:
    asked = build_requests(TASKSETS, IDENTITY, sampling_for, 2, 5)
    plain = [(t.name, s.id, epoch) for t in TASKSETS for epoch in (0, 1) for s in t.samples]
    random.Random(5).shuffle(plain)
    assert [(r.taskset, r.sample_id, r.epoch) for r in asked] == plain
    assert asked[3:5] == [asked[3], asked[4]]
    assert asked[-1] == list(asked)[-1]
    with pytest.raises(IndexError):
        asked[len(asked)]


def test_without_what_is_answered_the_order_stays() -> None:
    asked = build_requests(TASKSETS, IDENTITY, sampling_for, 1, 5)
    assert without(asked, set()) is asked
    answered = {request.fingerprint for request in asked[::3]}
    left = [request for number, request in enumerate(asked) if number % 3]
    assert list(without(asked, answered)) == left == list(without(list(asked), answered))
    assert list(asked[:2]) == [asked[0], asked[1]], "the whole is as it was"


def test_each_epoch_is_sampled_with_a_seed_of_its_own() -> None:
    asked = build_requests([taskset("a", 1)], IDENTITY, sampling_for, 3, 0)
    assert sorted((r.epoch, r.sampling.seed) for r in asked) == [(0, 0), (1, 1), (2, 2)]


def test_sampling_is_the_tasksets() -> None:
    asked = build_requests(TASKSETS, IDENTITY, sampling_for, 1, 0)
    assert {(r.taskset, r.sampling.max_tokens) for r in asked} == {("a", 8), ("b", 99)}


def test_adding_samples_keeps_the_fingerprints_of_the_others() -> None:
    few = build_requests([taskset("a", 3)], IDENTITY, sampling_for, 1, 0)
    many = build_requests([taskset("a", 30)], IDENTITY, sampling_for, 1, 0)
    assert {r.fingerprint for r in few} < {r.fingerprint for r in many}


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="epochs"):
        build(epochs=0)
    with pytest.raises(ValueError, match="twice"):
        build_requests([taskset("a"), taskset("a")], IDENTITY, sampling_for, 1, 0)
