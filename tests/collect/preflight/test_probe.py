"""A whole preflight against servers that do as they are told, and others."""

from __future__ import annotations

import asyncio
import json

import pytest

from evalkit.collect.preflight import ProbeOptions, ProbeRecord, compare_records, probe, read_record
from evalkit.errors import BadRequest, ConnectError, EndpointError, ServerError
from evalkit.types import Identity, Message, Reply, Sampling, Timing, Usage
from tests.collect.builders import FakeSleep
from tests.collect.preflight.looking import by_code, look, look_at, named
from tests.servers.fake import FakeServer, Fault, Script
from tests.servers.manners import obey


def test_a_sound_endpoint_has_nothing_against_it() -> None:
    record = look_at(Script())
    assert record.bad == ()
    assert [f for f in record.findings if f.status == "failed"] == []
    found = by_code(record.findings)
    for code in ("reach", "identity", "answer", "usage", "repeats", "seed", "stop", "stream"):
        assert found[code].status == "ok", found[code]
    assert found["broken_body"].status == "ok"
    assert found["logprobs"].status == "not_testable"
    assert record.identity.model == "fake"
    assert record.identity.canary_hash is not None
    assert record.cost.requests <= 20


def test_every_failure_has_its_evidence() -> None:
    record = look_at(Script(), extra_body={"stop": []})
    finding = by_code(record.findings)["stop"]
    assert finding.status == "failed"
    assert finding.evidence["request"]["stop"] == ["sentences"]
    assert "sentences" in finding.evidence["text"]


@pytest.mark.parametrize("kind", ["429", "503", "reset", "cut"])
def test_what_heals_is_tried_again(kind: str) -> None:
    assert look_at(Script(faults=(Fault(kind, times=2),))).bad == ()


def test_what_does_not_heal_is_raised() -> None:
    with FakeServer(Script(faults=(Fault("500"),))) as server:
        with pytest.raises(ServerError, match="something broke"):
            look(server.url)
        assert len(server.log) <= 5
    with pytest.raises(ConnectError):
        look(server.url)


@pytest.mark.parametrize("kind", ["400", "401", "404", "error-200", "no-choices"])
def test_what_cannot_heal_is_raised_soon(kind: str) -> None:
    with FakeServer(Script(faults=(Fault(kind),))) as server:
        with pytest.raises(EndpointError):
            look(server.url)
        assert len(server.log) <= 4


@pytest.mark.parametrize(
    "script", [Script(faults=(Fault("null"),)), Script(message={"content": ""})]
)
def test_no_text_is_a_failed_finding(script: Script) -> None:
    assert by_code(look_at(script).findings)["answer"].status == "failed"


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ("Unrecognized request arguments supplied: top_k, min_p", ["min_p", "top_k"]),
        ("property 'repetition_penalty' is unsupported", ["repetition_penalty"]),
        ("seed: Extra inputs are not permitted", ["seed"]),
    ],
)
def test_a_field_that_is_refused_is_left_out(said: str, fields: list[str]) -> None:
    with FakeServer(Script(refuses={field: said for field in fields})) as server:
        record = look(server.url)
        asked = [entry["body"] for entry in server.log[1:]]
    assert sorted(record.refused) == fields
    assert by_code(record.findings)["refused_fields"].status == "ok"
    assert record.bad == ()
    assert not [body for body in asked[1:] if set(fields) & set(body)]


def test_the_temperature_is_never_left_out() -> None:
    said = "temperature is not supported"
    with (
        FakeServer(Script(refuses={"temperature": said})) as server,
        pytest.raises(BadRequest, match="temperature is not supported"),
    ):
        look(server.url)


def test_a_server_that_dies_of_bad_input_is_found() -> None:
    with FakeServer(Script(fragile=True)) as server:
        record = look(server.url)
    finding = by_code(record.findings)["alive"]
    assert finding.bad
    assert "no longer answers" in finding.message


def test_two_alike_raise_the_question_and_do_not_block_without_numbers() -> None:
    record = look_at(Script())
    found = by_code(compare_records(record, named(record, "other")))
    assert found["same_answers"].status == "differs"
    assert not found["same_answers"].bad
    assert not [f for f in found.values() if f.bad]


def test_a_record_survives_the_header() -> None:
    record = look_at(Script())
    data = json.loads(json.dumps(record.plain(), ensure_ascii=False, allow_nan=False))
    again = read_record(data, record.identity)
    assert again is not None
    assert json.loads(json.dumps(again.plain())) == data
    tagged = {"style": "tags", "tags": ["<think>"], "texts": ["x"]}
    other = named(again, "other", {"reasoning": tagged})
    assert by_code(compare_records(record, other))["reasoning"].bad


