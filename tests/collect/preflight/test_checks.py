"""Judgements that need no server: what was observed goes in, findings come out."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.collect.preflight import context, counting, limits, manners, sampling, streaming
from evalkit.collect.preflight.answering import (
    compare_reasoning,
    named_fields,
    reasoning_findings,
    reasoning_observation,
)
from evalkit.collect.preflight.choices import Token
from evalkit.collect.preflight.findings import ProbeOptions


def counted(*rows: tuple[int | None, int | None, list[int] | None]) -> dict[str, Any]:
    heard = {"request": {"messages": []}, "text": "x"}
    return {
        "prompts": [
            {
                "name": f"p{number}",
                "reported": reported,
                "rendered": rendered,
                "begins": ids,
                "ids": ids,
                "heard": heard,
            }
            for number, (reported, rendered, ids) in enumerate(rows)
        ]
    }


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ([11, 21, 31], "BOS token doubled"),
        ([9, 19, 29], "BOS token missing"),
        ([25, 35, 46], "system prompt added"),
        ([25, 35, 30], "where there is none"),
        ([12, 17, 33], "another chat template"),
    ],
)
def test_other_counts_differ_and_their_likely_cause_is_named(other: list[int], words: str) -> None:
    a = counted(*((n, None, None) for n in (10, 20, 30)))
    b = counted(*((n, None, None) for n in other))
    finding = counting.compare(a, b)[0]
    assert finding.status == "differs"
    assert words in finding.message


def test_equal_counts_of_other_tokens_differ() -> None:
    a, b = counted((2, 2, [1, 2])), counted((2, 2, [1, 3]))
    assert [f.status for f in counting.compare(a, b)] == ["ok", "differs"]
    assert [f.status for f in counting.compare(a, a)] == ["ok", "ok"]


def test_what_is_not_counted_is_not_testable() -> None:
    a = counted((None, None, None))
    assert {f.status for f in counting.compare(a, a)} == {"not_testable"}
    assert [f.status for f in counting.findings(a)] == ["not_testable"]


def test_a_doubled_bos_is_seen_at_one_endpoint() -> None:
    (finding,) = counting.findings(counted((5, 5, [1, 1, 7, 8, 9])))
    assert finding.bad
    assert "BOS" in finding.message


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("Unsupported parameter: 'top_k'", ["top_k"]),
        ("Unexpected min_p; allowed: temperature, top_p, seed", ["min_p"]),
        ("temperature must be a number", []),
        ("max_tokens is not supported, use max_completion_tokens", []),
        ('[{"loc":["body","frequency_penalty"],"type":"extra_forbidden"}]', ["frequency_penalty"]),
    ],
)
def test_fields_that_an_error_names(message: str, fields: list[str]) -> None:
    assert named_fields(message) == fields


@pytest.mark.parametrize(
    ("content", "style", "status"),
    [
        ("Plain.", "none", "ok"),
        ("<think>Hm</think>Yes", "tags", "ok"),
        ("Hm</think>Yes", "tags", "ok"),
        ("[THINK]Hm[/THINK]Yes", "tags", "failed"),
        ("<|channel|>analysis", "tags", "failed"),
        ("<thinking>Hm</thinking>", "tags", "failed"),
    ],
)
def test_reasoning_left_in_the_answer(content: str, style: str, status: str) -> None:
    seen = reasoning_observation([content], separate=False)
    assert seen["style"] == style
    assert [f.status for f in reasoning_findings(seen)] == [status]
    plain = reasoning_observation(["Plain."], separate=False)
    (between,) = compare_reasoning(plain, seen)
    assert between.bad is (style != "none")


def sampled(texts: list[str | None], hot: list[str | None], **more: Any) -> dict[str, Any]:
    base = {"overridden": [], "logprobs": False, "temperature": 0.0, "heard": []}
    return {**base, "texts": texts, "hot": hot, **more}


def statuses(seen: dict[str, Any]) -> dict[str, str]:
    return {finding.code: finding.status for finding in sampling.findings(seen)}


def test_repeats_without_numbers() -> None:
    assert statuses(sampled(["a", "a", "a"], ["b", "c"]))["sampling"] == "ok"
    assert statuses(sampled(["a", "b", "c"], ["b", "c"]))["sampling"] == "failed"
    # One of three is noise, and said.
    noisy = sampling.findings(sampled(["a", "a", "b"], ["b", "c"]))
    assert [f.status for f in noisy] == ["ok", "ok", "ok"]
    assert "2 of 3" in noisy[1].message
    assert "noise" in noisy[1].message


def test_a_token_that_is_not_the_likeliest_is_seen() -> None:
    fine = Token("a", -0.5, (("a", -0.5), ("b", -1.0)))
    other = Token("b", -1.0, fine.top)
    end = Token("b", -1.0, (("<|im_end|>", -0.1), ("b", -1.0)))
    tie = Token("b", -0.505, (("a", -0.5), ("b", -0.505)))
    assert [row["position"] for row in sampling.unlikely([fine, other, end, tie])] == [1]


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_forced_temperature_matters_only_where_one_is_asked_for(temperature: float) -> None:
    seen = sampled(["abc", "abc", "abc"], ["ab", "ab"], temperature=temperature)
    finding = next(f for f in sampling.findings(seen) if f.code == "seed")
    assert finding.status == "failed"
    assert finding.bad is (temperature > 0)
    free = sampled(["abc", "abc", "abc"], ["xx", "yy"])
    assert [f.status for f in sampling.compare(free, seen)] == ["differs"]
    assert [f.status for f in sampling.compare(free, free)] == ["ok"]


@pytest.mark.parametrize(
    ("text", "finish", "code", "status"),
    [
        ("one two ", "stop", "stop", "ok"),
        ("one two three", "stop", "stop", "ok"),
        ("one two three four", "stop", "stop", "failed"),
        ("one two ", "length", "finish_reason", "failed"),
        ("otherwise", "length", "stop", "not_testable"),
        (None, None, "stop", "failed"),
    ],
)
def test_stop_strings(text: str | None, finish: str | None, code: str, status: str) -> None:
    heard = {"text": text, "finish_reason": finish}
    left = text is not None and text.endswith("three")
    seen = {"word": "three", "before": "one two ", "text": text, "left": left, "heard": heard}
    (finding,) = limits.stop_findings(seen)
    assert (finding.code, finding.status) == (code, status)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("the old lighthouse stood by the sea", "stood"),
        ("a b c d", None),
        ("", None),
        (None, None),
        ("那座古老的灯塔屹立在海边，多年以来无人问津。", "多年以来无人问津"),
    ],
)
def test_a_word_to_stop_at(text: str | None, word: str | None) -> None:
    assert limits.stop_word(text) == word


def answer(tokens: int, allowed: int, finish: str, prompt: str = "p") -> dict[str, Any]:
    request = {"messages": [prompt], "max_tokens": allowed}
    return {"request": request, "completion_tokens": tokens, "finish_reason": finish}


def longest(tokens: int | None, finish: str) -> dict[str, Any]:
    return {"asked": 128, "tokens": tokens, "finish": finish, "heard": {}}


@pytest.mark.parametrize(
    ("seen", "rows", "status"),
    [
        (longest(128, "length"), [answer(8, 8, "length")], "ok"),
        (longest(100, "length"), [], "failed"),
        (longest(100, "stop"), [], "not_testable"),
        # A cap that calls itself a stop: two answers to two prompts end at one number.
        (
            longest(20, "stop"),
            [answer(20, 48, "stop", "p"), answer(20, 128, "stop", "q")],
            "failed",
        ),
        (longest(128, "length"), [answer(9, 8, "stop")], "failed"),
        (longest(None, "stop"), [], "not_testable"),
    ],
)
def test_max_tokens(seen: dict[str, Any], rows: list[dict[str, Any]], status: str) -> None:
    found = limits.budget_findings(seen, rows)
    assert [f.status for f in found if f.code == "max_tokens"] == [status]


def test_a_cut_answer_must_say_so() -> None:
    rows = [answer(8, 8, "stop"), answer(8, 8, "stop", "q")]
    found = limits.budget_findings(longest(128, "length"), rows)
    assert [f.status for f in found if f.code == "finish_reason"] == ["failed"]


def far(text: str, logprobs: str | None, reported: int | None = 900) -> dict[str, Any]:
    base = {"error": None, "status": 200, "reported": reported}
    return {**base, "text": text, "logprobs": logprobs}


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([far("a", "1"), far("a", "2"), far("a", "3")], "ok"),
        ([far("a", "1"), far("a", "1"), far("a", "3")], "failed"),
        ([far("a", "1"), far("a", "2"), far("a", "1")], "failed"),
        ([far("a", None), far("a", None), far("b", None)], "not_testable"),
        ([far("7391 2846", None), far("5062 2846", None), far("7391 9178", None)], "ok"),
        ([far("a", "1", 512), far("a", "2", 512), far("a", "3", 512)], "failed"),
        ([{**far("a", "1"), "error": "status 400: too long", "status": 400}], "failed"),
        ([{**far("a", None), "error": "no answer", "status": None}], "not_testable"),
    ],
)
def test_a_context_that_is_cut(rows: list[dict[str, Any]], status: str) -> None:
    named = [{**row, "name": n} for row, n in zip(rows, ("plain", "start", "middle"), strict=False)]
    seen = {"limit": 4096, "tried": 1024, "words": 850, "rendered": 900, "rows": named}
    assert [f.status for f in context.findings(seen)] == [status]


@pytest.mark.parametrize(
    ("need", "limit", "expected"),
    [(None, None, 1024), (100, None, 640), (3000, 4096, 3000), (9000, 4096, 4096), (100, 512, 512)],
)
def test_how_far_a_context_is_tried(need: int | None, limit: int | None, expected: int) -> None:
    assert context.reach(ProbeOptions(context=need), limit) == expected


def event(data: str) -> str:
    return f"data: {data}\n\n"


WHOLE = (
    event('{"choices":[{"delta":{"content":"Hi"}}]}')
    + event('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
    + event('{"choices":[],"usage":{"completion_tokens":1}}')
    + event("[DONE]")
)


@pytest.mark.parametrize(
    ("body", "lacks"),
    [
        (WHOLE, None),
        (WHOLE.replace("[DONE]", "x"), "[DONE]"),
        (WHOLE.replace("stop", "").replace('""', "null"), "finish reason"),
        (WHOLE.replace('"usage"', '"used"'), "usage"),
        ("", "data"),
        (event("7") + event("[1]") + event('{"choices":[7]}'), "data"),
    ],
)
def test_a_stream(body: str, lacks: str | None) -> None:
    seen = {"status": 200, "error": None, "used": True, **streaming.read_stream(body)}
    (finding,) = streaming.findings(seen)
    assert finding.bad is (lacks is not None)
    assert lacks is None or lacks in finding.message


def refusals(
    long: int | None = 400, broken: int | None = 400, unknown: int = 404
) -> dict[str, Any]:
    def row(status: int | None) -> dict[str, Any]:
        return {"status": status, "said": "x", "words": 5136, "prompt_tokens": 512}

    return {"unknown": row(unknown), "broken": row(broken), "long": row(long), "limit": 4096}


@pytest.mark.parametrize(
    ("seen", "code", "status"),
    [
        (refusals(), "long_prompt", "ok"),
        (refusals(long=200), "long_prompt", "failed"),
        (refusals(broken=500), "broken_body", "failed"),
        (refusals(broken=None), "broken_body", "failed"),
        (refusals(unknown=200), "unknown_model", "ok"),
    ],
)
def test_bad_input_never_blocks_by_itself(seen: dict[str, Any], code: str, status: str) -> None:
    finding = next(f for f in manners.findings(seen) if f.code == code)
    assert (finding.status, finding.bad) == (status, False)


def test_one_that_cuts_and_one_that_refuses_differ() -> None:
    assert [f.bad for f in manners.compare(refusals(), refusals(long=200))] == [True]
    assert manners.compare(refusals(long=200), refusals(long=200)) == []
