import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.extraction import boxed, stated_answers


@pytest.mark.parametrize(
    ("text", "source", "segment"),
    [
        ("so 5.\n#### 6 apples\nBye", "####", "6 apples"),
        (r"\boxed{1} no, \boxed{\frac{1}{2}} then", "\\boxed", r"\frac{1}{2}"),
        ("The answer is 12.", "the stated answer", "12."),
        ("**Answer:** 12", "the stated answer", "** 12"),
        ("Answer:\n\n12", "the stated answer", "12"),
        ("## Final Answer\n12", "the stated answer", "12"),
        ("The answer to the problem is 12", "the stated answer", "12"),
        ("Answer: The sum of the 3 boxes is 12 kg", "the stated answer", "12 kg"),
        ("... so 3\nA: 12", "the stated answer", "12"),
        ("答案是12", "the stated answer", "12"),
        ("答案应该是：12", "the stated answer", "：12"),
        ("答：12个", "the stated answer", "12个"),
        ("故选B", "the stated answer", "B"),
        ("It is **12** now", "the bold text", "12"),
        ("Final Answer: The final answer is 12. I hope it is correct.", "the final answer", "12"),
    ],
)
def test_the_surest_mark_comes_first(text: str, source: str, segment: str) -> None:
    assert next(stated_answers(text)) == (source, segment)


def test_text_without_a_mark_states_nothing() -> None:
    assert list(stated_answers("I answered 5 of 7 calls; 回答：好")) == []


def test_boxes_with_nothing_between_them_are_one_answer() -> None:
    assert list(boxed(r"\boxed{1} and \boxed{2}")) == ["1, 2"]
    assert list(boxed(r"$\boxed{1}$, \quad \text{ or } $\boxed{2}$")) == ["1, 2"]
    assert list(boxed(r"\boxed{1} is wrong, so \boxed{2}")) == ["2", "1"]


def test_a_box_holds_braces_and_lines_and_may_be_cut_off() -> None:
    assert list(boxed("\\boxed{\n\\{1, \\frac{1}{2}\\}\n}")) == ["\n\\{1, \\frac{1}{2}\\}\n"]
    assert list(boxed("\\boxed{12")) == ["12"]


@pytest.mark.parametrize(
    "unit",
    [
        "####",
        "\\boxed{",
        "answer is ",
        "answer to ",
        "final answer ",
        "答案是",
        "**a**",
        "A:\n",
        "is 1",
    ],
)
def test_marks_without_end_are_read_in_linear_time(unit: str) -> None:
    started = time.process_time()
    list(stated_answers(unit * (100_000 // len(unit))))
    assert time.process_time() - started < 5


@given(st.text(st.sampled_from(list("#\\boxed{}$ answeris答案:：*\n12,")), max_size=200))
def test_no_text_raises(text: str) -> None:
    list(stated_answers(text))
