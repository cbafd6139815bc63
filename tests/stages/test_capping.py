from __future__ import annotations

from dataclasses import replace

from evalkit.stages.capping import capped
from evalkit.types import Completion, Usage
from tests.collect.builders import completion, requests


def cut(number: int, tokens: int | None, finish: str = "length") -> Completion:
    request = requests(20)[number]
    usage = Usage(prompt_tokens=5, completion_tokens=tokens)
    done = replace(completion(number), fingerprint=request.fingerprint, finish_reason=finish)
    return replace(done, usage=usage)


def asked(max_tokens: int = 64) -> list[object]:
    return [
        replace(request, sampling=replace(request.sampling, max_tokens=max_tokens))
        for request in requests(20)
    ]


def codes(*done: Completion, max_tokens: int = 64) -> list[str]:
    return [code.values["message"] for code in capped("a", asked(max_tokens), done)]  # type: ignore[arg-type]


def test_answers_that_end_together_before_their_bound_were_capped() -> None:
    (message,) = codes(*(cut(number, 32) for number in range(4)), cut(5, 64))
    assert message == "4 answers were cut off at 32 tokens, where more were allowed."


def test_other_ends_are_none() -> None:
    assert codes(*(cut(number, 64) for number in range(9))) == []
    assert codes(*(cut(number, 63) for number in range(9))) == []
    assert codes(*(cut(number, 32, "stop") for number in range(9))) == []
    assert codes(*(cut(number, None) for number in range(9))) == []
    # As when each fills the context behind a prompt of its own length.
    assert codes(*(cut(number, 30 + number) for number in range(9))) == []
    assert codes(cut(0, 32), cut(1, 32)) == []
    assert codes() == []
