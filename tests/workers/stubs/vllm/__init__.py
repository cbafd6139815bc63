"""What the worker needs of vLLM: a model that answers with its prompt, to test the worker."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace

__version__ = "0.0.stub"


class SamplingParams(SimpleNamespace):
    pass


class Tokenizer:
    chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"

    def apply_chat_template(self, messages, tokenize, add_generation_prompt, **kwargs):
        from jinja2 import Environment, TemplateError

        if messages[0]["content"] == "refuse me":
            raise TemplateError("no such roles")
        template = Environment().from_string(self.chat_template)
        return template.render(messages=messages, **kwargs)

    def __call__(self, text, add_special_tokens):
        return {"input_ids": ([1] if add_special_tokens else []) + [ord(c) for c in text]}


class LLM:
    def __init__(self, model, max_model_len=256, **arguments):
        if not Path(model, "config.json").exists():
            raise OSError(f"{model} does not appear to have a file named config.json")
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=max_model_len))
        self.arguments = arguments
        self.waves = 0

    def get_tokenizer(self):
        return Tokenizer()

    def chat(self, messages, sampling, use_tqdm, chat_template_kwargs):
        self.waves += 1
        pairs = zip(messages, sampling, strict=True)
        return [self._answer(m[-1]["content"], s, len(messages)) for m, s in pairs]

    def generate(self, prompts, sampling, use_tqdm):
        texts = ["".join(map(chr, p["prompt_token_ids"][1:])) for p in prompts]
        return [self._answer(t, s, len(prompts)) for t, s in zip(texts, sampling, strict=True)]

    def _answer(self, text, sampling, together):
        if text == "die" and not Path(os.environ["STUB_ONCE"]).exists():
            Path(os.environ["STUB_ONCE"]).touch()
            raise RuntimeError("the engine is dead")
        said = f"{text} [{together} together, wave {self.waves}, {vars(sampling)}]"
        words = re.findall(r"\S+\s*", said)[: sampling.max_tokens]
        told = {7: SimpleNamespace(rank=1, decoded_token="w", logprob=-0.5)}
        choice = SimpleNamespace(
            text="".join(words),
            finish_reason="length" if len(words) == sampling.max_tokens else "stop",
            token_ids=[7] * len(words),
            logprobs=None if sampling.logprobs is None else [told] * len(words),
        )
        return SimpleNamespace(outputs=[choice], prompt_token_ids=[0] * len(text))
