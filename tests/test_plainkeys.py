from __future__ import annotations

from typing import Any

import pytest

from evalkit.errors import ConfigError
from evalkit.plainkeys import names_secret, refuse_plain_keys


def endpoint(**more: Any) -> dict[str, Any]:
    return {"endpoints": {"a": {"kind": "openai", "base_url": "http://h", **more}}}


@pytest.mark.parametrize(
    "raw",
    [
        endpoint(headers={"Authorization": "Bearer abc"}),
        endpoint(headers={"Authorization": "Basic abc${X}"}),
        endpoint(headers={"x-goog-api-key": "abc"}),
        endpoint(extra_body={"list": [{"accessToken": "abc"}]}),
        endpoint(api_key="abc"),
        endpoint(base_url="http://me:hush@h"),
        endpoint(base_url="http://${USER}:hush${X}@h"),
        {"candidates": ["q8", "http://me:hush@h#m"]},
        {"output": "ghp_" + "a1" * 18},
    ],
)
def test_a_secret_in_plain_text_is_refused_and_not_repeated(raw: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="plain text") as caught:
        refuse_plain_keys(raw, "'c.yaml'")
    assert "abc" not in str(caught.value)
    assert "hush" not in str(caught.value)
    assert "a1a1" not in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        endpoint(headers={"Authorization": "Bearer ${KEY}", "X-Api-Key": "${KEY}"}),
        endpoint(headers={"Authorization": "Bearer EMPTY", "X-Team": "evaluation"}),
        endpoint(api_key_env="MY_KEY", label="the key model"),
        endpoint(base_url="http://${USER}:${PASSWORD}@h/v1"),
        endpoint(extra_body={"max_tokens": 5, "stop_token": "</s>", "prompt_cache_key": "a"}),
        {"baseline": "http://h:8000#org/model@main", "tasks": ["tokens"]},
    ],
)
def test_variables_placeholders_and_words_may_stand(raw: dict[str, Any]) -> None:
    refuse_plain_keys(raw, "'c.yaml'")


def test_names_of_secrets() -> None:
    secret = ["Authorization", "X-Api-Key", "apiKey", "HF_TOKEN", "OPENAI_API_KEY_2", "authtoken"]
    plain = ["X-Team", "max_tokens", "skip_special_tokens", "api_key_env", "monkey", "author"]
    assert [names_secret(name) for name in secret + plain] == [True] * 6 + [False] * 6
