"""Rendering messages to prompts, beside transformers where it is installed."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.openai import OpenAIEndpoint
from evalkit.endpoints.templating import (
    JinjaTemplate,
    PlainText,
    TokenizerTemplate,
    load_template,
    template_hash,
)
from evalkit.errors import BadRequest, ConfigError, MissingExtraError
from evalkit.fingerprint import digest
from evalkit.types import Message, Reply, Sampling, Timing, Usage

HI = (Message("user", "Hi"),)
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# What templates of the hub do, each in its own way.
TEMPLATES = {
    "chatml": CHATML,
    "llama-2": (
        "{{ bos_token }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 =="
        " 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}{% if m['role'] == 'user' "
        "%}{{ '[INST] ' + m['content'].strip() + ' [/INST]' }}{% else %}{{ m['content'] + "
        "eos_token }}{% endif %}{% endfor %}"
    ),
    "blocks": (
        "{%- set ns = namespace(n=0) %}\n{%- for m in messages %}\n    {%- if loop.first %}\n"
        "{{ bos_token }}\n    {%- endif %}\n    {% set ns.n = ns.n + 1 %}\n{{ m.role }}: "
        "{{ m.content | trim }} #{{ ns.n }}\n    {%- if m.role == 'system' %}{% continue %}"
        "{% endif %}\n{%- endfor %}\n{%- if tools %}{{ tools }}{% endif -%}\n"
        "{{ messages | tojson(indent=2) }}\n"
    ),
    "generation": (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
        "{{ eos_token }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}"
    ),
    "thinking": (
        "{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
    ),
    "slices": (
        "{% set rest = messages[1:] if messages[0].role == 'system' else messages %}"
        "{{ (messages[0]['content'] ~ '|') if rest | length < messages | length }}"
        "{{ rest[-1].content.split('</think>')[-1].lstrip('\\n') }}{{ messages | tojson }}"
    ),
}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

contents = st.text(max_size=40) | st.sampled_from(["<s>", "{{ bos_token }}", "a\n\n ", "你好 😀"])
chats = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), contents),
    min_size=1,
    max_size=4,
).map(tuple)


def folder(tmp_path: Path, **config: Any) -> Path:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


class TestJinja:
    def test_the_answer_begins_where_the_prompt_ends(self) -> None:
        template = load_template(CHATML, None, {})
        assert template.render(HI) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        assert template.special

    def test_content_is_never_a_template_itself(self) -> None:
        rendered = load_template(CHATML, None, {}).render((Message("user", "{{ 7 * 7 }}"),))
        assert "{{ 7 * 7 }}" in rendered

    def test_what_a_template_refuses_fails_that_sample_alone(self) -> None:
        template = JinjaTemplate(TEMPLATES["llama-2"], TOKENS)
        assert template.render(HI) == "<s>[INST] Hi [/INST]"
        with pytest.raises(BadRequest, match="Roles must alternate"):
            template.render((Message("assistant", "?"), *HI))

    @pytest.mark.parametrize(
        "source",
        [
            "{% for %}",
            "{{ 1 / 0 }}",
            "{{ messages[9].content.x.y }}",
            "{{ raise_exception('no') }}",
        ],
    )
    def test_a_broken_template_is_said_before_anything_is_asked(self, source: str) -> None:
        with pytest.raises(ConfigError, match="chat template cannot be used"):
            load_template(source, None, {})

    @pytest.mark.parametrize(
        "source",
        [
            "{{ ''.__class__.__mro__ }}",
            "{{ messages.append(1) }}{{ cycler.__init__.__globals__ }}",
            "{{ raise_exception.__globals__['json'].dumps(1) }}",
        ],
    )
    def test_a_hostile_template_does_not_reach_python(self, source: str) -> None:
        with pytest.raises(ConfigError):
            load_template(source, None, {})

    def test_a_prompt_never_depends_on_the_day(self) -> None:
        with pytest.raises(ConfigError, match="date_string"):
            load_template("{{ strftime_now('%d %b %Y') }}", None, {})
        source = "{% if not date_string %}{% set date_string = strftime_now('%d') %}{% endif %}"
        template = load_template(source + "{{ date_string }}", None, {"date_string": "1 May"})
        assert template.render(HI) == "1 May"

    def test_a_token_that_nobody_knows_is_not_left_out(self) -> None:
        with pytest.raises(ConfigError, match="bos_token") as caught:
            load_template("{{ bos_token }}{{ messages[0].content }}", None, {})
        assert "tokenizer_config.json" in str(caught.value)
        known = load_template("{{ bos_token }}{{ 1 }}", None, {"bos_token": "<s>"})
        assert (known.bos, known.render(HI)) == ("<s>", "<s>1")


class TestFiles:
    def test_a_folder_with_everything_in_its_configuration(self, tmp_path: Path) -> None:
        tokens = {"bos_token": {"content": "<s>", "lstrip": False}, "eos_token": "</s>"}
        config = folder(tmp_path, chat_template=TEMPLATES["llama-2"], **tokens)
        for path in (config, config / "tokenizer_config.json"):
            assert load_template(str(path), None, {}).render(HI) == "<s>[INST] Hi [/INST]"

    def test_a_template_of_its_own_wins(self, tmp_path: Path) -> None:
        folder(tmp_path, chat_template="{{ 'old' }}", bos_token="<s>")
        (tmp_path / "chat_template.jinja").write_text("{{ bos_token }}new", encoding="utf-8")
        (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
        template = load_template(str(tmp_path), None, {})
        assert template.render(HI) == "<s>new"
        assert template.tokenizer_hash is not None
        assert load_template(str(tmp_path / "chat_template.jinja"), None, {}).bos == "<s>"

    def test_several_templates_have_a_default(self, tmp_path: Path) -> None:
        named = [{"name": "rag", "template": "a"}, {"name": "default", "template": "b{{ 1 }}"}]
        template = load_template(str(folder(tmp_path, chat_template=named)), None, {})
        assert template.render(HI) == "b1"

    def test_a_model_without_a_first_token(self, tmp_path: Path) -> None:
        config = folder(tmp_path, chat_template="{{ bos_token }}x{{ 1 }}", bos_token=None)
        template = load_template(str(config), None, {})
        assert (template.bos, template.render(HI)) == (None, "x1")

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("{", "not what transformers writes"),
            ("[]", "not what transformers writes"),
            ('{"chat_template": ["x"]}', "not what transformers writes"),
            ("{}", "holds no chat template"),
            ('{"chat_template": {"a": 1}}', "holds no chat template"),
        ],
    )
    def test_files_that_are_none(self, tmp_path: Path, content: str, said: str) -> None:
        (tmp_path / "tokenizer_config.json").write_text(content, encoding="utf-8")
        with pytest.raises(ConfigError, match=said):
            load_template(str(tmp_path), None, {})

    def test_a_path_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="neither a template nor a file"):
            load_template(str(tmp_path / "absent.jinja"), None, {})


def test_plain_text_has_its_tokens_added_by_the_server() -> None:
    plain = load_template("plain", None, {})
    assert plain.render((Message("system", "Be brief."), *HI)) == "Be brief.\n\nHi"
    assert plain == PlainText()
    assert not plain.special


@pytest.mark.parametrize("both", [(None, None), (CHATML, "folder")])
def test_exactly_one_source(both: tuple[str | None, str | None]) -> None:
    with pytest.raises(ConfigError, match="one of chat_template and tokenizer"):
        load_template(*both, {})


def test_hashes_tell_what_changes_prompts_and_nothing_else() -> None:
    assert template_hash(CHATML, {}) == digest(CHATML), "as for a server's own template"
    assert template_hash(CHATML, TOKENS) == digest(CHATML), "it reads no token"
    llama = TEMPLATES["llama-2"]
    hashes = {template_hash(llama, {"bos_token": bos}) for bos in ("<s>", "<bos>", "")}
    assert len({*hashes, digest(llama)}) == 4


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"quant-evalkit\[hf\]"):
        load_template(None, "some/model", {})


TRANSFORMERS = importlib.util.find_spec("transformers") is not None


def tokenizer(source: str) -> Any:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {"<s>": 0, "</s>": 1, "a": 2}
    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="a")), **TOKENS
    )
    made.chat_template = source
    return made


@pytest.mark.skipif(not TRANSFORMERS, reason="transformers is not installed")
class TestBesideTransformers:
    @pytest.mark.parametrize("name", TEMPLATES)
    @settings(deadline=None)  # The first example imports transformers.
    @given(messages=chats)
    def test_both_render_alike(self, name: str, messages: tuple[Message, ...]) -> None:
        kwargs = {"enable_thinking": False} if name == "thinking" else {}
        reference = TokenizerTemplate(tokenizer(TEMPLATES[name]), kwargs)
        ours = JinjaTemplate(TEMPLATES[name], {**TOKENS, **kwargs})
        assert ours.template_hash == reference.template_hash
        assert ours.bos == reference.bos
        try:
            expected = reference.render(messages)
        except BadRequest:
            with pytest.raises(BadRequest):
                ours.render(messages)
        else:
            assert ours.render(messages) == expected

    def test_a_folder_that_transformers_wrote(self, tmp_path: Path) -> None:
        tokenizer(TEMPLATES["llama-2"]).save_pretrained(tmp_path)
        reference = load_template(None, str(tmp_path), {})
        ours = load_template(str(tmp_path), None, {})
        assert ours.render(HI) == reference.render(HI) == "<s>[INST] Hi [/INST]"
        assert ours.template_hash == reference.template_hash

    def test_the_prompt_s_tokens_are_counted_where_the_server_does_not(
        self, tmp_path: Path
    ) -> None:
        tokenizer(TEMPLATES["llama-2"]).save_pretrained(tmp_path)
        raw = {"kind": "openai", "base_url": "http://x", "model": "m", "api": "completions",
               "tokenizer": str(tmp_path)}  # fmt: skip
        endpoint = parse_endpoint("arm", raw, EndpointOptions())
        assert isinstance(endpoint, OpenAIEndpoint)
        body = endpoint.body(HI, Sampling(max_tokens=1))
        uncounted = Reply("a", None, "stop", Usage(), Timing(0.0, 0.0))
        ids = tokenizer(TEMPLATES["llama-2"])(body["prompt"], add_special_tokens=False)
        assert endpoint._counted(uncounted, body).usage.prompt_tokens == len(ids["input_ids"])
        told = replace(uncounted, usage=Usage(prompt_tokens=99))
        assert endpoint._counted(told, body).usage.prompt_tokens == 99

    def test_a_template_that_prints_the_date(self) -> None:
        with pytest.raises(ConfigError, match="date_string"):
            TokenizerTemplate(tokenizer("{{ strftime_now('%d') }}"), {})

    def test_what_is_no_tokenizer(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="cannot be loaded"):
            load_template(None, str(tmp_path), {})
