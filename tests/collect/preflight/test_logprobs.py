from __future__ import annotations

import math
from typing import Any

import pytest

from evalkit.collect.preflight.choices import Choice, Token, read_choice
from evalkit.collect.preflight.logprobs import compare, findings, observe, same_numbers

WORDS = ["Once", " upon", " a", " time", " there", " was"]


def row(word: str, spread: float = 1.0, shift: float = 0.0) -> Token:
    values = [-1.0, -2.0, -3.0, -4.0, -5.0]
    top = tuple((f"{word}{k}" if k else word, spread * v + shift) for k, v in enumerate(values))
    return Token(word, top[0][1], top)


def choice(spread: float = 1.0, shift: float = 0.0, words: list[str] = WORDS) -> Choice:
    return Choice(
        content="".join(WORDS),
        shape="content",
        tokens=tuple(row(word, spread, shift) for word in words),
    )


def seen(*choices: Choice) -> dict[str, Any]:
    return observe(choices or (choice(), choice()))


def test_the_numbers_of_a_model_are_fine() -> None:
    assert [f.status for f in findings(seen())] == ["ok"]


def test_none_are_not_testable() -> None:
    nothing = observe([Choice(content="x"), Choice(content="x")])
    assert [f.status for f in findings(nothing)] == ["not_testable"]
    assert compare(nothing, nothing) == []
    assert same_numbers(nothing, seen()) is None
    (finding,) = compare(seen(), nothing)
    assert (finding.status, finding.bad) == ("differs", False)


TOTAL = math.log(sum(math.exp(-k / 2) for k in range(1, 6)))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (choice(words=[*WORDS[1:], "!"]), "do not spell"),
        (choice(shift=1.5), "positive"),
        (choice(0.5), "more than one"),
        (choice(0.5, -TOTAL), "sum to one"),
    ],
    ids=["shifted", "positive", "too much", "renormalized"],
)
def test_others_are_found_and_told_apart(broken: Choice, words: str) -> None:
    (finding,) = findings(seen(broken, broken))
    assert finding.status == "failed"
    assert words in finding.message
    assert not finding.bad
    (between,) = compare(seen(), seen(broken, broken))
    assert between.bad
    assert [f.status for f in compare(seen(broken, broken), seen(broken, broken))] == ["ok"]


@pytest.mark.parametrize(("spread", "status"), [(1.44, "differs"), (1.1, "ok"), (0.9, "ok")])
def test_another_base_is_a_scale(spread: float, status: str) -> None:
    one, other = choice(shift=-0.2), choice(spread, shift=-0.2)
    (finding,) = compare(seen(one, one), seen(other, other))
    assert finding.status == status, finding


def test_damage_that_scatters_is_no_scale() -> None:
    """nf4 of a small model: its likeliest tokens are closer together, each in its own way."""
    values = [-1.5, -1.9, -3.1, -1.7, -4.4]
    top = tuple((f"Once{k}" if k else "Once", value) for k, value in enumerate(values))
    coarse = Choice(content="Once", shape="content", tokens=(Token("Once", -1.5, top),))
    (finding,) = compare(seen(), seen(coarse, coarse))
    assert finding.status == "ok", finding


def test_the_very_same_numbers_are_one_model() -> None:
    assert same_numbers(seen(), seen()) is True
    assert same_numbers(seen(), seen(choice(shift=-0.02), choice(shift=-0.02))) is False
    # As noisy as each of them is by itself, they may still be one.
    noisy = seen(choice(), choice(shift=-0.002))
    assert same_numbers(noisy, seen(choice(shift=-0.001), choice())) is True


def test_both_shapes_are_read() -> None:
    lists = {
        "choices": [
            {
                "text": "ab",
                "logprobs": {
                    "tokens": ["a", "b"],
                    "token_logprobs": [None, -0.5],
                    "top_logprobs": [None, {"b": -0.5, "c": -2}],
                },
            }
        ]
    }
    found = read_choice(lists)
    assert (found.shape, found.content) == ("lists", "ab")
    assert found.tokens[1] == Token("b", -0.5, (("b", -0.5), ("c", -2.0)))


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        {"choices": None},
        {"choices": [7]},
        {"choices": [{"message": 7, "logprobs": 7}]},
        {"choices": [{"message": {"content": 7}, "logprobs": {"content": [7, {"token": None}]}}]},
        {"choices": [{"text": "a", "logprobs": {"tokens": [1], "token_logprobs": ["x"]}}]},
        {"usage": {"prompt_tokens": True}, "choices": [{}]},
    ],
)
def test_whatever_a_server_sends_is_read(data: Any) -> None:
    found = read_choice(data)
    assert found.prompt_tokens is None
    assert observe([found, found])["shape"] in (None, "content", "lists")
