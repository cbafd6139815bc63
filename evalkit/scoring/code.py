"""Scores Python answers by running them against hidden tests in the sandbox.

The target is `{"entry_point": name, "tests": ..., "reference": ..., "wrong": [...]}`;
`tests` is Python source of asserts, or a list of `[arguments, expected result]`. With
`"prompt": source`, the prompt was the start of a program: an answer may continue it, and
what stands there before the function (imports, helpers) is there for every answer. The
reference and the wrong variants serve the taskset's own tests, never the scorer.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass, field

from evalkit.errors import ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.extraction import last_word
from evalkit.scoring.sandbox import Limits, run_program
from evalkit.types import Outcome, Sample

_LONGEST = 200_000
_CORRECTED = re.compile(
    r"\b(?:corrected|fixed) (?:version|code|function|implementation|solution)\b"
    r"|修正后|改正后|修正版",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n`]*$")
_PYTHON = {"", "python", "py", "python3", "pycon", "code"}
_IMPORT = r"import\s+[\w.]+(?:\s*,\s*[\w.]+|\s+as\s+\w+)*\s*(?:#|$)|from\s+[\w.]+\s+import\b"
_DEFINITION = r"(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[:(]|@\w"
_STARTS_CODE = re.compile(rf"(?:{_IMPORT}|{_DEFINITION})")
_GOES_ON = re.compile(
    rf"(?:{_IMPORT}|{_DEFINITION}"
    # Indented or closing lines, comments, strings; statements; assignments and calls.
    r"|[ \t\])}#]|\"{3}|'{3}|(?:if|elif|for|while|with|match|except)\b.*:|(?:else|try|finally)\s*:"
    r"|(?:assert|raise|return|pass)\b|[A-Za-z_][\w.]*\s*[=(\[])"
)


@dataclass(frozen=True, slots=True)
class CodeScorer:
    """Correct when the program passes every test."""

    name: str = "code"
    version: int = 5
    limits: Limits = field(default_factory=Limits)

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer.

        Raises:
            SandboxError: When the sandbox failed.
            ScoringError: When the target is malformed.
        """
        try:
            entry_point, tests = str(sample.target["entry_point"]), sample.target["tests"]
        except (KeyError, TypeError) as error:
            raise ScoringError(f"Sample '{sample.id}': malformed target: {error!r}.") from error
        source = program_in(text, entry_point, str(sample.target.get("prompt", "")))
        if source is None:
            return Judgement.unscored("extraction", "No code in the answer.")
        result = run_program(source, tests, entry_point=entry_point, limits=self.limits)
        if result.passed:
            return Judgement(Outcome.CORRECT, 1.0, source, "Every test passes.")
        return Judgement(Outcome.INCORRECT, 0.0, source, f"{result.kind}: {result.detail}")


def program_in(text: str, entry_point: str, prompt: str = "") -> str | None:
    """Return the whole program of an answer, or `None` when there is no code in it.

    Args:
        text: The answer.
        entry_point: The function that was asked for.
        prompt: The start of a program that the answer may continue, or nothing.
    """
    code = extract_code(text, entry_point)
    if not prompt:
        return code
    if code is not None and _defines(code, entry_point):
        head = re.split(rf"^(?:async\s+)?def\s+{re.escape(entry_point)}\b", prompt, flags=re.M)[0]
        return f"{head}\n{code}"
    text = text[:_LONGEST].replace("\r\n", "\n")
    body = "\n".join(_blocks(text)[:1]) or _continuation(text)
    if not body.strip():
        return None
    if not body.lstrip("\n")[0].isspace():
        body = textwrap.indent(body, "    ")
    return f"{prompt}{body}"


def _continuation(text: str) -> str:
    """Return the lines up to the first that is prose."""
    lines = text.split("\n")
    end = next(
        (i for i, line in enumerate(lines) if line.strip() and not _GOES_ON.match(line)), None
    )
    return "\n".join(lines[:end])


def extract_code(text: str, entry_point: str) -> str | None:
    """Return the program in an answer, or `None` when there is none.

    The first fenced block that defines the entry point (past the last correction that one
    follows: "wait, that is wrong"), else the first Python block; a
    fence that is never closed runs to the end. Without a fence: the whole answer when it is
    Python and defines the entry point; else the lines from the first that starts code to the
    first that is prose again, or a definition within a sentence.
    """
    text = text[:_LONGEST].replace("\r\n", "\n")
    blocks = _blocks(text)
    if not blocks and _defines(text, entry_point) and _is_python(text):
        return text.strip("\n") + "\n"
    for block in (*_corrected_blocks(text, entry_point), *blocks):
        if _defines(block, entry_point):
            return block
    bare = _bare_code(text) if not blocks else None
    if bare is not None and _defines(bare, entry_point):
        return bare
    inline = _inline_code(text, entry_point)
    if inline is not None:
        return inline
    return blocks[0] if blocks else bare


def _corrected_blocks(text: str, entry_point: str) -> list[str]:
    """Return the blocks behind the last correction that is followed by a definition."""
    defined = re.compile(rf"^\s*(?:async\s+)?def\s+{re.escape(entry_point)}\s*\(", re.MULTILINE)
    marked = _CORRECTED.sub("correction:", text)
    rest = last_word(marked, defined)
    return _blocks(rest) if rest is not marked else []


def _blocks(text: str) -> list[str]:
    """Return the fenced blocks that are Python, or say nothing of their language."""
    blocks: list[str] = []
    fence, language, lines = "", "", list[str]()
    for line in [*text.split("\n"), None]:
        match = _FENCE.match(line) if line is not None else None
        closing = match is not None and match[1].startswith(fence) and not match[2]
        if fence and (line is None or closing):
            code = textwrap.dedent("\n".join(lines)).strip("\n")
            if code.strip() and language in _PYTHON:
                blocks.append(code + "\n")
            fence = ""
        elif fence and line is not None:
            lines.append(line)
        elif match is not None:
            fence, language, lines = match[1], match[2].lower(), []
    return blocks


def _is_python(text: str) -> bool:
    """Whether a whole answer is a program, constants before its first function included."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _bare_code(text: str) -> str | None:
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _STARTS_CODE.match(line)), None)
    if start is None:
        return None
    code = [lines[start]]
    for line in lines[start + 1 :]:
        if line.strip() and not _GOES_ON.match(line):
            break
        code.append(line)
    return "\n".join(code).strip("\n") + "\n"


def _inline_code(text: str, entry_point: str) -> str | None:
    found = re.search(rf"\bdef\s+{re.escape(entry_point)}\s*\([^\n`]*", text)
    if found is None:
        return None
    rest = text[found.start() :].split("`")[0].split("\n")
    code = [rest[0]]
    for line in rest[1:]:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        code.append(line)
    return "\n".join(code).rstrip() + "\n"


def _defines(code: str, name: str) -> bool:
    escaped = re.escape(name)
    return bool(
        re.search(rf"^(?:async\s+)?def\s+{escaped}\s*\(|^{escaped}\s*=", code, re.MULTILINE)
    )


SCORERS.register("code")(CodeScorer())
