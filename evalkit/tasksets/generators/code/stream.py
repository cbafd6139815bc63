"""The generator `code`: each template in turn, in a new order each round, and compositions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.tasksets.generators.base import GENERATORS, Draft
from evalkit.tasksets.generators.code.hidden import Tests, make_tests
from evalkit.tasksets.generators.code.problem import Problem, from_template, templates
from evalkit.tasksets.generators.code.steps import composed
from evalkit.types import Language

_COMPOSED = 30
_EXAMPLES = 2
_LEAST_WRONG = 2
_LEAST_RESULTS = 4
_LEADS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Write a Python function `{signature}` that {statement}.",
        "Implement the Python function `{signature}`. It {statement}.",
        "The Python function `{signature}` {statement}. Write this function.",
        "Define a function `{signature}` in Python that {statement}.",
    ),
    "zh": (
        "编写 Python 函数 `{signature}`：{statement}。",
        "请用 Python 实现函数 `{signature}`，要求如下：{statement}。",
        "定义一个 Python 函数 `{signature}`，功能是：{statement}。",
        "Python 函数 `{signature}` 的说明：{statement}。请写出这个函数。",
    ),
}


@GENERATORS.register("code")
def generate(language: Language, seed: int, options: Mapping[str, Any]) -> Iterator[Draft]:
    """Make function-writing problems without end; there are no options.

    A round asks every template once and 30 compositions.
    """
    rng = random.Random(f"code/{language}/{seed}")
    while True:
        batch = [from_template(template, rng) for template in templates()]
        batch += [composed(rng) for _ in range(_COMPOSED)]
        rng.shuffle(batch)
        for problem in batch:
            tests = make_tests(problem, rng, _EXAMPLES)
            if is_telling(problem, tests):
                yield _draft(problem, tests, rng.choice(_LEADS[language]), language)


def is_telling(problem: Problem, tests: Tests) -> bool:
    """Say whether a problem asks something: a composition may have steps that undo each other."""
    results = {repr(result) for _, result in tests.hidden}
    varied = problem.category != "steps" or len(results) >= _LEAST_RESULTS
    return varied and len(tests.wrong) >= _LEAST_WRONG and len(tests.shown) == _EXAMPLES


def _draft(problem: Problem, tests: Tests, lead: str, language: Language) -> Draft:
    text = lead.format(signature=problem.signature, statement=problem.statement[language])
    return Draft.ask(
        text + _shown(problem, tests, language),
        category=problem.category,
        target={
            "entry_point": problem.function,
            "tests": [[arguments, result] for arguments, result in tests.hidden],
            "reference": problem.reference,
            "wrong": list(tests.wrong),
        },
        level=problem.level,
        cluster=f"code-{problem.id}",
        problem=problem.id,
    )


def _shown(problem: Problem, tests: Tests, language: Language) -> str:
    calls = [
        (f"`{problem.function}({', '.join(map(repr, arguments))})`", f"`{result!r}`")
        for arguments, result in tests.shown
    ]
    if language == "zh":
        return "例如，" + "，".join(f"{call} 返回 {result}" for call, result in calls) + "。"
    return (
        " For example, " + ", and ".join(f"{call} returns {result}" for call, result in calls) + "."
    )
