"""A small runner of composite actions: what GitHub's does with action.yml, as far as it goes.

Steps in their order with their conditions; expressions; the environment files of each step;
`actions/cache` (keys that are never written twice, the newest by prefix otherwise) and
`actions/upload-artifact` (names that are taken once in a run). Whatever it does not know is an
error, so that the action cannot use more than is played here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
ABSOLUTE = ("GITHUB_", "RUNNER_", "EVALKIT_", "OPENAI_")


@dataclass
class Store:
    """What outlives a job: caches by key, in the order in which they were saved, and artifacts."""

    folder: Path
    caches: dict[str, Path] = field(default_factory=dict)
    artifacts: dict[str, set[str]] = field(default_factory=dict)

    def save(self, key: str, path: Path) -> None:
        if key not in self.caches and path.exists():
            self.caches[key] = self.folder / f"cache-{len(self.caches)}"
            shutil.copytree(path, self.caches[key])

    def restore(self, key: str, prefixes: list[str], path: Path) -> None:
        for prefix in (key, *prefixes):
            for known in reversed(self.caches):
                if known.startswith(prefix):
                    shutil.copytree(self.caches[known], path, dirs_exist_ok=True)
                    return


@dataclass
class Job:
    """One attempt at the job that uses the action."""

    folder: Path
    store: Store
    run_id: str = "7"
    attempt: str = "1"
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    failed: bool = False
    path: list[str] = field(default_factory=list)
    said: str = ""

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def run(self, **given: str) -> dict[str, str]:
        """Run the action; return its outputs."""
        self.workspace.mkdir(parents=True, exist_ok=True)
        (self.folder / "temp").mkdir()
        inputs = {name: str(value.get("default", "")) for name, value in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        for step in ACTION["runs"]["steps"]:
            if self.holds(step.get("if", "success()"), inputs):
                self.ran.append(step["name"])
                done = self.uses(step, inputs) if "uses" in step else self.script(step, inputs)
                self.failed = self.failed or not done
        return {
            name: self.filled(str(value["value"]), inputs)
            for name, value in ACTION["outputs"].items()
        }

    def holds(self, condition: str, inputs: Mapping[str, str]) -> bool:
        """Whether a step runs; without `always()` only where nothing has failed."""
        parts = [part.strip() for part in condition.split("&&")]
        if "always()" not in parts and self.failed:
            return False
        for part in parts:
            if part in ("always()", "success()"):
                continue
            found = re.fullmatch(r"(\S+) == '([^']*)'", part)
            assert found is not None, condition
            if self.value(found[1], inputs) != found[2]:
                return False
        return True

    def value(self, expression: str, inputs: Mapping[str, str]) -> str:
        for part in expression.split(" || "):
            scope, _, name = part.partition(".")
            if scope == "steps":
                step, _, output = name.partition(".outputs.")
                found = self.outputs.get(step, {}).get(output, "")
            else:
                known = {
                    "inputs": inputs,
                    "github": {
                        "action_path": str(ROOT),
                        "run_id": self.run_id,
                        "run_attempt": self.attempt,
                    },
                    "runner": {"temp": str(self.folder / "temp")},
                }
                found = known[scope][name]
            if found:
                return found
        return ""

    def filled(self, text: str, inputs: Mapping[str, str]) -> str:
        return EXPRESSION.sub(lambda match: self.value(match[1], inputs), text)

    def script(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> bool:
        """Run a script as a file, with files of its own for what it hands on."""
        assert step["shell"] == "bash"
        place = self.folder / f"step-{len(self.ran)}"
        place.mkdir()
        for name in ("output", "path", "summary", "env"):
            (place / name).touch()
        (place / "script.sh").write_text(self.filled(step["run"], inputs), encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if not k.startswith(ABSOLUTE)}
        env |= {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_PATH": str(place / "path"),
            "GITHUB_ENV": str(place / "env"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "PATH": os.pathsep.join([*self.path, env["PATH"]]),
        }
        env |= {key: self.filled(str(value), inputs) for key, value in step["env"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", place / "script.sh"],
            cwd=self.workspace,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.said += done.stdout + done.stderr
        lines = (place / "output").read_text(encoding="utf-8").splitlines()
        self.outputs[step["id"]] = dict(line.split("=", 1) for line in lines)
        self.path[:0] = (place / "path").read_text(encoding="utf-8").split()
        return done.returncode == 0

    def uses(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> bool:
        """Play one of GitHub's own actions."""
        name, _, version = step["uses"].partition("@")
        given = {key: self.filled(str(value), inputs) for key, value in step["with"].items()}
        # Older ones run on a Node.js that runners have no more since September 2026.
        if name == "actions/cache/restore":
            assert version == "v5"
            prefixes = given["restore-keys"].split()
            self.store.restore(given["key"], prefixes, self.workspace / given["path"])
        elif name == "actions/cache/save":
            assert version == "v5"
            self.store.save(given["key"], self.workspace / given["path"])
        elif name == "actions/upload-artifact":
            assert version == "v6"
            assert given["name"] not in self.store.artifacts, "an artifact's name is taken once"
            places = [self.workspace / line for line in given["path"].split("\n") if line]
            self.store.artifacts[given["name"]] = {p.name for p in places if p.exists()}
        else:
            raise AssertionError(f"{name} is not played here")
        return True


def python_that_installs(folder: Path) -> Path:
    """Return an interpreter for the install step that stands for pip: evalkit as it is here."""
    path = folder / "python"
    ours = Path(sys.executable).parent / "evalkit"
    lines = (
        "#!/bin/sh",
        "# -m venv TARGET",
        'mkdir -p "$3/bin"',
        f'ln -s {ours} "$3/bin/evalkit"',
        """printf '#!/bin/sh\\necho "$@" > "$0.asked"\\n' > "$3/bin/python\"""",
        'chmod +x "$3/bin/python"',
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path
