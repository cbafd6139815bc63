"""Play a Dockerfile without a container engine: every step, stage by stage, in a bare system.

    python scripts/play_dockerfile.py BASE ROOTS [--target STAGE]

BASE is the root of a small Debian with `python` in it, which stands for every base image; it
is not changed. Each stage becomes a folder below ROOTS. Understood is what our Dockerfile
uses: FROM, ARG, ENV, WORKDIR, COPY, RUN, USER, LABEL, ENTRYPOINT and CMD in their usual forms,
and a `.dockerignore` that lists what may be copied; anything else is an error. Needs root and
bubblewrap. What it cannot show: that the base image named in FROM exists, and how a container
engine confines what runs. `make test-container` makes BASE and plays both images.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What a machine behind a mirror needs for apt and pip, and no image should hold.
HOST_FILES = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


@dataclass(frozen=True)
class Step:
    """One instruction: its word, and the rest on one line."""

    word: str
    rest: str


@dataclass
class Stage:
    """What a stage has come to: files, and what a process in it starts with."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    arguments: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def filled(self, text: str) -> str:
        """Return a text with the variables of the build in it."""
        known = self.arguments | self.env
        return VARIABLE.sub(lambda match: known.get(match[1] or match[2], ""), text)


def steps(text: str) -> Iterator[Step]:
    """Yield the instructions of a Dockerfile, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\s*\\\n\s*", " ", "\n".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield Step(word.upper(), rest.strip())


def assignments(rest: str) -> dict[str, str]:
    """Return `A=1 B="two words"` as a mapping."""
    return dict(piece.split("=", 1) for piece in shlex.split(rest))


def allowed(text: str) -> tuple[str, ...]:
    """Return what a `.dockerignore` of the form `*`, `!NAME`, ... lets through."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    if lines[0] != "*":
        raise ValueError("the .dockerignore does not begin with *")
    return tuple(line[1:] for line in lines[1:] if line.startswith("!"))


def inside(
    stage: Stage, words: Sequence[str], *, env: Mapping[str, str] | None = None, host: bool = False
) -> list[str]:
    """Return the command that runs words in a stage as a container would, root being its own.

    Args:
        stage: Where.
        words: What.
        env: Further variables.
        host: Whether the machine's settings for apt and pip are lent to it, as to a build.
    """
    # The whole of /proc: where parts of it are hidden, no sandbox inside may mount its own.
    command = ["bwrap", "--bind", str(stage.root), "/", "--bind", "/proc", "/proc"]
    command += ["--dev", "/dev", "--unshare-ipc", "--die-with-parent", "--cap-add", "ALL"]
    lent = dict(env or {})
    for path in HOST_FILES if host else HOST_FILES[:1]:
        if Path(path).exists():
            command += ["--ro-bind", os.path.realpath(path), path]
    if host:
        lent |= {k: v for k, v in os.environ.items() if k.startswith("PIP_") and "LINKS" not in k}
    command += ["--clearenv", "--chdir", stage.folder]
    for name, value in (stage.env | {"HOME": home(stage)} | lent).items():
        command += ["--setenv", name, value]
    user = [] if stage.user == "0" else ["setpriv", *dropped(stage.user), "--"]
    return [*command, *user, *words]


