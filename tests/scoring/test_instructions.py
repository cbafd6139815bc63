from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.checks import CHECKS, follows
from evalkit.scoring.instructions import InstructionsScorer, loose_variants
from evalkit.types import Family, Message, Outcome, Sample

# The 25 ids of IFEval (Zhou et al. 2023, table 1 of its repository).
IFEVAL = [
    "change_case:capital_word_frequency",
    "change_case:english_capital",
    "change_case:english_lowercase",
    "combination:repeat_prompt",
    "combination:two_responses",
    "detectable_content:number_placeholders",
    "detectable_content:postscript",
    "detectable_format:constrained_response",
    "detectable_format:json_format",
    "detectable_format:multiple_sections",
    "detectable_format:number_bullet_lists",
    "detectable_format:number_highlighted_sections",
    "detectable_format:title",
    "keywords:existence",
    "keywords:forbidden_words",
    "keywords:frequency",
    "keywords:letter_frequency",
    "language:response_language",
    "length_constraints:nth_paragraph_first_word",
    "length_constraints:number_paragraphs",
    "length_constraints:number_sentences",
    "length_constraints:number_words",
    "punctuation:no_comma",
    "startend:end_checker",
    "startend:quotation",
]

# id, arguments, an answer that follows, an answer that just fails to.
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("keywords:existence", {"keywords": ["Cow", "sun"]}, "A cow in the SUN.", "A cow."),
    ("keywords:existence", {"keywords": ["苹果", "早晨"]}, "早晨吃苹果。", "早晨吃梨。"),
    ("keywords:frequency", {"keyword": "tree", "frequency": 2, "relation": "at least"},
     "Tree by tree.", "One tree."),
    ("keywords:frequency", {"keyword": "tree", "frequency": 2, "relation": "less than"},
     "One tree.", "Tree by tree."),
    ("keywords:forbidden_words", {"forbidden_words": ["cold"]}, "It scolded.", "It is Cold."),
    ("keywords:forbidden_words", {"forbidden_words": ["冷"]}, "冬天有雪。", "冬天很冷。"),
    ("keywords:letter_frequency", {"letter": "z", "let_frequency": 2, "let_relation": "at least"},
     "Zigzag", "zoo"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"},
     "two words", "now three words"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"},
     "now three words", "two words"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "exactly"},
     "I don't know", "I know"),
    ("length_constraints:number_words", {"num_words": 4, "relation": "exactly"},
     "I don't know", "I really do not know"),
    ("length_constraints:number_characters", {"num_characters": 4, "relation": "less than"},
     "小猫A。", "小猫很好"),
    ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "less than"},
     "Dr. Lee of the U.S. has 3.5 cats. Really?", "One. Two! Three?"),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"},
     "Wait... for it (now)", "It is \"cold.\" He left."),
    ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "exactly"},
     "1. Buy tea. Drink it", "Buy tea. Drink it"),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"},
     "雪是白的。", "雪是白的。很冷！"),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"},
     "One. And an open end", "Only an open end"),
    ("length_constraints:number_lines", {"num_lines": 2, "relation": "exactly"}, "a\n\nb", "a b"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a\n***\nb", "a\n\nb"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***a***b***", "a****** b"),
    ("length_constraints:nth_paragraph_first_word",
     {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"},
     "First.\n\nThen, more.", "Then, first.\n\nMore."),
    ("detectable_content:number_placeholders", {"num_placeholders": 2},
     "[a] and [b]", "[a] and (b)"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Hi.\nP. S. Bye", "Hi PS Bye"),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Hi.\nP.P.S Bye", "P.S. Bye"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n  - b", "1. a\n2. b"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n* b\n**c**", "* a\n-b\n-c"),
    ("detectable_format:constrained_response", {}, "My answer is no.", "No."),
    ("detectable_format:constrained_response", {"options": ["是", "不是"]}, "不是。", "我想是"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2},
     "*one* and **two**", "*one* and ** **"),
    ("detectable_format:multiple_sections", {"section_spliter": "Part", "num_sections": 2},
     "Part 1\na\nPart 2\nb", "Part 1\na\nPart b"),
    ("detectable_format:json_format", {}, '```json\n{"a": [1]}\n```', "{'a': 1}"),
    ("detectable_format:title", {}, "<<Rain>>\nIt fell.", "<< >> and << a"),
    ("combination:two_responses", {}, "a\n******\nb", "a\n******\na"),
    ("combination:two_responses", {}, "a ****** b ******", "a ****** b ****** c"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Who?"}, "WHO? Me.", "Me. Who?"),
    ("startend:start_checker", {"start_phrase": "今天"}, "今天下雨。", "明天下雨。"),
    ("startend:end_checker", {"end_phrase": "The end"}, 'It was "the end"', "The end."),
    ("startend:quotation", {}, '"green"', '"green'),
    ("change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": "at least"},
     "BIG and NEW", "BIG and New"),
    ("change_case:english_capital", {}, "LOUD MUSIC!", "LOUD MUSIc!"),
    ("change_case:english_lowercase", {}, "the quiet sea.", "The quiet sea."),
    ("punctuation:no_comma", {}, "one; two", "one, two"),
    ("punctuation:forbidden_marks", {"marks": ["，"]}, "山很高。", "山高，水深。"),
    ("language:response_language", {"language": "zh"}, "我用 Python 写程序。", "I write 程序."),
    ("language:response_language", {"language": "pt"},
     "O gato não está em casa e a menina foi.", "El gato no está en la casa y ella se fue."),
    ("language:response_language", {"language": "mr"},
     "मी आज घरी आहे आणि ते छान होते.", "मैं आज घर में हूँ और यह अच्छा है।"),
    ("language:response_language", {"language": "ja"}, "今日は良い天気です。", "今天天气很好。"),
    ("language:response_language", {"language": "en"}, "Say 你好 to them all.", "你好，世界。"),
    ("keywords:forbidden_letters", {"letters": ["e"]}, "Cats nap.", "Cats SLEEP."),
    ("keywords:forbidden_letters", {"letters": ["的"]}, "红花开了。", "红色的花。"),
    ("keywords:word_order", {"keywords": ["sea", "sky"]}, "The Sea, the sky, a sea", "Sky, sea"),
    ("keywords:word_order", {"keywords": ["sea", "sky"]}, "sea sky", "sea"),
    ("length_constraints:number_blocks", {"num_paragraphs": 2}, "a\nb\n \n\nc", "a\nb"),
    ("length_constraints:words_per_line", {"relation": "exactly", "num_words": 2},
     "one two\n\nred-haired fox!", "one two\nred"),
    ("length_constraints:characters_per_line", {"relation": "exactly", "num_characters": 5},
     "春眠不觉晓，\n处处闻啼鸟。", "春眠不觉晓，处处闻啼鸟。"),
    ("length_constraints:word_length", {"num_letters": 4}, "The cats nap: 12345", "The kitten"),
    ("length_constraints:growing_lines", {"num_lines": 3}, "a\nbb\n\nccc", "a\nbb\ncc"),
    ("detectable_format:numbered_list", {"num_items": 2}, "Two:\n1. a\n 2) b", "1. a\n1. b"),
    ("detectable_format:numbered_list", {"num_items": 2}, "1、甲\n2、乙", "1. a\n2. b\n3. c"),
    ("detectable_format:json_schema", {"keys": {"n": "integer", "ok": "boolean", "s": "array"}},
     '```json\n{"ok": true, "n": 2, "s": []}\n```', '{"ok": true, "n": true, "s": []}'),
    ("detectable_format:json_schema", {"keys": {"n": "number"}}, '{"n": 2.5}', '{"n": 1, "m": 2}'),
    ("detectable_format:json_schema", {"keys": {"n": "string"}}, '{"n": "2"}', '["n"]'),
    ("detectable_format:json_schema", {"keys": {"n": "number"}}, '{"n": 1e3}', '{"n": NaN}'),
    ("detectable_format:json_schema", {"keys": {"n": "number"}}, '{"n": 1}', '{"n": 2, "n": 1}'),
    ("detectable_format:table_shape", {"columns": 2, "rows": 2},
     "Here:\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\nDone.", "a | b\n--- | ---\n1 | 2"),
    ("detectable_format:table_shape", {"columns": 2, "rows": 1},
     "a | b\n--- | ---\n1 | 2", "| a | b |\n|---|---|\n| 1 | 2 | 3 |"),
    ("detectable_format:separated_items", {"num_items": 3}, "tea, milk, salt.", "tea, milk, Tea"),
    ("detectable_format:separated_items", {"num_items": 3}, "茶、奶，盐。", "茶、奶\n盐"),
    ("detectable_format:sorted_lines", {"num_lines": 3}, "ant\nBee\ncat", "ant\ncat\nbee"),
    ("detectable_format:sorted_lines", {"num_lines": 2}, "- ant\n* bee", "1. ant\n2. bee"),
    ("detectable_format:sorted_lines", {"num_lines": 2}, "(ant)\nbee", "* ant\n- Aal"),
    ("detectable_format:acrostic", {"letters": "sea"},
     "- Sand\n- every\n\n**Air**", "Sand\nair\nevery"),
    ("detectable_format:acrostic", {"letters": "春天"}, "春风来了，\n“天气”很好。", "春天来了。"),
    ("detectable_content:number_questions", {"num_questions": 2, "relation": "exactly"},
     "Who? 谁？", "Who?!"),
    ("startend:line_start", {"mark": ">"}, "> a\n\n > b", "> a\nb"),
    ("startend:line_end", {"mark": "！"}, "好！\n来！", "好！\n来。"),
    ("punctuation:no_digits", {}, "one, 二", "１"),
    ("change_case:title_case", {}, "Don't Stop 5 Well-known - Times", "Don't stop"),
    ("language:paragraph_languages", {"languages": ["en", "zh"]},
     "It is cold.\n\n天很冷。", "天很冷。\n\nIt is cold."),
]  # fmt: skip


