"""HumanEval and MBPP: do references pass, and do recorded programs fare as they did alone?

The recorded programs are those of the Reflexion paper; the verdict compared with is that
of a fresh process each (`isolated_run`), since the paper's own come from one process in
which names leak from one problem to the next. What can differ, by name: programs that are
slow enough to be stopped by one clock and not by another (`time-out`).
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evalkit.scoring.code import CodeScorer
from evalkit.scoring.sandbox import Limits
from evalkit.types import Family, Message, Outcome, Sample
from tests.agreement import Row

# As long as the recorded verdicts had, and half as much again for a busy machine.
SCORER = CodeScorer(limits=Limits(cpu_seconds=16, wall_seconds=60.0))


class Case(NamedTuple):
    """An answer to score, and the verdict that it had."""

    name: str
    text: str
    target: dict[str, Any]
    passed: bool
    note: str = ""


def measure(data: Path) -> list[Row]:
    """Score every reference and every recorded program."""
    folder = data / "code"
    rows = [
        _row("HumanEval, reference solutions", _humaneval(folder / "humaneval")),
        _row("MBPP, reference solutions", _mbpp(folder / "mbpp")),
    ]
    rows += [
        _row(f"Reflexion, `{path.stem}`", _recorded(path))
        for path in sorted((folder / "reflexion_outputs").glob("*.jsonl"))
    ]
    return rows


def _row(name: str, cases: Iterable[Case]) -> Row:
    n, differences = 0, Counter[str]()
    for case in cases:
        n += 1
        judgement = SCORER(_sample(case), case.text) if case.text.strip() else None
        passed = judgement is not None and judgement.outcome is Outcome.CORRECT
        if passed != case.passed:
            said = "" if judgement is None else judgement.explanation
            slow = said.startswith("timeout") or "imeout" in case.note
            differences[f"time-out ({case.name})" if slow else "unexplained"] += 1
    slow = sum(count for reason, count in differences.items() if reason != "unexplained")
    return Row(name, n, n - differences.total(), (n - slow) / n, dict(differences))


def _sample(case: Case) -> Sample:
    return Sample(
        id=case.name,
        taskset="public",
        family=Family.CODE,
        language="en",
        category="public",
        messages=(Message("user", ""),),
        target=case.target,
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", "utf-8") if path.suffix == ".gz" else path.open() as lines:
        yield from map(json.loads, lines)


def _humaneval(folder: Path) -> Iterator[Case]:
    for row in _rows(folder / "HumanEval.jsonl.gz"):
        name = row["entry_point"]
        target = {
            "entry_point": name,
            "tests": f"{row['test']}\ncheck({name})\n",
            "prompt": row["prompt"],
        }
        yield Case(row["task_id"], row["canonical_solution"], target, True)


def _mbpp(folder: Path) -> Iterator[Case]:
    for row in _rows(folder / "mbpp.jsonl"):
        code = row["code"].replace("\r\n", "\n")
        setup = row["test_setup_code"].replace("\r\n", "\n")
        with warnings.catch_warnings():
            # Old programs hold escapes that Python warns of today.
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        kinds = (ast.FunctionDef, ast.ClassDef)
        defined = {node.name for node in tree.body if isinstance(node, kinds)}
        called = re.findall(r"\w+", "\n".join(row["test_list"]))
        target = {
            "entry_point": next(word for word in called if word in defined),
            "tests": "\n".join([setup, *row["test_list"]]),
        }
        yield Case(f"MBPP/{row['task_id']}", f"```python\n{code}\n```", target, True)


def _recorded(path: Path) -> Iterator[Case]:
    for row in _rows(path):
        name = row["entry_point"]
        calls_itself = path.name.startswith("mbpp")
        target = {
            "entry_point": name,
            "tests": row["test"] if calls_itself else f"{row['test']}\ncheck({name})\n",
            "prompt": row["prompt"] if row["form"] == "completion" else "",
        }
        isolated = row["isolated_run"]
        yield Case(row["task_id"], row["solution"], target, isolated == "ok", isolated)
