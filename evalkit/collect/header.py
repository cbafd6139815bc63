"""The header of a run: who was asked, and how. It decides what may share a folder."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from evalkit import __version__
from evalkit.collect.journal import RunFolder
from evalkit.collect.preflight import read_record
from evalkit.collect.redaction import KEY_VARIABLE
from evalkit.endpoints.base import Endpoint
from evalkit.errors import FingerprintMismatch, StoreError
from evalkit.fingerprint import identity_key
from evalkit.types import Identity, Sampling

HEADER_VERSION = 1
DECLARED = "declared"
DEATHS = "server_deaths"
_FROM_THE_START = ("created", "run_id", DECLARED, DEATHS)
_PACKAGES = ("aiohttp", "orjson", "xllamacpp", "gguf", "numpy", "scipy")


def make_header(
    endpoint: Endpoint,
    identity: Identity,
    sampling: Mapping[str, Sampling],
    **more: Any,
) -> dict[str, Any]:
    """Describe a run.

    Args:
        endpoint: Its name and label are kept; nothing secret is.
        identity: What the endpoint was found to be.
        sampling: How each taskset is sampled, by the taskset's name.
        more: Anything else that JSON can hold (seed, epochs, content hashes, ...).
    """
    return header_of(endpoint.name, endpoint.label, identity, sampling, **more)


def header_of(
    name: str, label: str, identity: Identity, sampling: Mapping[str, Sampling], **more: Any
) -> dict[str, Any]:
    """Describe a run of whatever has a name and a label; see `make_header`."""
    return {
        "run_id": secrets.token_hex(8),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **more,
        "header_version": HEADER_VERSION,
        "endpoint": {"name": name, "label": label},
        "identity": asdict(identity),
        "identity_key": dict(identity_key(identity)),
        "sampling": {name: _plain(value) for name, value in sorted(sampling.items())},
        "versions": {
            "evalkit": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            **_installed(),
        },
    }


def identity_of(header: Mapping[str, Any]) -> Identity:
    """Read the identity back from a header.

    Raises:
        StoreError: When there is none.
    """
    try:
        return Identity(**header["identity"])
    except (KeyError, TypeError) as error:
        raise StoreError(f"The header holds no identity of an endpoint: {error}.") from error


def adopt_header(folder: RunFolder, header: Mapping[str, Any]) -> None:
    """Write a run's header, unless the folder belongs to another endpoint or settings.

    `identity_key` must be equal, and so must `redaction`, `sampling` and the revision of its
    data for every taskset that both know, the fields that are not sent, and what was answered
    to fixed prompts in the preflight. Other tasksets and more samples are fine; what is known
    of earlier ones is kept, and so is what was declared before the first request.

    Args:
        folder: Opened for writing.
        header: From `make_header`.

    Raises:
        FingerprintMismatch: With every field that differs, old → new.
        StoreError: When it cannot be read or written.
    """
    old = check_header(folder, header)
    if old is None:
        folder.write_header(header)
        return
    merged = {**old.get("sampling", {}), **header["sampling"]}
    kept = {key: old[key] for key in _FROM_THE_START if key in old}
    if DECLARED in header and DECLARED not in old:
        # An older header names the policy by its hash alone.
        kept[DECLARED] = {"policy_hash": old.get("settings", {}).get("policy_hash")}
    new = {**header, "sampling": merged, **kept}
    if "redaction" in header:
        scorers = {**old["redaction"]["scorers"], **header["redaction"]["scorers"]}
        new["redaction"] = {**header["redaction"], "scorers": scorers}
    folder.write_header(new)


def check_header(folder: RunFolder, header: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Refuse a folder that belongs to another endpoint or settings; see `adopt_header`.

    A header without a preflight is checked for what is known without asking anything.

    Returns:
        The folder's present header, if it has one.

    Raises:
        FingerprintMismatch: With every field that differs, old → new.
        StoreError: When it cannot be read.
    """
    old = folder.read_header()
    if old is None:
        return None
    _refuse_other_redaction(folder, old.get("redaction"), header.get("redaction"))
    old_sampling = old.get("sampling", {})
    differences = _differences("", old.get("identity_key", {}), header["identity_key"])
    for taskset in sorted(set(old_sampling) & set(header["sampling"])):
        new = header["sampling"][taskset]
        differences += _differences(f"{taskset}.", old_sampling[taskset], new)
    differences += _differences("", *_revisions(old, header))
    if "preflight" in header:
        omitted = [{"omitted": list(one.get("omitted", ()))} for one in (old, header)]
        differences += _differences("", *omitted)
        differences += _changed_answers(old, header)
    if old.get("changed"):
        raise FingerprintMismatch(
            f"{folder.path} holds answers of two endpoints: {old['changed']}",
            hint="Use --fresh to throw them away, or another --output.",
        )
    if differences:
        raise FingerprintMismatch(
            f"{folder.path} holds answers of another endpoint or other settings: "
            f"{'; '.join(differences)}.",
            hint="Use --fresh to throw them away, or another --output.",
        )
    return old


