"""action.yml and the GitLab job, played as their runners would, with the evalkit at hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalkit.config import load_config
from evalkit.policy import read_policy
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

ROOT = Path(__file__).parent.parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
N = 40


@dataclass
class Job:
    """A workspace, with two servers that a gate may compare."""

    folder: Path
    targets: str

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run one bash step of the action under the given inputs."""
        (step,) = (s for s in ACTION["runs"]["steps"] if s.get("id") == name)
        given = {key: str(value.get("default", "")) for key, value in ACTION["inputs"].items()}
        given |= {key.replace("_", "-"): value for key, value in inputs.items()}
        env = {key: evaluated(value, given, self.folder) for key, value in step["env"].items()}
        return self.bash(step["run"], env)

    def bash(self, text: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        for name in ("github_output", "github_path", "summary.md"):
            (self.folder / name).touch()
        github = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(self.folder / "github_output"),
            "GITHUB_PATH": str(self.folder / "github_path"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("EVALKIT_", "OPENAI_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
        # As the runner calls it.
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            cwd=self.folder / "workspace",
            env={**clean, **github, **env, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "github_output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)


def evaluated(text: str, inputs: Mapping[str, str], folder: Path) -> str:
    """Fill in the few expressions that the action uses."""

    def value(match: re.Match[str]) -> str:
        for part in match[1].split(" || "):
            known = {"github.action_path": str(ROOT), "runner.temp": str(folder)}
            found = known.get(part) or inputs.get(part.removeprefix("inputs."), "")
            assert part in known or part.removeprefix("inputs.") in inputs, part
            if found:
                return found
        return ""

    return EXPRESSION.sub(value, text)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    (tmp_path / "workspace").mkdir()
    write_quiz(tmp_path / "workspace" / "quiz", N)
    with FakeServer(script(N)) as a, FakeServer(script(N, wrong=range(20))) as b:
        yield Job(tmp_path, f"{a.url}#fake\n{b.url}#fake\n")


def test_no_step_interpolates_anything_into_a_script() -> None:
    steps = ACTION["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 2
    assert not [text for text in scripts if "${{" in text or "eval " in text]
    assert all(step["shell"] == "bash" for step in steps if "run" in step)
    for text in scripts:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    assert used == set(ACTION["inputs"]), "every input is used, and every used one is declared"
    assert all(value["description"] for value in ACTION["inputs"].values())


def test_the_action_compares_judges_and_ends_with_the_verdict(job: Job) -> None:
    compared = job.step("decide", targets=job.targets, arguments="--tasks=quiz\n--aa=0\n\n")
    assert compared.returncode == 3, compared.stderr
    assert "::error title=✗ HOLD%3A" in compared.stdout
    found = job.outputs()
    assert (found["verdict"], found["exit-code"]) == ("HOLD", "3")
    assert (job.folder / "workspace" / found["report"]).is_file()
    assert ET.parse(found["junit"]).getroot().tag == "testsuites"
    assert "## ✗ HOLD" in (job.folder / "summary.md").read_text(encoding="utf-8")
    judged = job.step("decide", command="gate", policy="strict")
    assert judged.returncode == 3, judged.stderr
    few = job.step(
        "decide",
        targets="\n".join(reversed(job.targets.split())),
        folder="few",
        arguments="--tasks=quiz\n--aa=0",
        inconclusive="pass",
    )
    assert job.outputs()["verdict"] == "INCONCLUSIVE", few.stderr
    assert few.returncode == 0


def test_inputs_are_words_and_never_commands(job: Job) -> None:
    hostile = "x; touch pwned $(touch pwned) `touch pwned` 'a' \"b\" && touch pwned"
    for name in ("targets", "config", "policy", "folder", "arguments", "command", "lang"):
        inputs = {"command": "gate", name: hostile}
        ended = job.step("decide", **inputs)
        assert ended.returncode == 2, (name, ended.stdout, ended.stderr)
        assert not list(job.folder.rglob("pwned*")), name
    assert set(job.outputs()) == {"verdict", "exit-code", "report", "junit"}
    job.step("decide", command="gate", folder="a\nverdict=SHIP")
    assert job.outputs()["verdict"] == "ERROR"


def test_the_install_step_takes_the_action_itself(job: Job) -> None:
    (job.folder / "python").write_text(
        '#!/bin/sh\nmkdir -p "$3/bin"\n'
        'printf \'#!/bin/sh\\necho "$@" > "%s/../asked"\\n\' "$3/bin" > "$3/bin/python"\n'
        'chmod +x "$3/bin/python"\n',
        encoding="utf-8",
    )
    (job.folder / "python").chmod(0o755)
    ended = job.step("install", python=str(job.folder / "python"))
    assert ended.returncode == 0, ended.stderr
    asked = (job.folder / "evalkit-venv" / "asked").read_text(encoding="utf-8")
    assert asked.endswith(f"-- {ROOT}\n")
    on_path = (job.folder / "github_path").read_text(encoding="utf-8")
    assert on_path == f"{job.folder}/evalkit-venv/bin\n"


def test_the_pre_release_example_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ROOT / "configs" / "pre-release"
    for name in ("RELEASED_URL", "CANDIDATE_URL", "MODEL"):
        monkeypatch.delenv(name, raising=False)
    config = load_config(folder / "evalkit.yaml", ())
    assert (config.baseline, config.candidates) == ("released", ("candidate",))
    assert read_policy(folder / "policy.yaml").plan == "two-stage"


def test_the_gitlab_job_runs_the_example_and_ends_with_the_verdict(job: Job) -> None:
    path = ROOT / "configs" / "pre-release" / "gitlab-ci.yml"
    made: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["evalkit"]
    workspace = job.folder / "workspace"
    (workspace / "configs").symlink_to(ROOT / "configs")
    urls = [line.removesuffix("#fake") for line in job.targets.split()]
    env = {
        **made["variables"],
        "RELEASED_URL": urls[0],
        "CANDIDATE_URL": urls[1],
        "MODEL": "fake",
        "GATE_ARGUMENTS": "--tasks quiz --set suite=null --aa 0",
    }
    ended = job.bash("set -e\n" + "\n".join(made["script"]), env)
    assert ended.returncode == 3, ended.stderr
    assert "✗ HOLD" in ended.stdout
    for name in (*made["artifacts"]["paths"], made["artifacts"]["reports"]["junit"]):
        assert (workspace / name).is_file(), name
    assert made["allow_failure"]["exit_codes"] == [4]
    broken = job.bash("set -e\n" + "\n".join(made["script"]), {**env, "GATE_CONFIG": "none.yaml"})
    assert broken.returncode not in (0, 3, 4, 5)
