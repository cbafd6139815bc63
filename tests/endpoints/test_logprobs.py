from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.logprobs import read_logprobs
from evalkit.types import Logprobs

CHAT = {
    "content": [
        {
            "token": "Yes",
            "logprob": -0.1234567,
            "bytes": [89],
            "top_logprobs": [
                {"token": "No", "logprob": -2.5},
                {"token": "Yes", "logprob": -0.1234567},
            ],
        },
        {"token": "�", "logprob": None, "top_logprobs": []},
    ]
}
PLAIN = {
    "tokens": ["Yes", "�"],
    "token_logprobs": [-0.1234567, None],
    "top_logprobs": [{"No": -2.5, "Yes": -0.1234567}, None],
    "text_offset": [0, 3],
}
READ = Logprobs(
    tokens=("Yes", "�"),
    logprobs=(-0.123457, None),
    top=((("Yes", -0.123457), ("No", -2.5)), ()),
)


@pytest.mark.parametrize("data", [CHAT, PLAIN])
def test_both_shapes_are_one(data: Any) -> None:
    assert read_logprobs(data) == READ


def test_two_tokens_of_one_text_stay_two() -> None:
    same = [{"token": "�", "logprob": -1.0}, {"token": "�", "logprob": -2.0}]
    found = read_logprobs({"content": [{"token": "�", "logprob": -1.0, "top_logprobs": same}]})
    assert found is not None
    assert found.top == ((("�", -1.0), ("�", -2.0)),)


def test_without_likeliest_tokens() -> None:
    only = {"tokens": ["a"], "token_logprobs": [-1], "top_logprobs": None}
    chat = {"content": [{"token": "a", "logprob": -1}]}
    expected = Logprobs(tokens=("a",), logprobs=(-1.0,), top=None)
    assert read_logprobs(only) == read_logprobs(chat) == expected


def test_redaction_leaves_no_token() -> None:
    assert READ.without_tokens() == Logprobs(tokens=None, logprobs=READ.logprobs, top=None)


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.just(10**400) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["content", "tokens", "token_logprobs", "top_logprobs", "token", "logprob"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(values)
def test_an_answer_is_never_lost_for_it(data: Any) -> None:
    found = read_logprobs(data)
    if found is not None:
        assert found.tokens is not None
        assert len(found.tokens) == len(found.logprobs)
        assert found.top is None or len(found.top) == len(found.tokens)