def _refuse_other_redaction(
    folder: RunFolder, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> None:
    """Refuse to mix texts with hashes, hashes of two keys, and scores of two scorers."""
    away = "Use --fresh to throw them away, or another --output."
    if (old is None) != (new is None):
        holds, flag = ("texts", "without") if old is None else ("redacted answers", "with")
        raise FingerprintMismatch(
            f"{folder.path} holds {holds}: it goes on {flag} --redact.", hint=away
        )
    if old is None or new is None:
        return
    if (old["version"], old["key_check"]) != (new["version"], new["key_check"]):
        raise FingerprintMismatch(
            f"{folder.path} holds answers that were redacted with another secret.",
            hint=f"Set {KEY_VARIABLE} to what it was then. {away}",
        )
    changed = [
        f"{name} {scorer} → {new['scorers'][name]}"
        for name, scorer in sorted(old["scorers"].items())
        if new["scorers"].get(name, scorer) != scorer
    ]
    if changed:
        raise FingerprintMismatch(
            f"{folder.path} holds redacted answers with scores of other scorers "
            f"({', '.join(changed)}), and no texts to score again.",
            hint=away,
        )


def declared_policy(header: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    """Return hash and numbers of the policy that was fixed before a run's first request.

    Either is `None` where the header does not say.
    """
    declared = header.get(DECLARED) or header.get("settings") or {}
    return declared.get("policy_hash"), declared.get("policy")


def run_id_of(header: Mapping[str, Any]) -> str:
    """Return what tells one collection of answers from another; `--fresh` begins a new one."""
    return str(header.get("run_id") or header.get("created") or "")


def add_deaths(folder: RunFolder, reasons: Sequence[str]) -> None:
    """Note in a run's header why its server died while it was asked.

    Raises:
        StoreError: When it cannot be read or written.
    """
    header = folder.read_header()
    if reasons and header is not None:
        folder.write_header({**header, DEATHS: [*header.get(DEATHS, ()), *reasons]})


def mark_changed(folder: RunFolder, message: str) -> None:
    """Write into a run's header that its endpoint became another one meanwhile.

    Raises:
        StoreError: When it cannot be written.
    """
    folder.write_header({**(folder.read_header() or {}), "changed": message})


def _canaries(header: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers to fixed prompts that were the same each time."""
    record = read_record(header.get("preflight"), Identity(kind="", model=""))
    return {} if record is None else {c.name: c.text for c in record.canaries if c.stable}


def _revisions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the revision of each taskset that both know and that has one."""
    told = [
        {row["name"]: row.get("revision") for row in header.get("plan", {}).get("tasksets", ())}
        for header in (old, new)
    ]
    shared = [name for name in told[0] if name in told[1]]
    for one in told:
        yield {f"{name}.revision": one[name] for name in shared}


def _changed_answers(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    before, now = _canaries(old), _canaries(new)
    return [
        f"its answer to the {name} prompt"
        for name, text in before.items()
        if now.get(name, text) != text
    ]


def _differences(prefix: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [
        f"{prefix}{key} {old.get(key)!r} → {new.get(key)!r}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]


def _plain(sampling: Sampling) -> dict[str, Any]:
    return {**asdict(sampling), "stop": list(sampling.stop)}


def _installed() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
