"""Are the weights on this disk those of a manifest?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalkit.endpoints.manifest import Difference, FileHash, read_manifest, verify
from evalkit.errors import UsageError
from evalkit.types import Identity


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a comparison with a manifest found.

    Attributes:
        path: Of the weights.
        files: In the manifest.
        equal: Whether every byte is what the manifest says; a file that became a link to the
            same bytes is equal.
    """

    path: str
    files: int
    equal: bool
    differences: tuple[Difference, ...]


def weigh(manifest: Path, weights: Path | None, identity: Identity | None) -> Weighed:
    """Compare local weights with a manifest.

    Args:
        manifest: From `evalkit check --write-manifest`.
        weights: Folder or file; by default what the endpoint serves, where it knows the hash of
            its file or names a folder of this machine; without an endpoint the folder that the
            manifest lies in.
        identity: Of the endpoint.

    Raises:
        UsageError: When the endpoint's weights are not on this machine.
        StoreError: When something cannot be read.
    """
    expected = read_manifest(manifest)
    if weights is None and identity is not None and identity.weights_hash is not None:
        return _by_hash(expected, identity)
    path = weights or (manifest.resolve().parent if identity is None else _served(identity))
    # A manifest that lies among the weights is none of them.
    found = [
        difference
        for difference in verify(path, expected)
        if not (difference.kind == "extra" and (path / difference.path).samefile(manifest))
    ]
    equal = all(difference.kind == "link" for difference in found)
    return Weighed(str(path), len(expected), equal, tuple(found))


def _by_hash(expected: list[FileHash], identity: Identity) -> Weighed:
    """Compare the hash of the one file that is served, which was made when it was loaded."""
    name = str(identity.details.get("file", "the served file"))
    known = any(file.sha256 == identity.weights_hash for file in expected)
    message = f"{name} is none of the files of the manifest."
    found = () if known else (Difference(name, "changed", message),)
    return Weighed(name, len(expected), known, found)


def _served(identity: Identity) -> Path:
    path = Path(str(identity.details.get("root", "")))
    if path.is_absolute() and path.exists():
        return path
    raise UsageError(
        "The endpoint does not say where on this machine its weights are.",
        hint="Name them: --weights DIR.",
    )
