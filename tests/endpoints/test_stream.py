from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.failures import error_in_body
from evalkit.endpoints.stream import ReplyStream
from evalkit.endpoints.wire import parse_reply
from evalkit.errors import CutBody, ProtocolError, ServerError
from evalkit.types import Reply, Timing, Usage
from tests.servers.faults import chunks, sse

TIMING = Timing(started=1.0, total=2.0)


def read(parts: Sequence[bytes]) -> Reply:
    stream = ReplyStream()
    for part in parts:
        if stream.feed(part):
            break
    return parse_reply(stream.document(), TIMING)


def delta(finish: str | None = None, **more: Any) -> bytes:
    return sse({"choices": [{"index": 0, "delta": more, "finish_reason": finish}]})


ANSWERS = st.builds(
    lambda content, reasoning, finish, usage: {
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"content": content, "reasoning_content": reasoning},
                "finish_reason": finish,
            }
        ],
        "usage": usage,
    },
    st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
    st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
    st.sampled_from(["stop", "length"]),
    st.one_of(st.none(), st.just({"prompt_tokens": 3, "completion_tokens": 4})),
)


@given(ANSWERS, st.sampled_from(["\n", "\r", "\r\n"]), st.data())
def test_any_cutting_gives_the_reply_that_is_not_streamed(
    answer: dict[str, Any], end: str, data: st.DataObject
) -> None:
    lines = [
        chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)
        for chunk in chunks(answer, usage=True)
    ]
    stream = "".join(f"data: {line}{end}{end}" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    parts = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(parts) == parse_reply(answer, TIMING)


@pytest.mark.parametrize("odd", [{"delta": {"content": 42}}, {"text": 42}])
def test_a_part_that_is_no_text_is_a_hole_in_the_answer(odd: dict[str, Any]) -> None:
    parts = [
        delta(content="a"),
        sse({"choices": [{"index": 0, **odd}]}),
        delta("stop"),
        sse("[DONE]"),
    ]
    with pytest.raises(ProtocolError, match="no text"):
        read(parts)


def test_a_character_in_two_halves_is_whole_again() -> None:
    pair = rb'data: {"choices": [{"delta": {"content": "%s"}}]}' + b"\n\n"
    parts = [pair % rb"a\ud83d", pair % rb"\ude00b", delta("stop"), b"data: [DONE]\n\n"]
    assert read(parts).text == "a\U0001f600b"


def test_the_first_token_is_text_and_neither_a_role_nor_a_ping() -> None:
    now = iter([6.0, 7.0, 8.0])
    stream = ReplyStream(clock=lambda: next(now))
    stream.feed(b": ping\n\n" + delta(role="assistant", content="") + delta(content=None))
    assert stream.first_token is None
    stream.feed(delta(reasoning="hm"))
    stream.feed(delta(content="x") + delta(content="yz"))
    assert stream.first_token == 7.0
    # What comes in one piece came at one time.
    assert (stream.texts, stream.sizes) == ([7.0, 8.0, 8.0], [2, 1, 2])


def test_both_names_of_the_same_reasoning_are_not_doubled() -> None:
    got = read([delta(reasoning="h", reasoning_content="h"), delta("stop", content="x")])
    assert (got.reasoning, got.text) == ("h", "x")


def test_think_tags_are_split_across_parts() -> None:
    parts = [delta(content=piece) for piece in ("<th", "ink>a</", "think>4", "2")]
    got = read([*parts, delta("stop")])
    assert (got.reasoning, got.text) == ("a", "42")


def test_null_stays_null_and_empty_stays_empty() -> None:
    assert read([delta("stop", content=None)]).text is None
    assert read([delta("stop")]).text is None
    assert read([delta("stop", content="")]).text == ""


def test_usage_null_or_missing_is_not_known() -> None:
    end = sse({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})
    null = sse({"choices": [], "usage": None})
    assert read([delta("stop", content="x"), end, null]).usage == Usage(1, 2)
    assert read([delta("stop", content="x"), null]).usage == Usage()


@pytest.mark.parametrize(
    "parts",
    [
        [delta(content="half")],
        [delta(content="half"), b'data: {"choices": [{"delta"'],
        [delta(content="half"), b'data: {"choices\n\n', delta("stop"), sse("[DONE]")],
        [delta(content="half"), b"data: <html>\n\n", delta("stop")],
        [b": ping\n\n"],
    ],
)
def test_what_lacks_something_is_no_answer(parts: list[bytes]) -> None:
    with pytest.raises(CutBody):
        read(parts)


@pytest.mark.parametrize(
    "parts",
    [
        [delta(content="x"), delta("stop")],
        [delta(content="x"), sse("[DONE]")],
        [delta(content="x"), delta("stop"), b"data: [DONE]"],
        [b"data:" + delta(content="x")[6:], b"data:" + delta("stop")[6:]],
        [delta(content="x").replace(b"\n\n", b"\n"), delta("stop").replace(b"\n\n", b"\n")],
        [sse("null"), sse('"ping"'), b"event: ping\ndata: {\n\n", delta("stop", content="x")],
    ],
)
def test_what_servers_do_otherwise_is_read(parts: list[bytes]) -> None:
    assert read(parts).text == "x"


@pytest.mark.parametrize(
    "event",
    [
        sse({"error": {"message": "engine died", "code": 500}}),
        sse({"object": "error", "message": "engine died", "code": 500}),
        b'error: {"message": "engine died", "code": 500}\n\n',
        b'event: error\ndata: {"message": "engine died", "code": 500}\n\n',
        b'event: error\ndata: {"error": {"message": "engine died", "code": "500"}}\n\n',
        sse({"choices": [{"delta": {}, "error": {"message": "engine died", "code": 500}}]})
        + delta("error"),
    ],
)
def test_an_error_behind_some_text_is_an_error(event: bytes) -> None:
    stream = ReplyStream()
    for part in (delta(content="half"), event, sse("[DONE]")):
        stream.feed(part)
    error = error_in_body(stream.document(), "Endpoint 'x'")
    assert isinstance(error, ServerError)
    assert "engine died" in error.message


def test_logprobs_and_plain_completions_are_put_together() -> None:
    one = sse({"choices": [{"text": "a", "logprobs": {"tokens": ["a"]}, "finish_reason": None}]})
    two = sse({"choices": [{"text": "b", "logprobs": {"tokens": ["b"]}, "finish_reason": "stop"}]})
    stream = ReplyStream()
    stream.feed(one + two)
    (choice,) = stream.document()["choices"]
    assert (choice["text"], choice["logprobs"]) == ("ab", {"tokens": ["a", "b"]})


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_reply_or_a_typed_error(junk: bytes) -> None:
    stream = ReplyStream()
    stream.feed(junk)
    try:
        document = stream.document()
    except CutBody:
        return
    assert isinstance(document, dict)
