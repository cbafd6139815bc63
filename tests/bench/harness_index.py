"""CPU seconds until one task of lm-eval is known: all files parsed, or found by its name."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def _measured(what: str, work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    print(f"{what:<42}{time.process_time() - began:6.2f} s")


def main() -> None:
    from lm_eval.tasks import TaskManager

    from evalkit.tasksets import harness_files

    files = sum(1 for _ in harness_files._yaml_files(harness_files.shipped_tasks()))
    print(f"{files} YAML files")
    for name in ("gsm8k", "mmlu", "ai2_arc", "no_such_task"):
        harness_files._names_in.cache_clear()
        found: list[Path] = []
        _measured(
            f"evalkit: files of {name}",
            lambda name=name, found=found: found.extend(harness_files.find_definitions(name, [])),
        )
        folders = sorted({str(path.parent) for path in found})
        _measured(
            "  and lm-eval's index of their folders",
            lambda folders=folders: TaskManager(include_path=folders, include_defaults=False),
        )
    # Last, since lm-eval keeps the files that it has parsed.
    _measured("lm-eval: index of all", TaskManager)


if __name__ == "__main__":
    main()
