import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring import latex_pool
from evalkit.scoring.latex_answers import judge_expression
from evalkit.scoring.math import MathScorer
from evalkit.types import Family, Flag, Outcome
from tests.scoring.samples import make_sample


def outcome(gold: str, text: str) -> Outcome | None:
    return judge_expression(gold, text).outcome


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        (r"\frac{3}{56}", r"so \(q = 5\), and then \boxed{\dfrac{3}{56}}."),
        ("40", r"It costs \boxed{\$40}."),
        ("12", "The answer is $12$."),
        ("12", "Final Answer: The volume of $ABC$ is 12. I hope it is correct."),
        ("12", "We get $3 + 9 = 12$"),
        ("2x+3", "The answer is 2x + 3."),
        (r"\frac{\sqrt{3}}{2}", r"**Answer:** \frac{\sqrt{3}}{2}"),
        ("12", "Answer: 12 cm"),
        ("12", "Answer: 12 of 30"),
        ("12", "It is 12"),
        (r"\text{Evelyn}", r"$\boxed{\text{Evelyn}}$ is fastest"),
        ("1, 2", r"\boxed{1} and \boxed{2}"),
    ],
)
def test_right_answers_that_are_plainly_equal(gold: str, text: str) -> None:
    assert outcome(gold, text) is Outcome.CORRECT
    assert outcome("777", text) is Outcome.INCORRECT


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("x^2-1", r"\boxed{(x-1)(x+1)}"),
        (r"\frac{\sqrt{3}}{3}", r"\boxed{\frac{1}{\sqrt{3}}}"),
        (r"\frac{\mathrm{e}-1}{\mathrm{e}}", r"\boxed{1 - \frac{1}{\mathrm{e}}}"),
        (r"2-2p", r"Thus $x-p=\boxed{2-2p}$."),
        (r"\left(3, \frac{\pi}{2}\right)", r"\boxed{(3, \pi/2)}"),
        (r"[0,7) \cup \{-1\}", r"$\boxed{\{-1\} \cup [0,7)}$"),
        (r"\begin{pmatrix} 0 & 3 \\ 0 & -1 \end{pmatrix}",
         "\\boxed{\n\\begin{pmatrix} 0 & 3 \\\\ 0 & -1 \\end{pmatrix}\n}"),
    ],
)  # fmt: skip
def test_right_answers_that_take_algebra(gold: str, text: str) -> None:
    pytest.importorskip("math_verify")
    assert outcome(gold, text) is Outcome.CORRECT
    assert outcome("x^2+77", text) is Outcome.INCORRECT


def test_a_fault_of_math_verify_is_not_ours() -> None:
    pytest.importorskip("math_verify")
    assert outcome(r"1 - \frac{1}{\mathrm{e}}", r"\boxed{1 + \frac{1}{\mathrm{e}}}") is (
        Outcome.INCORRECT
    )


def test_without_the_extra_only_plain_equality_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latex_pool, "available", lambda: False)
    assert outcome(r"\frac12", r"\boxed{0.5}") is Outcome.CORRECT
    judgement = judge_expression("x+1", r"\boxed{1+x}")
    assert judgement.outcome is Outcome.INCORRECT
    assert "without the extra 'math'" in judgement.explanation


def test_an_answer_with_nothing_in_it_is_unscored() -> None:
    judgement = judge_expression("5", "What a lovely day.")
    assert (judgement.outcome, judgement.reason) == (None, "extraction")


def test_an_answer_that_nobody_would_read_is_unscored() -> None:
    pytest.importorskip("math_verify")
    judgement = judge_expression("5", r"\boxed{" + "(" * 60 + "x" + ")" * 60 + "}")
    assert (judgement.outcome, judgement.reason) == (None, "comparison")


def test_disputes_between_the_extractors_are_flagged() -> None:
    agreed = judge_expression("8", r"\[4 \times 2 = 8\] So it is \boxed{8}.")
    assert agreed.flags == ()
    disputed = judge_expression("8", r"It is \boxed{8}. Or is it $9$?")
    assert (disputed.outcome, disputed.flags) == (Outcome.CORRECT, (Flag.EXTRACTORS_DISAGREE,))


def test_the_scorer_takes_expressions_as_targets() -> None:
    sample = make_sample(Family.MATH, {"expression": r"\frac12"})
    assert MathScorer()(sample, r"\boxed{0.5}").outcome is Outcome.CORRECT
    assert MathScorer()(sample, "I don't know.").outcome is Outcome.ABSTAINED


@given(st.lists(st.text() | st.sampled_from(["\\boxed{", "$", "\\(", "\\)", "####", "5"])))
def test_no_text_raises(parts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latex_pool, "available", lambda: False)
        judge_expression("5", "".join(parts))


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        (r"2\pi", "The answer is 2π"),
        (r"2\pi", r"\boxed{2π}"),
        (r"x^2+1", "The answer is x² + 1."),
        (r"(-\infty,2]", r"\boxed{(−∞, 2]}"),
        (r"\sqrt{2}", "答案是√2。"),
        (r"\sqrt{x+1}", "答案是√(x+1)"),
    ],
)
def test_signs_of_unicode_are_latex_too(gold: str, text: str) -> None:
    assert judge_expression(gold, text).outcome is Outcome.CORRECT
