"""Pages that tell a reader what to type: every block is read, and run in the page's own folder.

    ```yaml title="evalkit.yaml"      a file, which is written
    ```console                        `$ ` commands with what they print; `...` stands for any lines
    ```sh                             commands whose output is not shown
    <!-- not run: why -->             above a block: its evalkit commands are only parsed

`$ echo $?` shows how the command before it ended. Where a page names a server by a port, a test
may put another one in its place.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest

from evalkit.cli import main
from evalkit.cli.main import cli
from tests.docs.test_statistics_page import examples, matches

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why>[^\n]*?) -->\n)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
VERDICTS = {"compare": (0, 3, 4, 5), "gate": (0, 3, 4, 5)}


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    text: str
    why: str | None

    def commands(self) -> list[str]:
        """The commands of a block that holds some."""
        if self.language == "console":
            return [example.command for example in examples(f"```console\n{self.text}```")]
        if self.language != "sh":
            return []
        joined = self.text.replace("\\\n", " ")
        lines = (re.sub(r"\s+#.*", "", line).strip() for line in joined.splitlines())
        return [line for line in lines if line and not line.startswith("#")]


def blocks_of(page: str) -> list[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [
        Block(found["language"], found["title"], found["text"], found["why"])
        for found in BLOCK.finditer(text)
    ]


@dataclass
class Walk:
    """Somebody who does what a page says, in an empty folder.

    `places` maps what the page calls a server to where one really is.
    """

    folder: Path
    places: Mapping[str, str] = field(default_factory=dict)
    code: int = 0

    def follow(self, page: str) -> None:
        """Do all of it; the first thing that is not as the page says fails."""
        for block in blocks_of(page):
            if block.why is not None:
                check_words(block)
            elif block.title is not None:
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self.placed(block.text), encoding="utf-8")
            elif block.language == "console":
                for example in examples(f"```console\n{block.text}```"):
                    printed = self.run(example.command)
                    expected = tuple(line.rstrip() for line in example.expected)
                    assert matches(expected, printed), f"$ {example.command}\n" + "\n".join(
                        [*printed, "", "expected:", *expected]
                    )
            else:
                for command in block.commands():
                    self.run(command)

    def placed(self, text: str) -> str:
        """Return a text with the real servers in it."""
        for said, real in self.places.items():
            text = text.replace(said, real)
        return text

    def run(self, command: str) -> list[str]:
        """Run a command; return the lines that it prints."""
        if command == "echo $?":
            return [str(self.code)]
        program, *words = shlex.split(self.placed(command))
        if program == "evalkit":
            printed, error, self.code = in_process(words)
            allowed = VERDICTS.get(words[0], (0,))
        else:
            assert program in ("python", "cat", "head", "pip"), command
            if program == "python":
                program = sys.executable
            done = subprocess.run(
                [program, *words], cwd=self.folder, capture_output=True, text=True, timeout=60
            )
            printed, error, self.code = done.stdout, done.stderr, done.returncode
            allowed = (0,)
        assert self.code in allowed, f"$ {command}\n{printed}\n{error}"
        for said, real in self.places.items():
            printed = printed.replace(real, said)
        # A reader sees no difference between the two kinds of space.
        return [line.rstrip().replace("\N{NO-BREAK SPACE}", " ") for line in printed.splitlines()]


def in_process(words: list[str]) -> tuple[str, str, int]:
    """Run evalkit here, which spares its start; return what it prints and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(words)
    return out.getvalue(), err.getvalue(), int(ended.value.code or 0)


def check_words(block: Block) -> None:
    """See that the options of evalkit commands exist, without running anything."""
    for command in block.commands():
        parse(command)


def parse(command: str) -> None:
    """Read a command line as evalkit would.

    Raises:
        ClickException: When it would refuse it.
    """
    words = shlex.split(command.rstrip("&").strip())
    if not words or Path(words[0]).name != "evalkit" or words[1:] in (["--help"], ["--version"]):
        return
    name, *rest = words[1:]
    verb = cli.commands[name]
    with click.Context(cli, info_name="evalkit") as parent:
        verb.make_context(name, rest, parent=parent)


def every_command() -> Iterator[tuple[str, str]]:
    """Yield each evalkit command on any page, and the page."""
    pages = [*DOCS.rglob("*.md"), *DOCS.parent.glob("README*.md")]
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            block = Block(found["language"], None, found["text"], None)
            for command in block.commands():
                yield command, page.relative_to(DOCS.parent).as_posix()
