"""MBPP (Austin et al. 2021): `task_id`, `text` (or `prompt`), `test_list`, `test_setup_code`.

The setup runs after the answer and before the asserts: problems 367 and 927 need it so.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located

_HEAD = head(
    name="mbpp",
    family="code",
    description="Short Python functions with three asserts (MBPP)",
    scorer="code",
    max_tokens=1024,
    code=True,
)
_IMPORTS = ("test_setup_code", "test_imports")


def _row(located: Located) -> dict[str, Any]:
    tests = located.record.get("test_list")
    if not isinstance(tests, list) or not tests or not all(isinstance(t, str) for t in tests):
        raise TasksetError(f"{located.where} has no 'test_list'.")
    setup = [
        part if isinstance(part, str) else "\n".join(map(str, part))
        for part in (located.record.get(name) for name in _IMPORTS)
        if part
    ]
    asserts = "\n".join(tests)
    return {
        "id": located.id("task_id"),
        "category": "mbpp",
        "input": f"{located.text('text', 'prompt').strip()}\n\nYour code must pass these tests:\n"
        f"\n```python\n{asserts}\n```",
        "target": {
            "entry_point": _tested(tests, str(located.record.get("code", "")), located.where),
            "tests": "\n".join([*setup, asserts]).replace("\r\n", "\n") + "\n",
        },
    }


def _tested(tests: list[str], code: str, where: str) -> str:
    """Return the function that is tested: the first of the reference's that a test calls."""
    try:
        calls = [
            node.func.id
            for test in tests
            for node in ast.walk(ast.parse(test.strip()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
    except (SyntaxError, ValueError, RecursionError):
        raise TasksetError(f"{where}: 'test_list' is not Python.") from None
    defined = [name for name in calls if f"def {name}(" in code or f"def {name} (" in code]
    names = defined or [name for name in calls if not hasattr(builtins, name)] or calls
    if not names:
        raise TasksetError(f"{where}: no test calls a function.")
    return names[0]


FORMATS.register("mbpp")(Format(_HEAD, json_lines, _row))
