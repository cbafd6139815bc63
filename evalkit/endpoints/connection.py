"""The way to a server: through which proxy, and whom it must prove to be."""

from __future__ import annotations

import base64
import ipaddress
import ssl
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

import aiohttp
from pydantic import Field, field_validator, model_validator

from evalkit.endpoints.failures import broken_connection
from evalkit.endpoints.settings import EndpointSettings
from evalkit.endpoints.urls import Address, mask_url
from evalkit.errors import AuthError, CertificateError, ConfigError, ConnectError, EndpointError

_PORTS = {"http": 80, "https": 443}
# OpenSSL's X509_V_ERR numbers: the issuer is not known, in the five ways to say so.
_UNKNOWN_ISSUER = frozenset({2, 18, 19, 20, 21})


class ConnectionSettings(EndpointSettings):
    """How a server is reached.

    There is no switch that turns the check of certificates off: who answers is what a
    comparison is about.

    Attributes:
        proxy: Address of a proxy; default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, which are
            not asked for this machine's own address. Empty: no proxy.
        ca_file: PEM file of the authorities that may vouch for the server, instead of the
            system's (or those of SSL_CERT_FILE).
        client_cert: PEM file of a certificate to show to the server.
        client_key: PEM file of its key, unless the certificate's file holds it.
    """

    proxy: str | None = Field(None, repr=False)
    ca_file: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None

    @field_validator("proxy")
    @classmethod
    def _is_proxy(cls, value: str | None) -> str | None:
        if value:
            parse_proxy(value)
        return value

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        if self.client_key is not None and self.client_cert is None:
            raise ValueError("client_key needs client_cert")
        return self


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where a proxy listens, without credentials, and those that it is told."""

    url: str
    user: str | None = None
    password: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str] | None:
        """What the proxy alone is sent.

        aiohttp takes this header as the proxy's, and gives it the proper name.
        """
        return None if self.user is None else {"Authorization": f"Basic {self._token}"}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        return () if self.user is None else (self._token, self.password)

    @property
    def _token(self) -> str:
        return base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Connection:
    """What a session needs to know. `ssl_context` is `None` for plain HTTP."""

    proxy: Proxy | None = None
    ssl_context: ssl.SSLContext | None = field(default=None, repr=False)

    @property
    def proxy_url(self) -> str | None:
        """Where the proxy listens."""
        return None if self.proxy is None else self.proxy.url

    @property
    def proxy_headers(self) -> dict[str, str] | None:
        """What the proxy alone is sent."""
        return None if self.proxy is None else self.proxy.headers

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        return () if self.proxy is None else self.proxy.secrets

    @classmethod
    def prepare(cls, endpoint: str, address: Address, settings: ConnectionSettings) -> Self:
        """Choose the proxy and read the certificates.

        Raises:
            ConfigError: Naming endpoint and key, or the environment variable.
        """
        proxy = _choose_proxy(endpoint, address, settings.proxy)
        secure = any(
            url.startswith("https://") for url in (address.api, "" if proxy is None else proxy.url)
        )
        if not secure and (settings.ca_file or settings.client_cert):
            key = "ca_file" if settings.ca_file else "client_cert"
            raise ConfigError(
                f"Endpoint '{endpoint}' has {key}, but its address does not begin with https://."
            )
        context = ssl_context(endpoint, settings) if secure else None
        return cls(proxy, context)


def parse_proxy(url: str) -> Proxy:
    """Read a proxy's address; without a scheme it is `http://`, as everywhere.

    Raises:
        ValueError: When it is none; the message holds no part of it.
    """
    text = url.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("it is no address of a proxy") from None
    if parts.scheme.lower() not in _PORTS:
        raise ValueError("a proxy must be http:// or https:// (SOCKS is not spoken)")
    if not host:
        raise ValueError("it must be http:// and a host")
    host = f"[{host}]" if ":" in host else host
    place = host if port is None else f"{host}:{port}"
    user = None if parts.username is None else unquote(parts.username)
    return Proxy(f"{parts.scheme.lower()}://{place}", user, unquote(parts.password or ""))


def ssl_context(endpoint: str, settings: ConnectionSettings) -> ssl.SSLContext:
    """Make the context that checks the server's certificate and shows ours.

    Without `ca_file` the authorities are OpenSSL's own, which SSL_CERT_FILE and
    SSL_CERT_DIR replace.

    Raises:
        ConfigError: For a file that cannot be read or holds no certificate.
    """
    ca_file, cert, key = settings.ca_file, settings.client_cert, settings.client_key
    try:
        context = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except OSError as error:
        raise _unreadable(endpoint, "ca_file", ca_file, error) from error
    if cert is not None:
        try:
            context.load_cert_chain(cert, key, password=_refuse_passphrase)
        except _Encrypted as error:
            raise ConfigError(
                f"Endpoint '{endpoint}': the key of {cert} has a passphrase.",
                hint="Give client_key without one, readable by you alone.",
            ) from error
        except OSError as error:
            raise _unreadable(endpoint, "client_cert", cert, error) from error
    return context


def broken_way(error: Exception, where: str, proxy: Proxy | None) -> EndpointError | None:
    """Return what a failed exchange means, where the way is to blame and not the server.

    Args:
        error: Of aiohttp.
        where: Endpoint and masked URL, for the message.
        proxy: That was asked, if any.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        refused = error.certificate_error
        if isinstance(refused, ssl.SSLCertVerificationError):
            return CertificateError(
                f"{where} shows a certificate that is not trusted: {refused.verify_message}.",
                hint=certificate_advice(refused),
            )
    said = str(error) if isinstance(error, OSError) else ""
    if "WRONG_VERSION_NUMBER" in said or "RECORD_LAYER_FAILURE" in said:
        return ConnectError(f"{where} does not speak TLS.", hint="Write http:// in its base_url.")
    if proxy is None:
        return None
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return proxy_refusal(error.status, where, proxy) or ConnectError(
            f"{where} cannot be reached: its proxy {proxy.url} answered {error.status}."
        )
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        reason = broken_connection(error)
        return ConnectError(
            f"{where} cannot be reached: its proxy {proxy.url} cannot be: {reason}."
        )
    return None


