from __future__ import annotations

import pytest

from evalkit.endpoints.urls import mask_url, parse_address, split_target, url_name
from evalkit.errors import UsageError


@pytest.mark.parametrize(
    ("given", "chat", "root"),
    [
        ("http://h:8000", "http://h:8000/v1/chat/completions", "http://h:8000"),
        ("http://h:8000/", "http://h:8000/v1/chat/completions", "http://h:8000"),
        ("http://h:8000/v1", "http://h:8000/v1/chat/completions", "http://h:8000"),
        ("http://h:8000/v1/", "http://h:8000/v1/chat/completions", "http://h:8000"),
        (
            "https://api.example.com/openai/v1/chat/completions",
            "https://api.example.com/openai/v1/chat/completions",
            "https://api.example.com/openai",
        ),
        ("https://h/api/v3", "https://h/api/v3/chat/completions", "https://h/api"),
        (
            "https://h/v1beta/openai/chat/completions",
            "https://h/v1beta/openai/chat/completions",
            "https://h/v1beta/openai",
        ),
        ("http://[::1]:80/v1", "http://[::1]:80/v1/chat/completions", "http://[::1]:80"),
        ("HTTP://user:pw@h/v1", "http://h/v1/chat/completions", "http://h"),
    ],
)
def test_addresses(given: str, chat: str, root: str) -> None:
    address = parse_address(given)
    assert (address.chat, address.root) == (chat, root)


def test_credentials_are_kept_apart() -> None:
    address = parse_address("http://us%40er:p%3Aw@h/v1")
    assert (address.user, address.password) == ("us@er", "p:w")
    assert mask_url("https://user:secret@h:1/v1?key=secret#m") == "https://h:1/v1"


@pytest.mark.parametrize(
    ("url", "loopback"),
    [("http://127.0.0.1:1", True), ("http://localhost", True), ("http://10.0.0.1", False)],
)
def test_loopback_is_known(url: str, loopback: bool) -> None:
    assert parse_address(url).loopback is loopback


@pytest.mark.parametrize("bad", ["h:80", "ftp://h", "http://", "http://h:99999", "http://h:x"])
def test_no_address(bad: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_address(bad)


def test_names_are_unique_safe_and_without_credentials() -> None:
    targets = [
        ("http://h:1", "m"),
        ("http://h:2", "m"),
        ("https://h:1", "m"),
        ("http://h:1/a/v1", "m"),
        ("http://h-1", "m"),
        ("http://h:1", "a/b"),
        ("http://h:1", "a--b c"),
        ("http://h:1", "a--b d"),
        ("http://h:1", "模型"),
        ("http://h:1", "模具"),
        ("http://h:1", "../../etc/passwd"),
        ("http://h:1", "x" * 300),
        ("http://h:1", "x" * 301),
    ]
    names = [url_name(*target) for target in targets]
    assert len(set(names)) == len(names)
    for name in names:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
        assert len(name) < 100
        assert not name.startswith(".")
    assert "secret" not in url_name("http://u:secret@h:1", "m")


def test_same_target_same_name() -> None:
    assert url_name("http://h:1/v1", "m") == url_name("http://h:1", "m")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://u:secret@h:99999/v1", "'http://h:99999/v1' cannot be used: its port must be"),
        ("http://u:secret@h:x/v1", "its port must be a number"),
        ("http://h/v1?api_key=secret", "'http://h/v1' cannot be used: it has a query"),
        ("http://u:secret@[::1", "its host cannot be read"),
        ("http://u:secret@h\u2100/v1", "its host cannot be read"),
    ],
)
def test_a_bad_url_is_masked_in_its_error(url: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        url_name(url, "m")
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(caught.value.__cause__)


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("http://u:p@ss@h:1/v1", "http://h:1/v1"),
        ("http://u:p#ss@h/v1", "http://…"),
        ("http://u:p?ss@h/v1", "http://…"),
        ("http://u:p/ss@h/v1", "http://…"),
        ("u:p@h/v1", "…"),
        ("http://h:1/v1?key=secret#m", "http://h:1/v1"),
    ],
)
def test_a_mask_leaves_nothing_that_may_be_a_password(url: str, masked: str) -> None:
    assert mask_url(url) == masked


@pytest.mark.parametrize("url", ["http://u:p#ss@h", "http://u:1/ss@h", "http://h/v1#m"])
def test_an_address_that_a_password_splits_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="%23 %3F %2F %40") as caught:
        parse_address(url)
    assert "ss" not in str(caught.value).replace("password", "")


def test_a_model_may_have_an_at_sign_where_no_password_can_be() -> None:
    for url in ("http://localhost:8000", "http://h", "https://me:pw@h"):
        assert split_target(f"{url}#org/model@main") == (url, "org/model@main")
    with pytest.raises(UsageError, match="configuration file"):
        split_target("http://gpu:8000#org/model@main")