def dropped(user: str) -> tuple[str, ...]:
    """Return the options that leave nothing of root."""
    # The bounding set stays, as in a container: a sandbox may still make namespaces.
    return (f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all")


def home(stage: Stage) -> str:
    """Return the home of the stage's user, `/` where nobody knows it."""
    for line in (stage.root / "etc/passwd").read_text(encoding="utf-8").splitlines():
        fields = line.split(":")
        if fields[2] == stage.user:
            return fields[5]
    return "/"


def copy(stage: Stage, words: Sequence[str], source: Path, names: tuple[str, ...] | None) -> None:
    """Play a COPY; `names` is what may be copied, `None` for everything."""
    *sources, to = words
    target = Path(os.path.normpath(Path(stage.folder, to)))
    for name in sources:
        if names is not None and not any((name + "/").startswith(ok + "/") for ok in names):
            raise ValueError(f"COPY {name}: the .dockerignore leaves it out")
        path = source / name.lstrip("/")
        place = stage.root / str(target).lstrip("/")
        if path.is_dir():
            hidden = shutil.ignore_patterns("__pycache__") if names is not None else None
            shutil.copytree(path, place, dirs_exist_ok=True, symlinks=True, ignore=hidden)
        else:
            into_folder = to.endswith("/") or len(sources) > 1
            place = place / path.name if into_folder else place
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


def play(text: str, base: Path, roots: Path, context: Path, target: str | None) -> dict[str, Stage]:
    """Play a Dockerfile; return its stages by name, up to the one that is wanted."""
    names = allowed((context / ".dockerignore").read_text(encoding="utf-8"))
    stages: dict[str, Stage] = {}
    wanted = needed(text, target)
    stage: Stage | None = None
    for step in steps(text):
        if step.word == "FROM":
            origin, _, name = step.rest.partition(" AS ")
            stage = began(stages.get(origin), base, roots / name) if name in wanted else None
            if stage is not None:
                stages[name] = stage
        elif stage is not None:
            print(f"{step.word} {step.rest}", flush=True)
            obey(stage, step, stages, context, names)
    return stages


def needed(text: str, target: str | None) -> set[str]:
    """Return the stages that one is made from, itself among them; the last one by default."""
    origins: dict[str, set[str]] = {}
    for step in steps(text):
        if step.word == "FROM":
            origin, _, name = step.rest.partition(" AS ")
            origins[name] = {origin}
        elif step.word == "COPY" and (found := re.match(r"--from=(\S+)", step.rest)):
            origins[name].add(found[1])
    open_names, wanted = {target or list(origins)[-1]}, set()
    while open_names:
        name = open_names.pop()
        wanted.add(name)
        open_names |= origins.get(name, set()) - wanted
    return wanted


def began(origin: Stage | None, base: Path, root: Path) -> Stage:
    """Return a new stage, a copy of another one or of the base."""
    root.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["cp", "-a", "--reflink=auto", origin.root if origin else base, root], check=True
    )
    if origin is None:
        return Stage(root)
    return Stage(
        root,
        dict(origin.env),
        {},
        dict(origin.labels),
        origin.folder,
        origin.user,
        list(origin.entrypoint),
        list(origin.command),
    )


def obey(
    stage: Stage, step: Step, stages: Mapping[str, Stage], context: Path, names: tuple[str, ...]
) -> None:
    """Play one instruction.

    Raises:
        ValueError: For one that is not understood here.
    """
    rest = step.rest
    if step.word == "RUN":
        words = inside(stage, ["/bin/sh", "-c", rest], env=stage.arguments, host=True)
        subprocess.run(words, check=True)
    elif step.word == "COPY":
        found = re.match(r"--from=(\S+)\s+(.*)", rest)
        if found:
            copy(stage, shlex.split(found[2]), stages[found[1]].root, None)
        else:
            copy(stage, shlex.split(rest), context, names)
    elif step.word == "ARG":
        stage.arguments |= assignments(rest)
    elif step.word == "ENV":
        stage.env |= {key: stage.filled(value) for key, value in assignments(rest).items()}
    elif step.word == "LABEL":
        stage.labels |= {key: stage.filled(value) for key, value in assignments(rest).items()}
    elif step.word == "WORKDIR":
        stage.folder = rest
        (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif step.word == "USER":
        stage.user = rest
    elif step.word == "ENTRYPOINT":
        stage.entrypoint = json.loads(rest)
    elif step.word == "CMD":
        stage.command = json.loads(rest)
    else:
        raise ValueError(f"{step.word} is not understood")


def main() -> None:
    """Play what the command line names, and run the image once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("roots", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--run", nargs=argparse.REMAINDER, help="Then run the image with these.")
    given = parser.parse_args()
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    stages = play(text, given.base.resolve(), given.roots.resolve(), ROOT, given.target)
    image = list(stages.values())[-1] if given.target is None else stages[given.target]
    words = [*image.entrypoint, *(given.run or image.command)]
    raise SystemExit(subprocess.run(inside(image, words), check=False).returncode)


if __name__ == "__main__":
    main()
