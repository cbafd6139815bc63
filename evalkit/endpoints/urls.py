"""Addresses of OpenAI-compatible servers: their parts, their names, their masks."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit, urlunsplit

from evalkit.errors import UsageError

_CHAT, _COMPLETIONS = "/chat/completions", "/completions"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_SAME_MACHINE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_ENCODE = "Write # ? / @ of a password as %23 %3F %2F %40"
_VERSION_SEGMENT = re.compile(r"/v\d+[a-z0-9]*$")


@dataclass(frozen=True, slots=True)
class Address:
    """Where an API lives.

    Attributes:
        api: Base of the OpenAI API, ending in `/v1` or what the server has instead.
        root: Base of the server's own pages (`/props`, `/version`).
        user: From the URL, for basic authentication.
        password: From the URL.
        loopback: Whether it is this machine, so that no proxy may be asked.
    """

    api: str
    root: str
    user: str | None
    password: str | None
    loopback: bool

    @property
    def chat(self) -> str:
        """The address of chat completions."""
        return self.api + _CHAT

    @property
    def completions(self) -> str:
        """The address of plain completions."""
        return self.api + _COMPLETIONS

    @property
    def tokenize(self) -> str:
        """Where llama.cpp and vLLM tell the tokens of a text."""
        return self.root + "/tokenize"


def is_url(text: str) -> bool:
    """Whether a text is an HTTP address."""
    return text.lower().startswith(("http://", "https://"))


def split_target(target: str) -> tuple[str, str]:
    """Split `URL#model` into both parts.

    Raises:
        UsageError: Without a model, and where a `#`, `?` or `/` in a password might have
            made a part of it into something else. It never repeats a password.
    """
    base_url, _, model = target.partition("#")
    if _astray(base_url) or "#" in model or _may_be_password(base_url, model):
        raise UsageError(
            "A URL#MODEL on the command line has an @ or a # in the wrong place.",
            hint=f"{_ENCODE}. A model's name with an @ belongs into a configuration file.",
        )
    if not model:
        raise UsageError(
            f"'{mask_url(base_url)}' names no model.",
            hint=f"Write {mask_url(base_url)}#MODEL.",
        )
    return base_url, model


def mask_target(target: str) -> str:
    """Return an argument of the command line without user and password."""
    if "@" not in target:
        return target
    base_url, hash_sign, model = target.partition("#")
    if _may_be_password(base_url, model):
        return mask_url(target)
    return mask_url(base_url) + hash_sign + model


def _may_be_password(base_url: str, model: str) -> bool:
    """Whether `http://a:b#c@d` may be a user with a password, cut in two at a `#`."""
    before, at, _ = model.partition("@")
    if not at:
        return False
    try:
        host = urlsplit(base_url).netloc.rpartition("@")[2]
    except ValueError:
        return True
    name = host.rpartition(":")[0]
    return ":" in before or (bool(name) and name not in _SAME_MACHINE and "[" not in name)


def _astray(base_url: str) -> bool:
    """Whether an `@` stands behind the host: what stands before it may be a password."""
    _, _, rest = base_url.partition("://")
    return "@" in re.sub(r"^[^/?#\\]*", "", rest)


def parse_address(base_url: str) -> Address:
    """Read a base URL, with or without `/v1`, or the full address of completions.

    Raises:
        ValueError: When it is no HTTP URL with a host and a valid port, or has a query; the
            message holds no part of it.
    """
    if _astray(base_url):
        raise ValueError(f"it has an @ behind the host. {_ENCODE}")
    try:
        parts = urlsplit(base_url.strip())
    except ValueError:
        raise ValueError("its host cannot be read") from None
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise ValueError("it must be http:// or https:// and a host")
    try:
        port = parts.port
    except ValueError:
        raise ValueError("its port must be a number from 0 to 65535") from None
    if parts.query:
        raise ValueError(
            "it has a query (?…), which is never sent; a key belongs into the variable that "
            "api_key_env names or into headers, other fields into extra_body"
        )
    if parts.fragment:
        raise ValueError(f"it has a # in it. {_ENCODE}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = host if port is None else f"{host}:{port}"
    full = parts.path.rstrip("/")
    path = full.removesuffix(_CHAT).removesuffix(_COMPLETIONS)
    if path == full and not _VERSION_SEGMENT.search(path):
        path += "/v1"
    root = _VERSION_SEGMENT.sub("", path)
    scheme = parts.scheme.lower()
    return Address(
        api=urlunsplit((scheme, netloc, path, "", "")),
        root=urlunsplit((scheme, netloc, root, "", "")),
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
        loopback=_is_loopback(parts.hostname),
    )


@lru_cache(maxsize=64)
def mask_url(url: str) -> str:
    """Return a URL without user, password, query and fragment.

    Nothing but the scheme is left where it cannot be told what is a password: an unescaped
    `#`, `?` or `/` in one ends the host for every reader of URLs.
    """
    scheme, separator, _ = url.partition("://")
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or not separator or _astray(url):
        return f"{scheme}://…" if separator and scheme.isalnum() else "…"
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def server_key(base_url: str) -> str:
    """Return one text for every usual spelling of the same API's address.

    The names of this machine's own address are one, and so are a default port and none; a
    text that is no address stays as it is.
    """
    try:
        api = urlsplit(parse_address(mask_url(base_url)).api)
    except ValueError:
        return base_url
    host = (api.hostname or "").rstrip(".")
    host = "localhost" if host in _SAME_MACHINE else host
    port = _DEFAULT_PORTS[api.scheme] if api.port is None else api.port
    return f"{api.scheme}://[{host}]:{port}{api.path}"


def share_a_server(one: str, other: str) -> bool:
    """Whether two endpoints' addresses, several with spaces between them, have one in common."""
    a, b = (set(map(server_key, urls.split())) for urls in (one, other))
    return not a.isdisjoint(b)


def url_name(base_url: str, model: str) -> str:
    """Return a name for a served model: safe as a file name, unique, without credentials.

    It reads `host-port-model`; a short hash follows where that leaves something out.

    Raises:
        UsageError: For an address that is none.
    """
    try:
        address = parse_address(base_url)
    except ValueError as error:
        raise UsageError(f"'{mask_url(base_url)}' cannot be used: {error}.") from error
    parts = urlsplit(address.root)
    place = parts.netloc + parts.path
    # As on the hub's disk caches; a model whose own name has two dashes gets the hash.
    plain = f"{place.replace(':', '-')}-{model.replace('/', '--')}"
    name = _UNSAFE.sub("-", plain)[:80].strip(".-")
    readable = name == plain and "--" not in model and parts.scheme == "http"
    if readable and parts.port is not None and not parts.path:
        return name
    mark = hashlib.sha256(f"{address.api}#{model}".encode()).hexdigest()[:6]
    return f"{name}-{mark}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
