from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from evalkit.collect.requests import Requests, build_repeats, build_requests, repeats_of, without
from evalkit.tasksets.clusters import join_equal_prompts
from evalkit.types import REPEAT_EPOCH, Identity, Sampling, Taskset
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


def test_equal_prompts_have_answers_of_their_own() -> None:
    one, other, *_ = taskset("a", 4).samples
    twins = join_equal_prompts([one, replace(other, messages=one.messages)])
    asked = build_requests([replace(taskset("a", 4), samples=twins)], IDENTITY, sampling_for, 2, 0)
    assert len({r.fingerprint for r in asked}) == 4
    assert len({(r.prompt_hash, r.epoch) for r in asked}) == 2
    # The first is what it is without the other: its answer is found again.
    alone = build_requests([taskset("a", 1)], IDENTITY, sampling_for, 1, 0)
    assert alone[0].fingerprint in {r.fingerprint for r in asked if r.sample_id == one.id}


def test_tasksets_that_share_prompts_have_answers_of_their_own() -> None:
    first = taskset("a", 4)
    second = [replace(sample, taskset="b") for sample in first.samples]
    shared = [first, replace(taskset("b", 4), samples=second)]
    asked = build_requests(shared, IDENTITY, sampling_for, 1, 0)
    assert len({r.fingerprint for r in asked}) == 8
    assert len({r.prompt_hash for r in asked}) == 4
    # Whichever stands first: an answer is never another sample's.
    turned = build_requests(shared[::-1], IDENTITY, sampling_for, 1, 0)
    assert {(r.taskset, r.fingerprint) for r in asked} == {
        (r.taskset, r.fingerprint) for r in turned
    }


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


def hot(of: Taskset) -> Sampling:
    return replace(sampling_for(of), temperature=0.7)


def repeats(share: float, seed: int = 0) -> Requests:
    return build_repeats(TASKSETS, IDENTITY, sampling_for, 1, seed, share)


def test_a_repeat_is_the_same_request_that_cannot_be_answered_from_the_journal() -> None:
    first = {r.sample_id: r for r in build_requests(TASKSETS[:1], IDENTITY, sampling_for, 1, 0)}
    for repeat in build_repeats(TASKSETS[:1], IDENTITY, sampling_for, 1, 0, 0.5):
        own = first[repeat.sample_id]
        assert (repeat.messages, repeat.sampling) == (own.messages, own.sampling)
        assert repeat.prompt_hash == own.prompt_hash
        assert repeat.fingerprint != own.fingerprint
        assert repeat.epoch == REPEAT_EPOCH


def test_every_taskset_has_its_share_of_repeats_and_a_larger_share_holds_a_smaller() -> None:
    for share, each in ((0.0, 0), (0.1, 2), (0.11, 3), (0.5, 10), (1.0, 20)):
        asked = repeats(share)
        assert [sum(r.taskset == name for r in asked) for name in ("a", "b")] == [each, each]
    few, more = ({r.fingerprint for r in repeats(share)} for share in (0.2, 0.6))
    assert few < more
    assert list(repeats(0.3)) == list(repeats(0.3))
    assert {r.sample_id for r in repeats(0.3)} != {r.sample_id for r in repeats(0.3, seed=1)}
    with pytest.raises(ValueError, match="share"):
        repeats(1.5)


def test_above_temperature_zero_the_seed_of_a_repeat_is_one_that_no_epoch_has() -> None:
    own = build_requests([taskset("a", 4)], IDENTITY, hot, 3, 0)
    asked = build_repeats([taskset("a", 4)], IDENTITY, hot, 3, 0, 1.0)
    assert {r.sampling.seed for r in own} == {0, 1, 2}
    assert {r.sampling.seed for r in asked} == {3}


@pytest.mark.parametrize("n", [0, 1, 7, 40])
def test_repeats_are_spread_and_the_order_of_the_others_stays(n: int) -> None:
    own = build_requests(TASKSETS, IDENTITY, sampling_for, 1, 0)
    again = repeats(1.0).at(range(n))
    mixed = own.spread(again)
    assert [r for r in mixed if r.epoch == 0] == list(own)
    assert [r for r in mixed if r.epoch == REPEAT_EPOCH] == list(again)
    assert len(mixed) == 40 + n
    if n == 7:
        places = [i for i, r in enumerate(mixed) if r.epoch == REPEAT_EPOCH]
        assert 2 <= places[0] <= 4
        assert {b - a for a, b in itertools.pairwise(places)} <= {6, 7}


def test_a_share_of_a_count_is_rounded_up_but_not_by_rounding_errors() -> None:
    assert [repeats_of(n, 0.1) for n in (1, 10, 11, 50, 10**6)] == [1, 1, 2, 5, 10**5]
