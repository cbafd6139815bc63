from __future__ import annotations

from typing import Any

import orjson
import pytest

from evalkit.endpoints.wire import (
    chat_payload,
    cut_at_stop,
    error_text,
    parse_json,
    parse_replies,
    parse_reply,
    whole_text,
)
from evalkit.errors import CutBody, ProtocolError
from evalkit.types import DraftCounts, Message, Reply, Sampling, Timing, Usage

TIMING = Timing(started=1.0, total=2.0)


def reply(message: dict[str, Any], **more: Any) -> Reply:
    choice = {"message": message, "finish_reason": "stop"}
    return parse_reply({"choices": [choice], **more}, TIMING)


def test_every_sampling_field_is_sent() -> None:
    sampling = Sampling(
        max_tokens=7,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        min_p=0.1,
        repetition_penalty=1.1,
        presence_penalty=0.2,
        frequency_penalty=0.3,
        seed=42,
        stop=("END",),
    )
    payload = chat_payload("m", (Message("user", "hi"),), sampling, extra={}, omit=())
    assert payload == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.1,
        "repetition_penalty": 1.1,
        "repeat_penalty": 1.1,
        "presence_penalty": 0.2,
        "frequency_penalty": 0.3,
        "seed": 42,
        "stop": ["END"],
        "stream": False,
    }


def test_extra_wins_and_omit_takes_out() -> None:
    sampling = Sampling(max_tokens=7)
    payload = chat_payload(
        "m", (), sampling, extra={"max_tokens": 9, "n": 1}, omit=("top_k", "min_p")
    )
    assert (payload["max_tokens"], payload["n"]) == (9, 1)
    assert "stop" not in payload
    assert not {"top_k", "min_p"} & set(payload)


def test_null_stays_null_and_empty_stays_empty() -> None:
    assert reply({"content": None}).text is None
    assert reply({}).text is None
    assert reply({"content": ""}).text == ""


def test_usage_model_and_finish_reason() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    got = reply({"content": "x"}, usage=usage, model="m")
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (3, 4)
    assert (got.model, got.finish_reason, got.timing) == ("m", "stop", TIMING)
    assert reply({"content": "x"}).usage.prompt_tokens is None


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_fields(key: str) -> None:
    got = reply({"content": "42", key: "let me see"})
    assert (got.text, got.reasoning) == ("42", "let me see")


def test_content_in_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert reply({"content": parts}).text == "ab"
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    got = reply({"content": [thinking, *parts]})
    assert (got.text, got.reasoning) == ("ab", "hm")


@pytest.mark.parametrize("content", [42, True, {"text": "a"}, [1], [None, "a"]])
def test_content_that_is_no_text_is_no_answer(content: Any) -> None:
    with pytest.raises(ProtocolError, match="no text"):
        reply({"content": content})
    choice = {"text": content, "finish_reason": "stop"}
    with pytest.raises(ProtocolError, match="no text"):
        parse_replies({"choices": [choice]}, TIMING, plain=True)


def test_parts_may_be_plain_texts_and_no_parts_are_null() -> None:
    assert reply({"content": ["a", {"type": "text", "text": "b"}]}).text == "ab"
    assert reply({"content": []}).text is None


def test_both_names_of_the_same_reasoning_are_not_doubled() -> None:
    got = reply({"content": "42", "reasoning": "hm", "reasoning_content": "hm"})
    assert got.reasoning == "hm"


def test_reasoning_alone_is_a_cut_answer_without_text() -> None:
    choice = {"message": {"content": None, "reasoning": "hm"}, "finish_reason": "length"}
    got = parse_reply({"choices": [choice]}, TIMING)
    assert (got.text, got.reasoning, got.finish_reason) == (None, "hm", "length")


def test_streaming_asks_for_token_counts() -> None:
    payload = chat_payload("m", (), Sampling(max_tokens=7), extra={}, omit=(), stream=True)
    assert (payload["stream"], payload["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize(
    ("text", "stops", "cut", "finish"),
    [
        ("a END b", ("END",), "a ", "stop"),
        ("a STOP b END", ("END", "STOP"), "a ", "stop"),
        ("a b", ("END", ""), "a b", "length"),
        ("END", ("END",), "", "stop"),
        (None, ("END",), None, "length"),
    ],
)
def test_stops_apply_to_the_answer_alone(
    text: str | None, stops: tuple[str, ...], cut: str | None, finish: str
) -> None:
    choice = {
        "message": {"content": text, "reasoning": "END of thoughts"},
        "finish_reason": "length",
    }
    got = cut_at_stop(parse_reply({"choices": [choice]}, TIMING), stops)
    assert (got.text, got.finish_reason, got.reasoning) == (cut, finish, "END of thoughts")


@pytest.mark.parametrize(
    "data",
    [
        {"error": {"message": "engine died"}},
        {"error": "engine died"},
        {"choices": []},
        {"choices": None},
        {},
        [],
        "text",
        {"choices": [{"text": "no message"}]},
        {"choices": ["x"]},
    ],
)
def test_what_is_no_answer_never_becomes_one(data: Any) -> None:
    with pytest.raises(ProtocolError):
        parse_reply(data, TIMING)


def test_error_words_reach_the_reader() -> None:
    with pytest.raises(ProtocolError, match="engine died"):
        parse_reply({"error": {"message": "engine died"}}, TIMING)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"choices": [', b"\xff\xfe", b"{} {}", b"[" * 100_000, b"\x1b[2J"]
)
def test_no_json(body: bytes) -> None:
    with pytest.raises(CutBody) as caught:
        parse_json(body)
    assert len(str(caught.value)) < 400
    assert "\x1b" not in str(caught.value)


def test_words_of_a_server_cannot_steer_a_terminal() -> None:
    assert error_text({"error": {"message": "a\x1b[31m\r\n\x00b\x9b"}}) == "a [31m b"


@pytest.mark.parametrize("count", [True, -1, 2**64, 1.5, "3", None])
def test_token_counts_that_are_none(count: Any) -> None:
    got = reply({"content": "x"}, usage={"prompt_tokens": count, "completion_tokens": count})
    assert got.usage == Usage()


def test_what_llamacpp_tells_of_drafts() -> None:
    timings = {"draft_n": 16, "draft_n_accepted": 4}
    assert reply({"content": "x"}, timings=timings).draft == DraftCounts(16, 4)
    assert reply({"content": "x"}).draft is None


@pytest.mark.parametrize(
    "timings",
    [
        None,
        [],
        {"draft_n": 4},
        {"draft_n": 4, "draft_n_accepted": 5},
        {"draft_n": -4, "draft_n_accepted": -5},
        {"draft_n": True, "draft_n_accepted": False},
        {"draft_n": 2.5, "draft_n_accepted": 1},
        {"draft_n": 2**60, "draft_n_accepted": 1},
    ],
)
def test_counts_of_drafts_that_are_none(timings: Any) -> None:
    assert reply({"content": "x"}, timings=timings).draft is None


def test_lone_surrogates_become_replacement_characters() -> None:
    body = rb'{"choices": [{"message": {"content": "a\ud83d b \ud83d\ude00"}}]}'
    text = parse_reply(parse_json(body), TIMING).text
    assert text == "a� b \U0001f600"
    orjson.dumps(text)


def test_whole_text_leaves_text_alone() -> None:
    assert whole_text("é 中文 \U0001f600 \x00") == "é 中文 \U0001f600 \x00"
