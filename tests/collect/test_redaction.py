from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.collect.records import decode, encode
from evalkit.collect.redaction import Redaction, read_secret, recorded_redaction
from evalkit.errors import ConfigError, StoreError
from evalkit.types import Completion, Logprobs, Outcome, Score, ScoreStatus
from tests.builders import completion, sample, taskset

SAMPLES = (sample("s1"), sample("s2"))
TASKSET = replace(taskset(SAMPLES), seal="only who has the taskset has this")
SECRET = "a-secret-of-more-than-sixteen"


def score(of: Completion, answer: str | None = "42", **more: object) -> Score:
    plain = Score(
        sample_id=of.sample_id,
        taskset=of.taskset,
        epoch=of.epoch,
        fingerprint=of.fingerprint,
        scorer="facts",
        scorer_version=1,
        status=ScoreStatus.SCORED,
        outcome=Outcome.CORRECT,
        value=1.0,
        answer=answer,
        explanation="it says 42",
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def redacted(
    text: str | None, *, of: int = 0, epoch: int = 0, arm: str = "a", secret: str | None = None
) -> Completion:
    plain = completion(SAMPLES[of], text=text, epoch=epoch, arm=arm)
    return Redaction.of([TASKSET], secret).completion(plain, score(plain, text))


def hash_of(kept: Completion) -> str | None:
    assert kept.redacted is not None
    return kept.redacted.text


def test_equal_answers_align_across_arms_and_epochs_and_nowhere_else() -> None:
    first = hash_of(redacted("yes"))
    assert first == hash_of(redacted("yes", arm="b")) == hash_of(redacted("yes", epoch=1))
    others = [
        redacted("no"),
        redacted("yes "),
        redacted("yes", of=1),
        redacted("yes", secret=SECRET),
        redacted("yes", secret=SECRET + "!"),
    ]
    assert len({first, *map(hash_of, others)}) == 6


def test_the_hash_of_an_answer_needs_the_whole_taskset() -> None:
    plain = completion(SAMPLES[0], text="yes")
    mine = Redaction.of([TASKSET], None).completion(plain, score(plain))
    for other in (
        replace(TASKSET, seal="another"),
        replace(TASKSET, seal=TASKSET.content_hash),
        replace(TASKSET, seal=""),
        replace(TASKSET, seal="", samples=SAMPLES[:1]),
    ):
        theirs = Redaction.of([other], None).completion(plain, score(plain))
        assert hash_of(mine) != hash_of(theirs)


@given(
    text=st.none() | st.text(max_size=40),
    reasoning=st.none() | st.text(max_size=40),
    finish=st.none() | st.text(max_size=12),
)
def test_what_is_kept_survives_the_journal_and_holds_no_text(
    text: str | None, reasoning: str | None, finish: str | None
) -> None:
    mark = "zephyr"
    plain = replace(
        completion(SAMPLES[0], text=None if text is None else f"{mark} {text}"),
        reasoning=None if reasoning is None else f"{mark} {reasoning}",
        finish_reason=finish if finish is None else f"{mark} {finish}",
        logprobs=Logprobs((mark,), (-0.5,), (((mark, -0.5),),)),
    )
    kept = Redaction.of([TASKSET], None).completion(plain, score(plain, plain.text))
    line = encode(kept)
    assert mark.encode() not in line
    assert decode(line) == kept
    assert kept.text is kept.reasoning is None
    assert kept.logprobs == Logprobs(None, (-0.5,))
    assert kept.redacted is not None
    assert (kept.redacted.text is None) == (text is None)
    assert kept.redacted.text_length == (None if text is None else len(plain.text or ""))
    assert (kept.redacted.reasoning is None) == (reasoning is None)


def test_words_of_servers_and_scorers_are_dropped_and_names_kept() -> None:
    redaction = Redaction.of([TASKSET], None)
    failed = completion(SAMPLES[0], error="ServerError")
    missing = score(
        failed, None, status=ScoreStatus.MISSING, reason="infra:ServerError", outcome=None
    )
    kept = redaction.completion(failed, missing)
    assert kept.error is not None
    assert (kept.error.kind, kept.error.message) == (
        "ServerError",
        "it failed; its words are redacted.",
    )
    assert kept.redacted is not None
    assert (kept.redacted.score.reason, kept.redacted.score.explanation) == (
        "infra:ServerError",
        "",
    )
    for reason, left in (("extraction", "extraction"), ("He said 42", "redacted")):
        plain = completion(SAMPLES[0])
        unscored = score(plain, None, status=ScoreStatus.UNSCORED, reason=reason)
        found = redaction.completion(plain, unscored).redacted
        assert found is not None
        assert found.score.reason == left


def test_a_plain_run_is_read_as_a_redacted_one_would_be() -> None:
    redaction = Redaction.of([TASKSET], None)
    plain = completion(SAMPLES[0], prompt_hash="p")
    theirs = replace(plain, prompt_hash=redaction.prompt(TASKSET.name, "p"))
    assert redaction.plain_completion(plain, score(plain)) == redaction.completion(
        theirs, score(plain)
    )
    assert redaction.prompt(TASKSET.name, "p") != "p"


def test_a_header_tells_whether_the_secret_is_the_one_of_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("EVALKIT_REDACT_KEY", raising=False)
    keyed = {"redaction": Redaction.of([TASKSET], SECRET).record()}
    free = {"redaction": Redaction.of([TASKSET], None).record()}
    assert SECRET not in json.dumps(keyed)
    assert recorded_redaction({}, [TASKSET], "r") is None
    assert recorded_redaction(free, [TASKSET], "r") == Redaction.of([TASKSET], None)
    for secret in ("", SECRET + "!"):
        monkeypatch.setenv("EVALKIT_REDACT_KEY", secret)
        with pytest.raises(StoreError, match="does not hold"):
            recorded_redaction(keyed, [TASKSET], "r")
    monkeypatch.setenv("EVALKIT_REDACT_KEY", f" {SECRET}\n")
    assert recorded_redaction(keyed, [TASKSET], "r") == Redaction.of([TASKSET], SECRET)
    assert recorded_redaction(free, [TASKSET], "r") == Redaction.of([TASKSET], None)
    for broken in ({"version": 2}, "yes", {}):
        with pytest.raises(StoreError, match="does not know"):
            recorded_redaction({"redaction": broken}, [TASKSET], "r")
    assert SECRET not in repr(Redaction.of([TASKSET], SECRET))


def test_a_secret_that_can_be_guessed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_REDACT_KEY", "hunter2")
    with pytest.raises(ConfigError, match="openssl rand") as caught:
        read_secret()
    assert "hunter2" not in str(caught.value)


def test_a_journal_of_before_redaction_is_read() -> None:
    plain = completion(SAMPLES[0])
    old = json.loads(encode(plain))
    del old["redacted"]
    assert decode(json.dumps(old).encode()) == plain
