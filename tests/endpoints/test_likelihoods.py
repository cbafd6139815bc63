"""How likely given texts are: vLLM's way, llama.cpp's way, and servers that do neither."""

from __future__ import annotations

import asyncio
import json
import math
import urllib.request
from collections.abc import Mapping
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.likelihoods import Likelihood, Likelihoods, is_measured, pairs
from evalkit.errors import BadRequest, NotFoundError, ProtocolError, UnsupportedError
from evalkit.types import CONTINUATION, Message, Sampling
from tests.servers.embedded import needs_model, served

WORDS = {"tokens": ["Paris", " is", " in", " France", " end"]}
ECHO = {
    "choices": [
        {
            "text": "Paris is in France end",
            "logprobs": {
                **WORDS,
                "token_logprobs": [None, -1.0, -0.5, -2.0, -9.0],
                "top_logprobs": [None, {" is": -1.0}, {" in": -0.5}, {" a": -1.5}, {" end": -9.0}],
                "text_offset": [0, 5, 8, 11, 18],
            },
        }
    ]
}


def ask(post: Any, context: str = "Paris is", text: str = " in France") -> Likelihood:
    asked = Likelihoods("m", "http://h/v1/completions", "http://h", post)
    return asyncio.run(asked.of(context, text))


def test_a_server_that_repeats_the_prompt() -> None:
    sent: list[Mapping[str, Any]] = []

    async def post(url: str, body: Mapping[str, Any]) -> Any:
        sent.append(body)
        return ECHO

    assert ask(post) == Likelihood(-2.5, greedy=False)
    (body, *_) = sent
    assert (body["prompt"], body["echo"], body["logprobs"]) == ("Paris is in France", True, 1)


def test_blanks_before_the_text_are_part_of_it() -> None:
    async def post(url: str, body: Mapping[str, Any]) -> Any:
        return ECHO

    # " in" begins within the prompt's last blank, as tokens do.
    assert ask(post, "Paris is ", "in France") == Likelihood(-2.5, greedy=False)


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"text": " end", "logprobs": None}]},
        {"choices": [{"text": " end", "logprobs": ECHO["choices"][0]["logprobs"]}]},
        {"choices": [{"text": "Paris is in France", "logprobs": {"content": []}}]},
        {"choices": []},
        {
            "choices": [
                {
                    **ECHO["choices"][0],
                    "logprobs": {**WORDS, "token_logprobs": [], "top_logprobs": []},
                }
            ]
        },
        {
            "choices": [
                {
                    "text": "Paris is in France end",
                    "logprobs": {
                        **ECHO["choices"][0]["logprobs"],
                        "token_logprobs": [None, -1.0, None, math.nan, -9.0],
                    },
                }
            ]
        },
    ],
)
def test_a_server_that_does_neither_is_told_once_and_for_all(answer: Any) -> None:
    async def post(url: str, body: Mapping[str, Any]) -> Any:
        if url.endswith("/v1/completions"):
            return answer
        raise NotFoundError("no such page")

    with pytest.raises(UnsupportedError, match="no log-probabilities of a prompt"):
        ask(post)


@pytest.mark.parametrize("page", [{"tokens": "none"}, [], {"tokens": [1, "2"]}])
def test_a_page_that_is_not_llama_cpps(page: Any) -> None:
    async def post(url: str, body: Mapping[str, Any]) -> Any:
        if url.endswith("/v1/completions"):
            raise ProtocolError("no echo")
        return page

    with pytest.raises(UnsupportedError):
        ask(post)


def test_after_the_first_text_a_failure_is_of_one_prompt() -> None:
    answers = iter([ECHO, {"choices": []}])

    async def post(url: str, body: Mapping[str, Any]) -> Any:
        return next(answers)

    async def both() -> None:
        asked = Likelihoods("m", "http://h/v1/completions", "http://h", post)
        await asked.of("Paris is", " in France")
        with pytest.raises(ProtocolError):
            await asked.of("Paris is", " in France")

    asyncio.run(both())


def test_each_text_belongs_to_the_prompt_before_it() -> None:
    messages = (
        Message("user", "a"),
        Message(CONTINUATION, " 1"),
        Message(CONTINUATION, " 2"),
        Message("user", "b"),
        Message(CONTINUATION, " 1"),
    )
    assert pairs(messages) == [("a", " 1"), ("a", " 2"), ("b", " 1")]
    assert is_measured(messages)
    assert not is_measured(messages[:1])


@needs_model
@pytest.mark.model
def test_the_embedded_engine_agrees_with_what_it_says_of_the_likeliest_tokens() -> None:
    context, texts = "The capital of France is", (" Paris", " Rome", " a city")
    messages = (Message("user", context), *(Message(CONTINUATION, text) for text in texts))
    with served("q8") as url:
        raw = {"kind": "openai", "base_url": url, "model": "q8", "api_key_env": ""}
        endpoint = parse_endpoint("q8", raw, EndpointOptions())

        async def send() -> str | None:
            async with endpoint:
                return (await endpoint.send(messages, Sampling(max_tokens=1))).text

        found = json.loads(asyncio.run(send()) or "")
        body = {"prompt": context, "n_predict": 1, "temperature": 0, "n_probs": 5000}
        request = urllib.request.Request(
            f"{url}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            (place,) = json.load(answer)["completion_probabilities"]
    likely = {one["token"]: one["logprob"] for one in place["top_logprobs"]}
    assert [found[n][0] for n in (0, 1)] == pytest.approx(
        [likely[" Paris"], likely[" Rome"]], abs=0.02
    )
    best = max(likely, key=lambda token: likely[token])
    assert [found[n][1] for n in (0, 1)] == [best == " Paris", best == " Rome"]
    # Two tokens are less likely than the first of them.
    assert found[2][0] < likely[" a"]


def test_a_refusal_of_the_prompt_itself_is_no_lack() -> None:
    async def post(url: str, body: Mapping[str, Any]) -> Any:
        if url.endswith("/v1/completions"):
            raise BadRequest("prompt too long")
        raise NotFoundError("no such page")

    with pytest.raises(UnsupportedError) as raised:
        ask(post)
    assert isinstance(raised.value.__cause__, BadRequest)
