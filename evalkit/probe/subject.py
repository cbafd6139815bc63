"""An endpoint that is ready to be measured: what it is, what it holds, how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.collect.preflight.answering import first_answer
from evalkit.collect.preflight.asking import Asker, persist
from evalkit.collect.preflight.findings import ProbeOptions
from evalkit.endpoints.base import Endpoint, Timed, TimedReply
from evalkit.errors import BadRequest, ContextLengthError, UsageError
from evalkit.performance import Remark
from evalkit.probe.load import Asking
from evalkit.probe.memory import MemoryWatch
from evalkit.probe.rounds import Runner
from evalkit.types import Identity, Message, Sampling

# Every answer gets its full length: servers read one of these, or both.
_FULL_LENGTH: Mapping[str, Any] = {"ignore_eos": True}
_NO_USAGE: Mapping[str, Any] = {"stream_options": None}


@dataclass(frozen=True, slots=True)
class Subject:
    """One arm, found out about.

    Attributes:
        runner: What is measured.
        asker: For single questions beside the measurement.
        remarks: What a reader must know of how it is asked.
    """

    label: str
    identity: Identity
    runner: Runner
    asker: Asker
    remarks: tuple[Remark, ...]

    @property
    def name(self) -> str:
        """The arm's name."""
        return self.runner.name

    async def count(self, messages: tuple[Message, ...]) -> int | None:
        """Tell how many tokens a prompt has: by its usage, else by its tokenizer's page.

        Raises:
            EndpointError: When it does not answer.
        """
        sampling = Sampling(max_tokens=1)
        reply = await persist(
            lambda: self.asker.endpoint.send(messages, sampling), self.asker.sleep
        )
        if reply.usage.prompt_tokens is not None:
            return reply.usage.prompt_tokens
        ids = await self.asker.rendered(messages)
        return None if ids is None else len(ids)


async def get_to_know(
    name: str, endpoint: Endpoint, output_tokens: int, grown_from: int
) -> Subject:
    """Find out what an endpoint is and which fields it takes.

    Args:
        name: Of the arm.
        endpoint: Opened.
        output_tokens: Tokens of each answer.
        grown_from: Bytes that this process held before the endpoint was opened.

    Raises:
        EndpointError: When it cannot be used.
        UsageError: When its kind tells no times.
    """
    if not isinstance(endpoint, Timed):
        raise UsageError(f"Endpoint '{name}' is of a kind that tells no times.")
    asker = Asker(endpoint, await endpoint.identity(), ProbeOptions())
    _, refused = await first_answer(asker)
    sampling = Sampling(max_tokens=output_tokens)
    extra = await _accepted(asker, endpoint, output_tokens)
    remarks = []
    if refused:
        remarks.append(Remark("OMITTED", {"endpoint": name, "fields": ", ".join(refused)}))
    if "ignore_eos" not in extra:
        remarks.append(Remark("ENDS_EARLY", {"endpoint": name}))
    memory = MemoryWatch(endpoint, asker.identity, grown_from)
    runner = Runner(name, Asking(endpoint, sampling, extra), memory)
    return Subject(endpoint.label, asker.identity, runner, asker, tuple(remarks))


async def _accepted(asker: Asker, endpoint: Timed, output_tokens: int) -> Mapping[str, Any]:
    """Find the fields that a server takes, of those that keep an answer from ending early.

    Raises:
        EndpointError: When it takes no stream at all.
    """
    question = (Message("user", "Say yes."),)
    sampling = Sampling(max_tokens=1)
    whole: tuple[Mapping[str, Any], ...] = (
        {**_FULL_LENGTH, "min_tokens": output_tokens},
        _FULL_LENGTH,
        {},
    )
    wanted = [{**fields, **usage} for usage in ({}, _NO_USAGE) for fields in whole]
    refusal: BadRequest | None = None
    for extra in wanted:
        tried = {**extra, "min_tokens": 1} if "min_tokens" in extra else extra

        async def ask(fields: Mapping[str, Any] = tried) -> TimedReply:
            return await endpoint.send_timed(question, sampling, fields)

        try:
            await persist(ask, asker.sleep)
        except ContextLengthError:
            raise
        except BadRequest as error:
            refusal = error
            continue
        return extra
    assert refusal is not None
    raise refusal