def proxy_refusal(status: int, where: str, proxy: Proxy | None) -> AuthError | None:
    """Return the error for a proxy that wants to know who asks."""
    if status != HTTPStatus.PROXY_AUTHENTICATION_REQUIRED or proxy is None:
        return None
    said = "refused user and password" if proxy.user is not None else "wants user and password"
    return AuthError(
        f"{where} cannot be reached: its proxy {proxy.url} {said} (407).",
        hint="Set proxy: http://${USER}:${PASSWORD}@HOST:PORT at the endpoint, or HTTPS_PROXY.",
        status=status,
    )


def certificate_advice(error: ssl.SSLCertVerificationError) -> str | None:
    """Return what to do about a certificate that was refused."""
    if error.verify_code in _UNKNOWN_ISSUER:
        return (
            "If it is your own, name its authority: ca_file: PATH at the endpoint, or the "
            "environment variable SSL_CERT_FILE."
        )
    if error.verify_message and "ostname" in error.verify_message:
        return "Write the name in base_url that the certificate is made for."
    return None


def _choose_proxy(endpoint: str, address: Address, named: str | None) -> Proxy | None:
    if named is not None:
        return parse_proxy(named) if named else None
    if address.loopback:
        return None
    parts = urlsplit(address.api)
    proxies = getproxies_environment()
    found = proxies.get(parts.scheme) or proxies.get("all")
    port = parts.port or _PORTS[parts.scheme]
    if not found or _bypassed(parts.hostname or "", port, proxies.get("no", "")):
        return None
    try:
        return parse_proxy(found)
    except ValueError as error:
        raise ConfigError(
            f"Endpoint '{endpoint}': the proxy that the environment names for "
            f"{mask_url(address.root)} cannot be used: {error}.",
            hint="Change HTTP_PROXY or HTTPS_PROXY, or set proxy: '' at the endpoint.",
        ) from None


def _bypassed(host: str, port: int | None, listed: str) -> bool:
    """Whether NO_PROXY names a host: itself, a domain above it, or a network around it."""
    for word in listed.split(","):
        entry = word.strip().lower()
        if entry == "*" or _in_network(host, entry):
            return True
        name, _, wanted = entry.rpartition(":") if entry.count(":") == 1 else (entry, "", "")
        name = name.removeprefix("*").removeprefix(".")
        if wanted and wanted != str(port):
            continue
        if name and (host == name or host.endswith(f".{name}")):
            return True
    return False


def _in_network(host: str, entry: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False


class _Encrypted(Exception):
    """OpenSSL asked for a passphrase; by default it would ask on the terminal."""


def _refuse_passphrase() -> str:
    raise _Encrypted


def _unreadable(endpoint: str, key: str, path: Path | None, error: OSError) -> ConfigError:
    if isinstance(error, ssl.SSLError):
        reason = "it holds no certificate in PEM form"
        if key == "client_cert":
            reason = "it holds no certificate in PEM form, or its key does not fit"
    else:
        reason = error.strerror or str(error)
    return ConfigError(f"Endpoint '{endpoint}', {key} {path}: {reason}.")