@pytest.mark.parametrize("damage", ["version", "seen", "cost", "findings"])
def test_a_damaged_record_is_none(damage: str) -> None:
    record = look_at(Script())
    data = {**record.plain(), damage: 3}
    assert read_record(data, record.identity) is None
    assert read_record(None, record.identity) is None


@pytest.mark.parametrize("streams", [False, True])
def test_a_broken_stream_counts_only_where_answers_are_streamed(streams: bool) -> None:
    script = Script(faults=(Fault("sse-no-done", match="lighthouse"),))
    with FakeServer(script) as server:
        finding = by_code(look(server.url, ProbeOptions(streams=streams)).findings)["stream"]
    assert finding.status == "failed"
    assert "[DONE]" in finding.message
    assert finding.bad is streams


def test_a_field_that_has_another_name_gets_a_hint() -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with (
        FakeServer(Script(refuses={"max_tokens": said})) as server,
        pytest.raises(BadRequest) as raised,
    ):
        look(server.url)
    assert "omit: [max_tokens]" in str(raised.value)


def test_reasoning_in_tags_is_neither_noise_nor_an_answer() -> None:
    thought = {"content": "<think>\nSo, a lighthouse.\n</think>\n\nOnce upon a time it shone."}
    record = look_at(Script(message=thought, refuses={"logprobs": "logprobs are not supported"}))
    found = by_code(record.findings)
    assert "3 of 3" in found["repeats"].message
    assert found["reasoning"].status == "ok"
    assert [canary.stable for canary in record.canaries] == [True, True]
    apart = look_at(Script(message={"content": "Once", "reasoning_content": "So, a lighthouse."}))
    (between,) = [f for f in compare_records(record, apart) if f.code == "reasoning"]
    assert between.bad


@pytest.mark.parametrize(
    "content", ["\x1b[31mred\u202e", "half \ud83d of it", "x" * 200_000, "\x00", "🎉" * 5000]
)
def test_hostile_answers_do_no_harm(content: str) -> None:
    record = look_at(Script(message={"content": content}))
    data = json.dumps(record.plain(), ensure_ascii=False, allow_nan=False)
    data.encode("utf-8")
    assert len(data) < 400_000
    assert read_record(json.loads(data), record.identity) is not None


class Closed:
    """An endpoint that answers and shows nothing else."""

    name = label = "closed"

    async def __aenter__(self) -> Closed:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def identity(self) -> Identity:
        return Identity(kind="closed", model="m")

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        text, finish, tokens = obey(
            f"echo: {messages[-1].content}",
            {
                "max_tokens": sampling.max_tokens,
                "stop": sampling.stop,
                "temperature": sampling.temperature,
                "seed": sampling.seed,
            },
        )
        return Reply(text, None, finish, Usage(9, tokens), Timing(0.0, 0.1))


def test_what_a_kind_of_endpoint_does_not_show_is_not_testable() -> None:
    record = asyncio.run(probe(Closed(), ProbeOptions(streams=True), FakeSleep()))
    assert [f for f in record.findings if f.status in ("failed", "differs")] == []
    found = by_code(record.findings)
    assert found["stop"].status == "ok"
    for code in ("sampling", "stream", "bad_input", "context", "logprobs", "max_tokens"):
        assert found[code].status == "not_testable", found[code]
    assert not [f for f in compare_records(record, named(record, "other")) if f.bad]


def test_a_record_without_texts_holds_no_word_and_still_compares() -> None:
    record = look_at(Script(message={"content": "glimmerwort, said the quorblex of the wards"}))
    other = named(look_at(Script(message={"content": "brindlemoor"})), "other")
    hidden = record.without_texts()
    told = json.dumps(hidden.plain(), ensure_ascii=False)
    assert [word for word in ("glimmerwort", "quorblex", "wards") if word in told] == []

    def statuses(a: ProbeRecord, b: ProbeRecord) -> list[tuple[str, str]]:
        return [(finding.code, finding.status) for finding in compare_records(a, b)]

    assert statuses(hidden, named(hidden, "twin")) == statuses(record, named(record, "twin"))
    assert statuses(hidden, other.without_texts()) == statuses(record, other)
    assert [f.code for f in hidden.bad] == [f.code for f in record.bad]
