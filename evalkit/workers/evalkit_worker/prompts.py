"""From the body of a request to tokens and fields; what is not understood is refused."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from evalkit_worker.batches import Fields, Job, Refused

_NUMBERS = {
    "temperature": (0.0, 0.0, 10.0),
    "top_p": (1.0, 1e-6, 1.0),
    "min_p": (0.0, 0.0, 1.0),
    "repetition_penalty": (1.0, 1e-6, 10.0),
    "presence_penalty": (0.0, -2.0, 2.0),
    "frequency_penalty": (0.0, -2.0, 2.0),
}
_KNOWN = {
    "model", "max_tokens", "top_k", "seed", "stop", "logprobs", "stream", "n", "ignore_eos",
    *_NUMBERS,
}  # fmt: skip
_CHAT = _KNOWN | {"messages", "top_logprobs", "chat_template_kwargs"}
_PLAIN = _KNOWN | {"prompt", "add_special_tokens"}
_MOST_LOGPROBS, _MOST_STOPS = 20, 16
_ROLES = {"system", "user", "assistant"}


class Prompts:
    """Renders and tokenizes; a tokenizer is used by one thread at a time."""

    def __init__(self, tokenizer: Any, context: int | None) -> None:
        """Take a tokenizer of transformers.

        Args:
            tokenizer: With or without a chat template.
            context: Tokens of prompt and answer together.
        """
        self._tokenizer = tokenizer
        self._context = context
        self._lock = threading.Lock()
        template = getattr(tokenizer, "chat_template", None)
        self.template: str | None = template if isinstance(template, str) else None

    def job(self, body: Mapping[str, Any], *, chat: bool) -> Job:
        """Read a request.

        Raises:
            Refused: When it is malformed, asks for what is not offered, or does not fit.
        """
        fields = read_fields(body, chat=chat)
        if chat:
            messages = read_messages(body.get("messages"))
            kwargs = body.get("chat_template_kwargs") or {}
            if not isinstance(kwargs, dict):
                raise Refused("chat_template_kwargs must be an object")
            job = Job(self.rendered(messages, kwargs), fields, messages, kwargs)
        else:
            prompt = body.get("prompt")
            if not isinstance(prompt, str) or not prompt:
                raise Refused("prompt must be a text")
            special = body.get("add_special_tokens", True)
            job = Job(self.tokens(prompt, special=bool(special)), fields)
        self._require_room(len(job.ids), fields.max_tokens)
        return job

    def tokens(self, text: str, *, special: bool) -> tuple[int, ...]:
        """Return the tokens of a text.

        Raises:
            Refused: When it is not valid Unicode.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Refused("The prompt is not valid Unicode") from error
        with self._lock:
            return tuple(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def rendered(
        self, messages: list[dict[str, str]], kwargs: Mapping[str, Any]
    ) -> tuple[int, ...]:
        """Return the tokens that a conversation becomes, up to where the answer begins.

        Raises:
            Refused: When the model has no template, or it refuses these messages.
        """
        from jinja2 import TemplateError

        try:
            with self._lock:
                text = self._tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True, **kwargs
                )
        except (TemplateError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise Refused(f"The chat template refuses these messages: {error}") from error
        return self.tokens(text, special=False)

    def _require_room(self, prompt: int, answer: int) -> None:
        if self._context is not None and prompt + answer > self._context:
            raise Refused(
                f"The maximum context length is {self._context} tokens; {prompt} in the prompt "
                f"and {answer} for the answer do not fit"
            )


def read_messages(value: Any) -> list[dict[str, str]]:
    """Return a conversation.

    Raises:
        Refused: When it is none.
    """
    if not isinstance(value, list) or not value:
        raise Refused("messages must be a list of messages")
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise Refused(f"a message has one of the roles {', '.join(sorted(_ROLES))}")
        if not isinstance(message.get("content"), str):
            raise Refused("the content of a message must be a text")
    return [{"role": m["role"], "content": m["content"]} for m in value]


def read_fields(body: Mapping[str, Any], *, chat: bool) -> Fields:
    """Return how to sample.

    Raises:
        Refused: Naming the field.
    """
    if unknown := sorted(body.keys() - (_CHAT if chat else _PLAIN) - {"repeat_penalty"}):
        raise Refused(f"the field {unknown[0]} is not offered here")
    if body.get("stream"):
        raise Refused("stream is not offered: answers of a batch are whole")
    if body.get("n", 1) != 1:
        raise Refused("n is not offered: one answer a request")
    stop = body.get("stop") or []
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(s, str) and s for s in stops):
        raise Refused("stop must be a text or a list of texts")
    if len(stops) > _MOST_STOPS:
        raise Refused(f"stop may hold {_MOST_STOPS} texts")
    return Fields(
        max_tokens=_whole(body, "max_tokens", 16, 1, 1 << 20),
        top_k=_whole(body, "top_k", -1, -1, 1 << 20),
        seed=_whole(body, "seed", 0, -(1 << 63), (1 << 63) - 1),
        stop=tuple(stops),
        logprobs=_logprobs(body, chat=chat),
        ignore_eos=bool(body.get("ignore_eos", False)),
        **{name: _number(body, name, *bounds) for name, bounds in _NUMBERS.items()},
    )


def _logprobs(body: Mapping[str, Any], *, chat: bool) -> int | None:
    if not chat:
        told = body.get("logprobs")
        return None if told is None else _whole(body, "logprobs", 0, 0, _MOST_LOGPROBS)
    return _whole(body, "top_logprobs", 0, 0, _MOST_LOGPROBS) if body.get("logprobs") else None


def _whole(body: Mapping[str, Any], name: str, usual: int, low: int, high: int) -> int:
    value = body.get(name)
    if value is None:
        return usual
    if type(value) is not int or not low <= value <= high:
        raise Refused(f"{name} must be a whole number from {low} to {high}")
    return value


def _number(body: Mapping[str, Any], name: str, usual: float, low: float, high: float) -> float:
    value = body.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Refused(f"{name} must be a number from {low:g} to {high:g}")
    return float(value)
