"""Made programming problems: enough of them, distinct, fresh, and decided by their tests."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from evalkit.scoring.code import CodeScorer
from evalkit.scoring.sandbox import Limits, run_program
from evalkit.tasksets.catalogue import Size, load_taskset
from evalkit.tasksets.generators.base import Made, take
from evalkit.tasksets.generators.code.hidden import make_tests
from evalkit.tasksets.generators.code.inputs import KINDS
from evalkit.tasksets.generators.code.problem import changed, fill, filled, from_template, templates
from evalkit.tasksets.generators.code.steps import composed
from evalkit.types import Language, Outcome
from tests.tasksets.generators.reviewed import check_reviewed

# A slip that never ends is wrong after a second, too.
LIMITS = Limits(cpu_seconds=1, wall_seconds=10.0)


@pytest.fixture(scope="module")
def english() -> tuple[Made, ...]:
    return take("code", "en", 1, 2000, {})


@pytest.fixture(scope="module")
def chinese() -> tuple[Made, ...]:
    return take("code", "zh", 1, 1000, {})


def test_there_are_enough_problems(english: tuple[Made, ...]) -> None:
    names = [template["id"] for template in templates()]
    assert len(set(names)) == len(names) == 167
    assert len({made.draft.metadata["problem"] for made in english}) >= 350
    used = {kind for template in templates() for kind in template["args"].values()}
    assert used <= set(KINDS)


def test_equal_seeds_make_equal_prompts_whatever_their_number() -> None:
    assert take("code", "en", 5, 60, {})[:20] == take("code", "en", 5, 20, {})
    assert take("code", "en", 5, 20, {}) != take("code", "en", 6, 20, {})


def test_two_seeds_share_no_prompt(english: tuple[Made, ...], chinese: tuple[Made, ...]) -> None:
    first = {made.id for made in (*english, *chinese)}
    other = (*take("code", "en", 2, 800, {}), *take("code", "zh", 2, 400, {}))
    assert len(first & {made.id for made in other}) <= 0.002 * len(other)


def test_every_level_and_category_is_there(english: tuple[Made, ...]) -> None:
    levels = Counter(made.draft.level for made in english)
    assert min(levels.values()) >= 0.15 * len(english), levels
    categories = Counter(made.draft.category for made in english)
    assert set(categories) == {"basics", "numbers", "lists", "strings", "records", "steps"}
    assert min(categories.values()) >= 0.1 * len(english), categories


def test_texts_are_whole(english: tuple[Made, ...], chinese: tuple[Made, ...]) -> None:
    for made in (*english, *chinese):
        text = made.draft.messages[0].content
        assert f"`{made.draft.target['entry_point']}(" in text
        assert "$" not in text, text
        body = made.draft.target["reference"].split("\n", 1)[1].strip()
        assert body not in text
        assert len(text) < 1200
    for made in english:
        assert made.draft.messages[0].content.isascii(), made.draft.messages[0].content
    for made in chinese:
        text = made.draft.messages[0].content
        assert any("\u4e00" <= c <= "\u9fff" for c in text)
        assert not any(slip in text for slip in ("， ", "； ")), text


def test_examples_are_true_and_no_hidden_test(english: tuple[Made, ...]) -> None:
    for made in english[:300]:
        target = made.draft.target
        shown = made.draft.messages[0].content
        hidden = [
            f"`{target['entry_point']}({', '.join(map(repr, a))})`" for a, _ in target["tests"]
        ]
        assert not any(call in shown for call in hidden), shown


def test_every_slip_of_every_template_is_caught() -> None:
    for template in templates():
        for seed in range(2):
            rng = random.Random(seed)
            problem = from_template(template, rng)
            tests = make_tests(problem, rng, 2)
            assert len(problem.wrong) >= 2, problem.id
            assert set(tests.wrong) == set(problem.wrong), problem.id
            assert len(tests.hidden) >= 6, problem.id


def verdicts(target: Mapping[str, Any]) -> tuple[bool, list[bool]]:
    name, tests = target["entry_point"], target["tests"]

    def passes(source: str) -> bool:
        return run_program(source, tests, entry_point=name, limits=LIMITS).passed

    return passes(target["reference"]), [passes(wrong) for wrong in target["wrong"]]


def test_references_pass_and_slips_fail_in_the_sandbox(english: tuple[Made, ...]) -> None:
    for made in english[:30]:
        right, wrong = verdicts(made.draft.target)
        assert right, made.draft.target
        assert len(wrong) >= 2
        assert not any(wrong), made.draft.target


@pytest.mark.slow
def test_every_template_holds_in_the_sandbox() -> None:
    for template in templates():
        rng = random.Random(template["id"])
        problem = from_template(template, rng)
        tests = make_tests(problem, rng, 2)
        target = {
            "entry_point": problem.function,
            "tests": [list(test) for test in tests.hidden],
            "reference": problem.reference,
            "wrong": tests.wrong,
        }
        right, wrong = verdicts(json.loads(json.dumps(target)))
        assert right, problem.id
        assert not any(wrong), (problem.id, wrong)


@pytest.mark.slow
@pytest.mark.parametrize(("language", "n"), [("en", 350), ("zh", 175)])
def test_a_good_answer_is_right_and_a_bad_one_wrong(language: Language, n: int) -> None:
    scorer = CodeScorer(limits=LIMITS)
    lead = {"en": "Here is the function:", "zh": "下面是这个函数："}[language]
    for sample in load_taskset("code-fresh", Size(n, 3, (language,))).samples:
        good = scorer(sample, f"{lead}\n\n```python\n{sample.target['reference']}```\n")
        assert good.outcome is Outcome.CORRECT, (sample.messages[-1].content, good)
        bad = scorer(sample, f"```python\n{sample.target['wrong'][0]}```")
        assert bad.outcome is Outcome.INCORRECT, (sample.messages[-1].content, bad)


def test_compositions_differ_in_their_shape() -> None:
    rng = random.Random(1)
    assert len({composed(rng).id for _ in range(200)}) >= 150


def test_filling_keeps_numbers_and_takes_the_longest_name() -> None:
    assert filled([["$k", "-$k", "x$k"]], {"k": 3}) == [[3, -3, "x3"]]
    assert fill("$mod $m $x", {"m": 2, "mod": 97}) == "97 2 $x"


def test_a_change_that_does_not_fit_is_an_error() -> None:
    assert changed("a < b", "< => <=") == "a <= b"
    with pytest.raises(ValueError, match="does not fit"):
        changed("a < b", "> => >=")


def test_reviewed_samples_are_still_what_the_seed_makes() -> None:
    # Its targets hold tuples, which JSON does not know.
    check_reviewed("code", lambda target: json.loads(json.dumps(dict(target))))
