"""Where a checkpoint lies on this machine."""

from __future__ import annotations

from pathlib import Path

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")


def checkpoint_folder(model: str, revision: str | None) -> Path | None:
    """Return a checkpoint's folder: the given one, or the hub's snapshot in the cache."""
    if Path(model).is_dir():
        return Path(model).resolve()
    from transformers.utils import cached_file

    try:
        found = cached_file(model, "config.json", revision=revision, local_files_only=True)
    except OSError:
        return None
    # The file is a link into the cache's store: its folder is that of the snapshot.
    return None if found is None else Path(found).absolute().parent


def checkpoint_bytes(folder: Path) -> int:
    """Return the bytes of the weights."""
    return sum(f.stat().st_size for f in folder.iterdir() if f.suffix in _WEIGHTS)