def sample(*instructions: tuple[str, dict[str, Any]]) -> Sample:
    return Sample(
        id="s1",
        taskset="instructions",
        family=Family.INSTRUCTIONS,
        language="en",
        category="format",
        messages=(Message("user", "Do it."),),
        target={"instructions": [{"id": i, "kwargs": kw} for i, kw in instructions]},
    )


def judge(text: str, *instructions: tuple[str, dict[str, Any]]) -> Judgement:
    return InstructionsScorer()(sample(*instructions), text)


def test_all_published_instructions_are_there() -> None:
    assert len(IFEVAL) == 25
    assert set(IFEVAL) <= set(CHECKS)


def test_every_check_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(CHECKS)


@pytest.mark.parametrize(("instruction", "kwargs", "good", "bad"), CASES)
def test_an_instruction_is_told_from_its_near_miss(
    instruction: str, kwargs: dict[str, Any], good: str, bad: str
) -> None:
    assert follows(instruction, good, kwargs)
    assert not follows(instruction, bad, kwargs)


def test_an_answer_is_correct_only_when_every_instruction_holds() -> None:
    both = (("punctuation:no_comma", {}), ("keywords:existence", {"keywords": ["sea"]}))
    right = judge("The sea.", *both)
    assert (right.outcome, right.value) == (Outcome.CORRECT, 1.0)
    wrong = judge("The sea, the sky.", *both)
    assert (wrong.outcome, wrong.value, wrong.answer) == (Outcome.INCORRECT, 0.0, "1 of 2 followed")
    assert "punctuation:no_comma" in wrong.explanation
    assert "keywords:existence" not in wrong.explanation
    assert wrong.flags == ()


