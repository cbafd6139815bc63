"""Where the data lies that ships with evalkit: tasksets, report templates, policies, workloads."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """Return the folder `tasksets`, `templates`, `configs` or `workloads`.

    A wheel carries them inside the package; a checkout has them beside it.

    Raises:
        FileNotFoundError: When the installation is incomplete.
    """
    checkout = {
        "tasksets": "tasksets",
        "templates": "reports/templates",
        "configs": "configs",
        "workloads": "workloads",
    }
    shipped = _PACKAGE / "data" / name
    for folder in (shipped, _PACKAGE.parent / checkout[name]):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"evalkit's own folder '{name}' is missing: reinstall evalkit")
