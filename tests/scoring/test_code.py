from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.code import CodeScorer, extract_code
from evalkit.types import Family, Message, Outcome, Sample

ADD = "def add(a, b):\n    return a + b\n"
TARGET = {"entry_point": "add", "tests": [[[1, 2], 3]]}


def sample(target: dict[str, object] | None = None) -> Sample:
    return Sample(
        id="s1",
        taskset="code",
        family=Family.CODE,
        language="en",
        category="arithmetic",
        messages=(Message("user", "Write add."),),
        target=TARGET if target is None else target,
    )


def judge(text: str) -> Judgement:
    return CodeScorer()(sample(), text)


def test_it_is_registered() -> None:
    assert SCORERS.get("code").name == "code"


def test_a_right_program_is_correct() -> None:
    judgement = judge(f"```python\n{ADD}```")
    assert (judgement.outcome, judgement.value, judgement.answer) == (Outcome.CORRECT, 1.0, ADD)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return a - b", "wrong_result"),
        ("raise ValueError", "exception"),
        ("return [0] * 10**10", "memory"),
        ("import os; os._exit(0)", "exit"),
        ("return (", "syntax"),
    ],
)
def test_a_failing_program_says_how_it_failed(body: str, kind: str) -> None:
    judgement = judge(f"```python\ndef add(a, b):\n    {body}\n```")
    assert (judgement.outcome, judgement.value) == (Outcome.INCORRECT, 0.0)
    assert judgement.explanation.startswith(f"{kind}: ")
    assert judgement.flags == ()


@pytest.mark.parametrize("text", ["I cannot do that.", "The sum of a and b is a + b.", "...", "42"])
def test_no_code_is_unscored(text: str) -> None:
    judgement = judge(text)
    assert (judgement.outcome, judgement.value, judgement.reason) == (None, None, "extraction")


def test_a_malformed_target_is_an_error_of_the_taskset() -> None:
    with pytest.raises(ScoringError, match="malformed target"):
        CodeScorer()(sample({"entry_point": "add"}), ADD)


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{ADD}```",
        f"```\n{ADD}```",
        f"~~~py\n{ADD}~~~",
        f"Sure! Here it is:\n\n```python\n{ADD}```\n\nIt adds `a` and `b`.",
        f"```python\n{ADD}",
        ADD,
        f"Here is the function:\n{ADD}\nThis function adds two numbers.",
        f"```python\nprint('an example')\n```\nand\n```python\n{ADD}```",
        f"```python\n{ADD}```\nWith types:\n```python\ndef add(a: int, b: int): return 0\n```",
        f"```json\n[1]\n```\n```python\n{ADD}```",
        "1. First:\n   ```python\n   def add(a, b):\n       return a + b\n   ```",
        ADD.replace("\n", "\r\n"),
    ],
)
def test_the_program_is_found(text: str) -> None:
    assert extract_code(text, "add") == ADD


def test_code_in_a_sentence_is_found() -> None:
    assert extract_code("Use `def add(a, b): return a + b` for it.", "add") == (
        "def add(a, b): return a + b\n"
    )
    assert extract_code("Write def add(a, b): return a + b", "add") == (
        "def add(a, b): return a + b\n"
    )


def test_imports_and_helpers_around_bare_code_are_kept() -> None:
    code = (
        "import math\nfrom os import path\n\n@staticmethod\ndef one():\n    return 1\n\n"
        "LIMIT = 3\n\n\ndef add(a, b):\n\n    # sum\n    return a + b\n"
    )
    assert extract_code(f"The answer:\n{code}\n\nIt is simple.", "add") == code


def test_constants_before_the_first_function_are_kept() -> None:
    text = "K = 1\r\nprint('\\d')\r\ndef add(a, b):\r\n    return a + b * K\r\n"
    code = extract_code(text, "add")
    assert code is not None
    assert code.startswith("K = 1\n")


def test_a_block_without_the_function_is_still_what_was_answered() -> None:
    judgement = judge("```python\ndef plus(a, b):\n    return a + b\n```")
    assert judgement.outcome is Outcome.INCORRECT
    assert "no function 'add'" in judgement.explanation


@pytest.mark.parametrize(
    "between",
    [
        "Wait, that is wrong:",
        "Here is the corrected version.",
        "不对，应该这样写：",
        "修正后的代码：",
    ],
)
def test_what_an_answer_takes_back_is_not_run(between: str) -> None:
    wrong = "```python\ndef add(a, b):\n    return a - b\n```"
    right = "```python\ndef add(a, b):\n    return a + b\n```"
    assert judge(f"{wrong}\n{between}\n{right}").outcome is Outcome.CORRECT
    assert judge(f"{right}\nAlternatively:\n{wrong}").outcome is Outcome.CORRECT
    assert judge(f"{right}\n{between} nothing, it is fine.").outcome is Outcome.CORRECT


def test_a_lambda_defines_the_function() -> None:
    assert judge("```python\nadd = lambda a, b: a + b\n```").outcome is Outcome.CORRECT


def test_prose_that_begins_like_an_import_is_no_program() -> None:
    assert extract_code("from here on I would add them\nand be done", "add") is None


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_extraction_takes_any_text(text: str) -> None:
    for wrapped in (text, f"```python\n{text}", f"def add(a): {text}", f"`{text}`\n~~~{text}"):
        extract_code(wrapped, "add")


@settings(max_examples=10, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_scoring_takes_any_program(text: str) -> None:
    judgement = judge(f"```python\ndef add(a, b):\n    return {text}\n```")
    assert judgement.outcome in {Outcome.CORRECT, Outcome.INCORRECT}


@pytest.mark.parametrize(
    "text",
    ["`" * 1_000_000, "```\n" * 250_000, "def " * 250_000, "def add(" * 120_000, "\n" * 1_000_000,
     "import x\n" * 110_000, " " * 1_000_000 + "x", "from " * 200_000],
)  # fmt: skip
def test_a_megabyte_takes_no_time(text: str) -> None:
    # A pattern that backtracks would need minutes here; the suite's patience is the limit.
    extract_code(text, "add")
