"""Joining two runs: only equal prompts pair, and everything left out has a reason."""

from __future__ import annotations

from collections import Counter

from evalkit.collect.requests import build_requests
from evalkit.decision.attribution import cause, causes_by_family, transition
from evalkit.decision.pairing import Answer, Key, Pair, pair
from evalkit.decision.samples import sample_views
from evalkit.decision.tables import build_table, differences
from evalkit.types import Flag, Identity, Outcome, Sample, Sampling
from tests.builders import (
    ABSTAINED,
    EMPTY,
    MISSING,
    RIGHT,
    TRUNCATED,
    UNSCORED,
    WRONG,
    answer,
    pairs,
    sample,
    taskset,
)

ONE, TWO, THREE = sample("1"), sample("2"), sample("3")
SAMPLES = {(s.taskset, s.id): s for s in (ONE, TWO, THREE)}


def arm(*kinds: tuple[Sample, str], arm: str = "a") -> dict[Key, Answer]:
    return {(s.taskset, s.id, 0): answer(s, kind, arm=arm) for s, kind in kinds}


def test_pairs_are_joined_on_taskset_id_and_epoch() -> None:
    made = pair(arm((ONE, RIGHT), (TWO, WRONG)), arm((TWO, RIGHT), (ONE, WRONG)), SAMPLES)
    assert [(p.sample.id, p.baseline.value, p.candidate.value) for p in made.pairs] == [
        ("1", 1.0, 0.0),
        ("2", 0.0, 1.0),
    ]
    assert set(made.counts().values()) == {0}


def test_what_cannot_be_paired_is_excluded_with_a_reason() -> None:
    baseline = arm((ONE, RIGHT), (TWO, RIGHT))
    candidate = arm((ONE, RIGHT), (THREE, RIGHT))
    stranger = sample("stranger")
    for run in (baseline, candidate):
        run[stranger.taskset, stranger.id, 0] = answer(stranger, RIGHT)
    counts = pair(baseline, candidate, SAMPLES).counts()
    assert counts == {
        "only_in_baseline": 1,
        "only_in_candidate": 1,
        "prompt_mismatch": 0,
        "unknown_sample": 1,
    }


def test_different_prompts_under_one_id_never_pair() -> None:
    other = {(ONE.taskset, ONE.id, 0): answer(ONE, RIGHT, prompt_hash="another")}
    made = pair(arm((ONE, RIGHT)), other, SAMPLES)
    assert not made.pairs
    assert made.counts()["prompt_mismatch"] == 1


def test_missing_answers_stay_in_the_pairs_and_leave_the_complete_table() -> None:
    table = build_table(
        pairs([(RIGHT, RIGHT, 2), (RIGHT, MISSING, 1), (MISSING, MISSING, 1)]), "accuracy"
    )
    assert len(differences(table, "CC")[0]) == 2
    # WORST hurts the candidate where anything is missing, BEST flatters it.
    assert sorted(differences(table, "WORST")[0]) == [-1, -1, 0, 0]
    assert sorted(differences(table, "BEST")[0]) == [0, 0, 0, 1]


def test_epochs_and_declared_clusters_are_not_independent() -> None:
    same = [
        p.__class__(p.sample, epoch, answer(p.sample, RIGHT), answer(p.sample, WRONG, arm="b"))
        for p in pairs([(RIGHT, WRONG, 3)])
        for epoch in range(2)
    ]
    clusters = build_table(same, "accuracy").clusters
    assert clusters is not None
    assert list(clusters) == [0, 0, 1, 1, 2, 2]
    assert build_table(pairs([(RIGHT, WRONG, 3)]), "accuracy").clusters is None


def test_epochs_are_of_one_unit_though_each_has_a_seed_of_its_own() -> None:
    """As they are really asked: the sampling seed is part of the prompt's hash."""
    of = [p.sample for p in pairs([(RIGHT, WRONG, 3)])]
    identity = Identity("openai", "m")
    asked = build_requests([taskset(of)], identity, lambda _: Sampling(16), epochs=2, seed=0)
    assert len({request.prompt_hash for request in asked}) == 6
    hashes = {(r.sample_id, r.epoch): r.prompt_hash for r in asked}
    made = [
        Pair(one, epoch, *(answer(one, RIGHT, prompt_hash=hashes[one.id, epoch]) for _ in "ab"))
        for one in of
        for epoch in range(2)
    ]
    clusters = build_table(made, "accuracy").clusters
    assert clusters is not None
    assert list(clusters) == [0, 0, 1, 1, 2, 2]


def test_transitions_and_causes() -> None:
    spec = [(RIGHT, kind, 1) for kind in (WRONG, ABSTAINED, TRUNCATED, EMPTY, UNSCORED, MISSING)]
    made = pairs([*spec, (WRONG, RIGHT, 1), (RIGHT, RIGHT, 1), (WRONG, WRONG, 1)])
    assert [transition(p) for p in made] == ["regression"] * 5 + [
        "missing",
        "improvement",
        "both_right",
        "both_wrong",
    ]
    assert [cause(p.candidate) for p in made[:6]] == [
        "wrong_result",
        "abstained",
        "truncated",
        "empty",
        "unparsable",
        "infrastructure",
    ]
    assert causes_by_family(made) == {
        "facts": {"abstained": 1, "empty": 1, "truncated": 1, "unparsable": 1, "wrong_result": 1}
    }


def test_where_a_model_judges_its_word_is_the_cause_when_nothing_else_is() -> None:
    made = pairs([(RIGHT, kind, 1) for kind in (WRONG, ABSTAINED, TRUNCATED, UNSCORED)])
    judged = {made[0].sample.taskset}
    causes = [cause(p.candidate, judged) for p in made]
    assert causes == ["judge_only", "judge_only", "truncated", "unparsable"]
    assert causes_by_family(made, judged) == {
        "facts": {"judge_only": 2, "truncated": 1, "unparsable": 1}
    }
    views, _ = sample_views(made, judged=judged)
    assert [view.cause for view in views].count("judge_only") == 2
    assert causes_by_family(made, {"another"})["facts"]["wrong_result"] == 1


def test_readers_see_every_flip_regressions_first() -> None:
    made = pairs([(WRONG, RIGHT, 1), (RIGHT, WRONG, 2), (RIGHT, RIGHT, 5), (RIGHT, MISSING, 1)])
    views, left_out = sample_views(made)
    assert [view.transition for view in views] == [
        "regression",
        "regression",
        "missing",
        "improvement",
    ]
    assert views[2].candidate.error == "Timeout: Timeout happened"
    assert views[0].candidate.flags == (Flag.HALLUCINATED.value,)
    assert views[0].candidate.outcome == Outcome.INCORRECT.value
    assert left_out == {}


def test_beyond_the_budget_each_transition_has_its_share_and_the_rest_is_counted() -> None:
    made = pairs([(RIGHT, WRONG, 60), (WRONG, RIGHT, 40), (RIGHT, MISSING, 20), (RIGHT, RIGHT, 5)])
    views, left_out = sample_views(made, budget=30_000)
    shown = Counter(view.transition for view in views)
    assert 0.5 * 60 <= shown["regression"] < 60
    assert 0 < shown["missing"] < 20
    assert 0 < shown["improvement"] < 40
    assert {name: shown[name] + left_out[name] for name in shown} == {
        "regression": 60,
        "missing": 20,
        "improvement": 40,
    }
    again, _ = sample_views(made, budget=30_000)
    assert views == again
    first = [pair.sample.id for pair in made[: shown["regression"]]]
    assert [view.sample_id for view in views[: len(first)]] != first, "a draw, not the first ones"
