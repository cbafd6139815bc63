from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit.collect.records import decode, encode
from evalkit.types import Logprobs
from tests.collect.builders import completion

TOP = ((("yes", -0.5), ("no", -1.0)), ())


@pytest.mark.parametrize(
    "found",
    [
        Logprobs(("yes", "!"), (-0.5, None), TOP),
        Logprobs(("yes",), (-0.5,)),
        Logprobs(("yes",), (-0.5,), TOP[:1]).without_tokens(),
    ],
)
def test_log_probabilities_come_back(found: Logprobs) -> None:
    record = replace(completion(0), logprobs=found)
    assert decode(encode(record)) == record


def test_a_record_from_before_there_were_any() -> None:
    line = encode(completion(0)).replace(b',"logprobs":null', b"")
    assert b"logprobs" not in line
    assert decode(line) == completion(0)


def test_half_a_character_in_a_token() -> None:
    found = Logprobs(("\ud800",), (-0.5,))
    assert decode(encode(replace(completion(0), logprobs=found))).logprobs == Logprobs(
        ("�",), (-0.5,)
    )
