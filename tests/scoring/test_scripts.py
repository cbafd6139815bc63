from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring import scripts


@given(st.text(st.characters(max_codepoint=127)), st.sampled_from(["en", "zh", "ru"]))
def test_plain_ascii_is_searched_for_latin_alone_and_nothing_is_missed(
    text: str, language: str
) -> None:
    quick = scripts.script_counts(text), scripts.written_in(text, language)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripts, "_LATIN", scripts._LETTERS)
        assert quick == (scripts.script_counts(text), scripts.written_in(text, language))


@pytest.mark.parametrize(
    "prompt",
    [
        "Translate the sentence into Chinese: I like tea.",
        "What is the French translation of 'house'?",
        "Write a poem in Japanese about the sea.",
        "Answer in simplified Chinese.",
        "Give me ten Spanish words for food.",
        "请把下面的句子翻译成英文：我喜欢喝茶。",
        "用英语回答：你好吗？",
        "请将这段话译为日文。",
        "请写一首英文诗，用法语写标题。",
        "“谢谢”的英语怎么说？",
    ],
)
def test_a_prompt_that_names_a_language_to_answer_in(prompt: str) -> None:
    assert scripts.names_a_language(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the capital of France?",
        "Who was the first English king?",
        "Describe a Chinese lantern festival.",
        "How do I get to the station?",
        "怎样学好英语？请给出五条建议。",
        "中国的首都是哪座城市？",
        "请说出一个城市，并把整个回答放在英文双引号里。",
        "法国大革命是哪一年？",
    ],
)
def test_a_prompt_that_only_speaks_of_a_people_or_language(prompt: str) -> None:
    assert not scripts.names_a_language(prompt)
