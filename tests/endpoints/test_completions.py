"""Plain completions, and what chats and completions have in common, at a real server."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.completions import FirstToken
from evalkit.endpoints.openai import OpenAIEndpoint
from evalkit.endpoints.templating import load_template
from evalkit.endpoints.weights import source_path
from evalkit.endpoints.wire import chat_payload, completion_payload
from evalkit.errors import BadRequest, ConfigError, NotFoundError, ServerError
from evalkit.types import Identity, Message, Reply, Sampling
from tests.servers.embedded import needs_model, props, served

OPTIONS = EndpointOptions(request_timeout=120.0)
CAPITAL = (Message("user", "What is the capital of France? Answer with one word."),)
TURNS = (
    Message("system", "Answer briefly. 你好 😀"),
    Message("user", "  Say one.\n\n"),
    Message("assistant", "One."),
    Message("user", "Say two."),
)
Chats = tuple[tuple[Message, ...], ...]


class Asked:
    """An endpoint of each interface at one server."""

    def __init__(self, url: str, template: str) -> None:
        self.raw = {"kind": "openai", "base_url": url, "model": "q8"}
        self.plain = {**self.raw, "api": "completions", "chat_template": template}

    def send(self, raw: dict[str, Any], chats: Chats, sampling: Sampling) -> list[Reply]:
        async def go() -> list[Reply]:
            async with parse_endpoint("mine", raw, OPTIONS) as endpoint:
                return [await endpoint.send(messages, sampling) for messages in chats]

        return asyncio.run(go())

    def choices(self, raw: dict[str, Any], sampling: Sampling, n: int) -> tuple[Reply, ...]:
        async def go() -> tuple[Reply, ...]:
            endpoint = parse_endpoint("mine", raw, OPTIONS)
            assert isinstance(endpoint, OpenAIEndpoint)
            async with endpoint:
                return await endpoint.send_choices(CAPITAL, sampling, n)

        return asyncio.run(go())

    def identity(self, raw: dict[str, Any]) -> Identity:
        async def go() -> Identity:
            async with parse_endpoint("mine", raw, OPTIONS) as endpoint:
                return await endpoint.identity()

        return asyncio.run(go())


@pytest.fixture(scope="module")
def real() -> Iterator[Asked]:
    with served("q8", "--slots", "2") as url:
        yield Asked(url, props(url)["chat_template"])


@needs_model
@pytest.mark.model
class TestRealServer:
    def test_a_chat_and_a_prompt_rendered_here_are_one(self, real: Asked) -> None:
        sampling = Sampling(max_tokens=12, logprobs=2)
        chat = real.send(real.raw, (CAPITAL, TURNS), sampling)
        plain = real.send(real.plain, (CAPITAL, TURNS), sampling)
        for one, other in zip(chat, plain, strict=True):
            assert one.usage.prompt_tokens == other.usage.prompt_tokens
            assert one.usage.prompt_tokens is not None
            assert (one.text, one.finish_reason) == (other.text, other.finish_reason)
            assert one.text
            assert one.logprobs is not None
            assert other.logprobs is not None
            assert one.logprobs.tokens == other.logprobs.tokens

    def test_without_a_template_it_is_another_prompt(self, real: Asked) -> None:
        chat, *_ = real.send(real.raw, (CAPITAL,), Sampling(max_tokens=1))
        bare, *_ = real.send({**real.plain, "chat_template": "plain"}, (CAPITAL,), Sampling(1))
        assert chat.usage.prompt_tokens is not None
        assert bare.usage.prompt_tokens is not None
        assert bare.usage.prompt_tokens < chat.usage.prompt_tokens

    def test_identities_tell_how_it_was_asked(self, real: Asked) -> None:
        chat, plain = real.identity(real.raw), real.identity(real.plain)
        assert chat.template_hash == plain.template_hash, "both are the server's template"
        assert chat.request_hash is None
        more = real.identity({**real.raw, "extra_body": {"top_n_sigma": 1.0}})
        fewer = real.identity({**real.raw, "omit": ["min_p"]})
        hashes = {one.request_hash for one in (chat, plain, more, fewer)}
        assert len(hashes) == 4
        assert "request" not in chat.details
        assert more.details["request"] == {"extra_body": ["top_n_sigma"]}
        assert fewer.details["request"] == {"omit": ["min_p"]}

    def test_logprobs_are_those_of_the_answer(self, real: Asked) -> None:
        for raw in (real.raw, real.plain):
            reply, *_ = real.send(raw, (CAPITAL,), Sampling(max_tokens=6, logprobs=3))
            found = reply.logprobs
            assert found is not None
            assert found.tokens is not None
            assert found.top is not None
            assert "".join(found.tokens) == reply.text
            assert len(found.tokens) == len(found.logprobs) == len(found.top)
            for token, value, likeliest in zip(
                found.tokens, found.logprobs, found.top, strict=True
            ):
                assert value is not None
                assert value <= 0
                # Greedy: the chosen token is the likeliest.
                assert likeliest[0] == (token, value)
                assert len(likeliest) == 3
            without, *_ = real.send(raw, (CAPITAL,), Sampling(max_tokens=6))
            assert without.logprobs is None
            assert without.text == reply.text

    def test_a_streamed_answer_is_the_same(self, real: Asked) -> None:
        sampling = Sampling(max_tokens=6, logprobs=2)
        for raw in (real.raw, real.plain):
            whole, *_ = real.send(raw, (CAPITAL,), sampling)
            streamed, *_ = real.send({**raw, "stream": True}, (CAPITAL,), sampling)
            assert streamed.timing.first_token is not None
            assert (streamed.text, streamed.usage) == (whole.text, whole.usage)
            assert streamed.logprobs == whole.logprobs

    def test_seeds_make_answers_repeatable_and_different(self, real: Asked) -> None:
        for raw in (real.raw, real.plain):
            texts = [
                real.send(raw, (CAPITAL,), Sampling(max_tokens=12, temperature=1.5, seed=seed))[0]
                for seed in (0, 1, 2, 0)
            ]
            first, *others, again = [reply.text for reply in texts]
            assert first == again
            assert len({first, *others}) == 3

    def test_an_answer_ends_before_a_stop_string(self, real: Asked) -> None:
        for raw in (real.raw, real.plain):
            whole = real.send(raw, (CAPITAL,), Sampling(max_tokens=12))[0].text
            assert whole is not None
            stop = whole[4:6]
            cut = real.send(raw, (CAPITAL,), Sampling(max_tokens=12, stop=(stop, "@@")))[0]
            assert cut.text == whole[: whole.index(stop)]
            assert cut.finish_reason == "stop"

    def test_further_fields_reach_the_server(self, real: Asked) -> None:
        forced = {"grammar": 'root ::= "yes"'}
        for raw in (real.raw, real.plain):
            reply, *_ = real.send({**raw, "extra_body": forced}, (CAPITAL,), Sampling(12))
            assert reply.text == "yes"

    def test_a_field_left_out_is_not_sent(self, real: Asked) -> None:
        # The server refuses the value, so an answer shows that it never saw it.
        bad = {**real.raw, "extra_body": {"temperature": "warm"}}
        with pytest.raises(BadRequest):
            real.send(bad, (CAPITAL,), Sampling(4))
        assert real.send({**bad, "omit": ["temperature"]}, (CAPITAL,), Sampling(4))[0].text

    def test_several_choices_of_one_request(self, real: Asked) -> None:
        for raw in (real.raw, real.plain):
            sampling = Sampling(max_tokens=12, temperature=1.5, seed=1)
            one, other = real.choices(raw, sampling, 2)
            assert one.text != other.text
            assert one.usage.completion_tokens is None
            assert one.usage.prompt_tokens == other.usage.prompt_tokens
            with pytest.raises(BadRequest):
                real.choices(raw, sampling, 3)


@needs_model
@pytest.mark.model
def test_a_model_that_wants_a_first_token_gets_one(tmp_path: Path) -> None:
    """The embedded model, told to add its first token: chats have one, and so have prompts."""
    from gguf import GGUFReader

    path = tmp_path / "adds-bos.gguf"
    shutil.copyfile(source_path(), path)
    field = GGUFReader(path, "r+").fields["tokenizer.ggml.add_bos_token"]
    field.parts[field.data[0]][0] = True
    with served(path, "--alias", "q8") as url:
        said = props(url)
        asked = Asked(url, said["chat_template"])
        chat, *_ = asked.send(asked.raw, (TURNS,), Sampling(max_tokens=8))
        naive, *_ = asked.send(asked.plain, (TURNS,), Sampling(max_tokens=8))
        known = {**asked.plain, "chat_template_kwargs": {"bos_token": said["bos_token"]}}
        single, *_ = asked.send(known, (TURNS,), Sampling(max_tokens=8))
    assert naive.usage.prompt_tokens == (chat.usage.prompt_tokens or 0) + 1, "there it is twice"
    assert single.usage == chat.usage
    assert single.text == chat.text


def test_each_interface_asks_for_log_probabilities_in_its_own_way() -> None:
    sampling = Sampling(max_tokens=1, logprobs=5)
    chat = chat_payload("m", CAPITAL, sampling, extra={}, omit=())
    plain = completion_payload("m", "Hi", sampling, special=True, extra={}, omit=())
    assert (chat["logprobs"], chat["top_logprobs"]) == (True, 5)
    assert plain["logprobs"] == 5
    without = replace(sampling, logprobs=None)
    for payload in (
        chat_payload("m", CAPITAL, without, extra={}, omit=()),
        completion_payload("m", "Hi", without, special=True, extra={}, omit=()),
    ):
        assert not {"logprobs", "top_logprobs"} & payload.keys()


def test_no_first_token_is_added_to_one_that_the_template_wrote() -> None:
    plain = completion_payload("m", "<s>Hi", Sampling(1), special=True, extra={}, omit=())
    assert plain["add_special_tokens"] is False
    bare = completion_payload("m", "Hi", Sampling(1), special=False, extra={}, omit=())
    assert "add_special_tokens" not in bare
    omitted = ["add_special_tokens"]
    cloud = completion_payload("m", "Hi", Sampling(1), special=True, extra={}, omit=omitted)
    assert "add_special_tokens" not in cloud
    chat = chat_payload("m", CAPITAL, Sampling(1), extra={}, omit=())
    shared = chat.keys() & plain.keys()
    assert chat.keys() - shared == {"messages"}
    assert plain.keys() - shared == {"prompt", "add_special_tokens"}


def save_tokenizer(folder: Path) -> str:
    """Write the embedded model's tokenizer as transformers does, from the weights' file."""
    from gguf import GGUFReader
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    def field(name: str) -> Any:
        return reader.fields[f"tokenizer.{name}"].contents()

    reader = GGUFReader(source_path())
    words = field("ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in field("ggml.merges")]
    vocabulary = {word: number for number, word in enumerate(words)}
    backend = Tokenizer(models.BPE(vocabulary, merges))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    control = [w for w, kind in zip(words, field("ggml.token_type"), strict=True) if kind == 3]
    backend.add_special_tokens([AddedToken(word, special=True) for word in control])
    bos, eos = (words[field(f"ggml.{name}_token_id")] for name in ("bos", "eos"))
    made = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=bos, eos_token=eos)
    made.chat_template = field("chat_template")
    made.save_pretrained(folder)
    return str(folder)


@needs_model
@pytest.mark.model
@pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed"
)
def test_a_tokenizer_s_prompt_is_what_the_server_makes_of_a_chat(
    real: Asked, tmp_path: Path
) -> None:
    path = save_tokenizer(tmp_path)
    template = load_template(None, path, {})
    tokenizer = template._tokenizer  # type: ignore[attr-defined]
    raw = {key: value for key, value in real.plain.items() if key != "chat_template"}
    sampling = Sampling(max_tokens=8)
    chat = real.send(real.raw, (CAPITAL, TURNS), sampling)
    for other in ({"tokenizer": path}, {"chat_template": path}):
        plain = real.send({**raw, **other}, (CAPITAL, TURNS), sampling)
        for messages, one, two in zip((CAPITAL, TURNS), chat, plain, strict=True):
            ids = tokenizer(template.render(messages), add_special_tokens=False)["input_ids"]
            assert one.usage.prompt_tokens == two.usage.prompt_tokens == len(ids)
            assert one.text == two.text
    found = real.identity({**raw, "tokenizer": path})
    assert found.template_hash == real.identity(real.raw).template_hash
    assert found.details["prompt_tokenizer_hash"] == template.tokenizer_hash


class TestFirstToken:
    @staticmethod
    def single(bos: str | None, bare: Any, full: Any, prompt: str = "<s>Hi") -> tuple[str, int]:
        asked = []

        async def tokens_of(payload: Any) -> Any:
            asked.append(payload)
            found = full if payload["add_special"] else bare
            if isinstance(found, Exception):
                raise found
            return found

        async def go() -> str:
            first = FirstToken(bos, tokens_of)
            await first.find_out()
            await first.find_out()
            return first.single(prompt)

        return asyncio.run(go()), len(asked)

    def test_it_is_taken_away_where_the_server_adds_it(self) -> None:
        assert self.single("<s>", {"tokens": [5]}, {"tokens": [1, 5]}) == ("Hi", 2)

    def test_it_stays_where_the_server_adds_none(self) -> None:
        assert self.single("<s>", {"tokens": [5]}, {"tokens": [5]}) == ("<s>Hi", 2)

    def test_a_token_added_at_the_end_is_another(self) -> None:
        assert self.single("<s>", {"tokens": [5]}, {"tokens": [5, 2]}) == ("<s>Hi", 2)

    @pytest.mark.parametrize("said", [NotFoundError("no"), BadRequest("no"), None, {"tokens": 1}])
    def test_a_server_that_does_not_tell(self, said: Any) -> None:
        assert self.single("<s>", said, said)[0] == "<s>Hi"

    def test_a_prompt_without_it_stays_as_it_is(self) -> None:
        assert self.single("<s>", {"tokens": [5]}, {"tokens": [1, 5]}, "Hi")[0] == "Hi"

    def test_nothing_is_asked_where_nothing_can_be_doubled(self) -> None:
        assert self.single(None, None, None) == ("<s>Hi", 0)

    def test_a_server_that_is_busy_is_asked_again_later(self) -> None:
        with pytest.raises(ServerError):
            self.single("<s>", ServerError("busy"), {"tokens": [1, 5]})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"api": "completions"}, "one of chat_template and tokenizer"),
        ({"chat_template": "plain"}, "chat_template is for api: completions"),
        ({"tokenizer": "x"}, "tokenizer is for api: completions"),
        ({"api": "responses"}, "api"),
        ({"extra_body": {"n": 2}}, "epochs"),
        ({"extra_body": {"messages": []}}, "messages is evalkit's own field"),
        ({"extra_body": {"x": float("nan")}}, "JSON"),
    ],
)
def test_settings_that_make_no_sense(raw: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        parse_endpoint(
            "mine", {"kind": "openai", "base_url": "http://h", "model": "m", **raw}, OPTIONS
        )
    assert "mine" in str(caught.value)