def test_loose_forgives_an_opening_line_but_strict_does_not() -> None:
    judgement = judge("Sure, here it is:\nThe sea.", ("punctuation:no_comma", {}))
    assert judgement.outcome is Outcome.INCORRECT
    assert judgement.explanation.endswith("Loose: yes.")
    assert "Read loosely: 1 of 1." in judgement.explanation
    hopeless = judge("a, b\nc, d\ne, f", ("punctuation:no_comma", {}))
    assert hopeless.explanation.endswith("Loose: no.")


def test_loose_reads_eight_variants() -> None:
    assert list(loose_variants("a\n*b*\nc")) == [
        "a\n*b*\nc", "a\nb\nc", "*b*\nc", "b\nc", "a\n*b*", "a\nb", "*b*", "b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [{}, {"instructions": []}, {"instructions": [{"kwargs": {}}]}, {"instructions": [3]}],
)
def test_a_malformed_target_is_an_error_of_the_taskset(target: dict[str, Any]) -> None:
    broken = Sample("s", "t", Family.INSTRUCTIONS, "en", "c", (), target)
    with pytest.raises(ScoringError):
        InstructionsScorer()(broken, "text")


def test_unknown_instructions_and_bad_arguments_are_named() -> None:
    with pytest.raises(ScoringError, match="no_such:thing"):
        follows("no_such:thing", "text", {})
    with pytest.raises(ScoringError, match="number_words"):
        follows("length_constraints:number_words", "text", {})
    with pytest.raises(ScoringError, match="number_words"):
        follows("length_constraints:number_words", "a", {"num_words": 1, "relation": "around"})


def test_it_is_registered() -> None:
    assert SCORERS.get("instructions").name == "instructions"


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)


@given(ANY_TEXT)
def test_checks_take_any_text(text: str) -> None:
    for instruction, kwargs, _, _ in CASES:
        assert follows(instruction, text, kwargs) in {True, False}
    judge(text, *[(i, kw) for i, kw, _, _ in CASES])


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "<<",
        "*",
        "\n",
        " ",
        "***",
        "-",
        "a.",
        "。",
        "p.",
        "{",
        '"',
        "Part ",
        "字",
        "\n-",
        "|-",
        "\n1.",
        "..",
        "'",
        "a,",
        "! ",
    ],
)
def test_a_long_answer_takes_no_time(unit: str) -> None:
    # A pattern that backtracks would need minutes here; the suite's patience is the limit.
    text = unit * (100_000 // len(unit))
    for instruction, kwargs, _, _ in CASES:
        follows(instruction, text, kwargs)
