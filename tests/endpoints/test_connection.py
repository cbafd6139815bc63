"""Proxies and certificates: real TLS and a real proxy on the loopback address."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.connection import Connection, ConnectionSettings, parse_proxy
from evalkit.endpoints.urls import parse_address
from evalkit.errors import AuthError, CertificateError, ConfigError, ConnectError
from evalkit.types import Identity, Reply
from tests.servers.fake import FakeServer, Script
from tests.servers.forward import ForwardProxy, TlsFront

Ask = Callable[..., Reply]
SECRET = "hush-hush"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)


@pytest.fixture
def front(authority: trustme.CA) -> Iterator[TlsFront]:
    with FakeServer() as server, TlsFront(server.url, server_context(authority)) as tls:
        yield tls


def server_context(
    authority: trustme.CA, name: str = "localhost", *, wants: trustme.CA | None = None
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    if wants is not None:
        wants.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def raw(port: int, host: str = "localhost", **more: Any) -> dict[str, Any]:
    return {"base_url": f"https://{host}:{port}", "model": "fake", **more}


class TestCertificates:
    def test_an_authority_of_ones_own(self, ask: Ask, front: TlsFront, ca_file: str) -> None:
        assert ask(raw(front.port, ca_file=ca_file)).text == "echo: hi"

    def test_the_environment_names_one(
        self, ask: Ask, front: TlsFront, ca_file: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", ca_file)
        assert ask(raw(front.port)).text == "echo: hi"

    def test_an_unknown_authority_is_one_clear_sentence(self, ask: Ask, front: TlsFront) -> None:
        with pytest.raises(CertificateError, match="not trusted") as caught:
            ask(raw(front.port))
        said = str(caught.value)
        assert f"'mine' (https://localhost:{front.port}" in said
        assert "ca_file" in said
        assert "SSL_CERT_FILE" in said
        assert "\n" not in said
        assert not caught.value.retryable

    def test_the_first_page_that_is_read_says_so(
        self, identify: Callable[..., Identity], front: TlsFront
    ) -> None:
        with pytest.raises(CertificateError, match=r"/v1/models\) shows a certificate"):
            identify(raw(front.port))

    def test_only_the_named_authority_counts(
        self, ask: Ask, front: TlsFront, tmp_path: Path
    ) -> None:
        other = tmp_path / "other.pem"
        trustme.CA().cert_pem.write_to_path(other)
        with pytest.raises(CertificateError, match="ca_file"):
            ask(raw(front.port, ca_file=str(other)))

    def test_a_certificate_for_another_name(
        self, ask: Ask, authority: trustme.CA, ca_file: str
    ) -> None:
        context = server_context(authority, "elsewhere.example")
        with (
            FakeServer() as server,
            TlsFront(server.url, context) as tls,
            pytest.raises(CertificateError, match="localhost") as caught,
        ):
            ask(raw(tls.port, ca_file=ca_file))
        assert "base_url" in str(caught.value)
        assert "ca_file" not in str(caught.value)

    def test_a_certificate_of_ours(
        self, ask: Ask, authority: trustme.CA, ca_file: str, tmp_path: Path
    ) -> None:
        clients = trustme.CA()
        ours = clients.issue_cert("evalkit@example.org")
        both, cert, key = (tmp_path / name for name in ("both.pem", "cert.pem", "key.pem"))
        ours.private_key_and_cert_chain_pem.write_to_path(both)
        ours.cert_chain_pems[0].write_to_path(cert)
        ours.private_key_pem.write_to_path(key)
        context = server_context(authority, wants=clients)
        with FakeServer() as server, TlsFront(server.url, context) as tls:
            here = raw(tls.port, ca_file=ca_file)
            assert ask({**here, "client_cert": str(both)}).text == "echo: hi"
            split = {"client_cert": str(cert), "client_key": str(key)}
            assert ask({**here, **split}).text == "echo: hi"
            with pytest.raises(ConnectError):
                ask(here)

    def test_plain_http_where_tls_is_spoken(self, ask: Ask) -> None:
        with FakeServer() as server, pytest.raises(ConnectError) as caught:
            ask({"base_url": server.url.replace("http:", "https:"), "model": "fake"})
        assert "http://" in str(caught.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ca_file": "/absent.pem"}, "ca_file /absent.pem: No such file"),
        ({"client_cert": "/absent.pem"}, "client_cert /absent.pem: No such file"),
        ({"client_key": "/absent.pem"}, "client_key needs client_cert"),
        ({"base_url": "http://h", "ca_file": "x"}, "does not begin with https"),
        ({"proxy": "socks5://h:1"}, "SOCKS"),
        ({"proxy": f"ftp://u:{SECRET}@h:1"}, "proxy must be"),
        ({"proxy": f"http://u:{SECRET}@h:99999"}, "no address"),
        ({"verify": False}, "unknown key 'verify'"),
    ],
)
def test_settings_that_cannot_be_used(more: dict[str, Any], said: str) -> None:
    settings = {"kind": "openai", "base_url": "https://h", "model": "m", **more}
    with pytest.raises(ConfigError, match=said) as caught:
        parse_endpoint("mine", settings, EndpointOptions())
    assert "mine" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_files_that_hold_something_else(tmp_path: Path, authority: trustme.CA) -> None:
    words = tmp_path / "words.pem"
    words.write_text("not a certificate", encoding="utf-8")
    for key in ("ca_file", "client_cert"):
        with pytest.raises(ConfigError, match="no certificate in PEM form"):
            parse_endpoint(
                "mine", {"kind": "openai", **raw(1, **{key: str(words)})}, EndpointOptions()
            )


def test_a_passphrase_is_never_asked_for_on_the_terminal(
    tmp_path: Path, authority: trustme.CA
) -> None:
    from cryptography.hazmat.primitives import serialization

    made = authority.issue_cert("evalkit@example.org")
    key = serialization.load_pem_private_key(made.private_key_pem.bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"x"),
    )
    path = tmp_path / "both.pem"
    path.write_bytes(made.cert_chain_pems[0].bytes() + locked)
    with pytest.raises(ConfigError, match="passphrase"):
        parse_endpoint(
            "mine", {"kind": "openai", **raw(1, client_cert=str(path))}, EndpointOptions()
        )


class TestProxies:
    def test_a_named_proxy_is_asked_even_for_this_machine(self, ask: Ask) -> None:
        with FakeServer() as server, ForwardProxy() as proxy:
            reply = ask({"base_url": server.url, "model": "fake", "proxy": proxy.url})
        assert reply.text == "echo: hi"
        assert proxy.log[0][0].startswith(f"POST {server.url}/v1/chat/completions ")

    @pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
    def test_the_environment_names_one(
        self, ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        with FakeServer() as server, ForwardProxy() as proxy:
            monkeypatch.setenv(name, proxy.url)
            far = server.url.replace("127.0.0.1", "model.example")
            assert ask({"base_url": far, "model": "fake"}).text == "echo: hi"
            assert len(proxy.log) == 1
            assert ask({"base_url": server.url, "model": "fake"}).text == "echo: hi"
            assert len(proxy.log) == 1, "this machine is reached without it"

    def test_tls_goes_through_a_tunnel(
        self, ask: Ask, authority: trustme.CA, ca_file: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        context = server_context(authority, "model.example")
        script = Script(key=SECRET)
        with (
            FakeServer(script) as server,
            TlsFront(server.url, context) as tls,
            ForwardProxy("me", "pass:word") as proxy,
        ):
            monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//me:pass%3Aword@"))
            here = raw(tls.port, "model.example", ca_file=ca_file)
            assert ask(here).text == "echo: hi"
            first, headers = proxy.log[0]
        assert first == f"CONNECT model.example:{tls.port} HTTP/1.1"
        assert not any(SECRET in value for value in headers.values()), "the key is not for it"

    @pytest.mark.parametrize("secure", [False, True])
    def test_a_proxy_that_speaks_tls_itself(
        self, ask: Ask, authority: trustme.CA, front: TlsFront, ca_file: str, *, secure: bool
    ) -> None:
        with (
            FakeServer() as server,
            ForwardProxy() as proxy,
            TlsFront(proxy.url, server_context(authority)) as outer,
        ):
            base_url = f"https://localhost:{front.port}" if secure else server.url
            proxied = {"proxy": f"https://localhost:{outer.port}", "ca_file": ca_file}
            assert ask({"base_url": base_url, "model": "fake", **proxied}).text == "echo: hi"
            assert len(proxy.log) == 1

    @pytest.mark.parametrize("secure", [False, True])
    def test_a_proxy_that_wants_to_know_who_asks(
        self, ask: Ask, front: TlsFront, ca_file: str, *, secure: bool
    ) -> None:
        with FakeServer() as server, ForwardProxy("me", "right") as proxy:
            plain = {"base_url": server.url, "model": "fake"}
            here = raw(front.port, ca_file=ca_file) if secure else plain
            with pytest.raises(AuthError, match="wants user and password") as caught:
                ask({**here, "proxy": proxy.url})
            wrong = proxy.url.replace("//", f"//me:{SECRET}@")
            with pytest.raises(AuthError, match="refused user and password") as refused:
                ask({**here, "proxy": wrong})
        assert proxy.url in str(caught.value)
        assert "api_key_env" not in str(caught.value)
        assert SECRET not in str(refused.value)

    def test_a_proxy_that_is_not_there(self, ask: Ask) -> None:
        with ForwardProxy() as proxy:
            url = proxy.url
        with pytest.raises(ConnectError, match=f"proxy {url} cannot be: Connection refused"):
            ask({"base_url": "http://model.example", "model": "m", "proxy": url})

    def test_a_tunnel_that_leads_nowhere(self, ask: Ask, ca_file: str) -> None:
        with FakeServer() as server, pytest.raises(ConnectError, match=r"proxy .* answered 40\d"):
            # A server that is no proxy.
            ask(raw(1, "model.example", ca_file=ca_file, proxy=server.url))

    @pytest.mark.parametrize(
        ("no_proxy", "asked"),
        [
            ("", True),
            ("*", False),
            ("model.example", False),
            ("other.example, MODEL.example", False),
            (".example", False),
            ("*.example", False),
            ("example", False),
            ("del.example", True),
            ("model.example:8000", False),
            ("model.example:8001", True),
        ],
    )
    def test_no_proxy(self, monkeypatch: pytest.MonkeyPatch, no_proxy: str, *, asked: bool) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://p:1")
        monkeypatch.setenv("NO_PROXY", no_proxy)
        address = parse_address("http://model.example:8000")
        found = Connection.prepare("mine", address, ConnectionSettings())
        assert (found.proxy is not None) is asked

    @pytest.mark.parametrize(
        ("no_proxy", "asked"), [("10.0.0.0/8", False), ("10.1.2.3", False), ("10.2.0.0/16", True)]
    )
    def test_no_proxy_for_a_network(
        self, monkeypatch: pytest.MonkeyPatch, no_proxy: str, *, asked: bool
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "p:1")
        monkeypatch.setenv("NO_PROXY", no_proxy)
        address = parse_address("http://10.1.2.3")
        found = Connection.prepare("mine", address, ConnectionSettings())
        assert (found.proxy is not None) is asked
        none = Connection.prepare("mine", address, ConnectionSettings(proxy=""))
        assert none.proxy is None, "an empty one switches it off"

    def test_a_bad_one_in_the_environment_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTPS_PROXY", f"socks5://u:{SECRET}@h:1")
        with pytest.raises(ConfigError, match="HTTPS_PROXY") as caught:
            Connection.prepare("mine", parse_address("https://h"), ConnectionSettings())
        assert SECRET not in str(caught.value)

    def test_credentials_are_taken_out_of_the_address(self) -> None:
        proxy = parse_proxy(f"http://me:{SECRET}@[::1]:3128")
        assert proxy.url == "http://[::1]:3128"
        assert SECRET in proxy.secrets
        assert SECRET not in repr(proxy)
