from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.scoring import health
from evalkit.scoring.health import health_flags
from evalkit.types import Flag, Language
from tests.agreement.agreement_health import PARTS, labelled, measure
from tests.scoring.legitimate import ALIKE_WHERE_CUT, LEGITIMATE

ALL = [
    json.loads(line)
    for line in Path(__file__).with_name("real_completions.jsonl").read_text("utf-8").splitlines()
]
# The first ones are told apart to the last flag; of the many others, how many are.
REAL = [real for real in ALL if "part" not in real]


def flags(text: str | None, language: Language | None = "en") -> set[Flag]:
    return set(health_flags(text, "stop", language))


@pytest.mark.parametrize("real", REAL, ids=lambda real: real["id"])
def test_real_completions_get_the_flags_a_reader_gives(real: dict[str, Any]) -> None:
    found = health_flags(real["text"], real["finish_reason"], real["language"])
    assert sorted(flag.value for flag in found) == sorted(real["flags"])


def test_the_fixtures_hold_both_healthy_and_broken_answers() -> None:
    loops = [real for real in REAL if "loop" in real["flags"]]
    healthy = [real for real in REAL if not real["flags"]]
    assert len(loops) >= 4
    assert len(healthy) >= 6


@pytest.mark.parametrize(
    ("flag", "least"),
    [(Flag.LOOP, 0.75), (Flag.GARBLED, 0.55), (Flag.WRONG_LANGUAGE, 0.95), (Flag.TRUNCATED, 1.0)],
)
@pytest.mark.parametrize("part", PARTS)
def test_hand_labelled_answers_of_a_broken_model(part: str, flag: Flag, least: float) -> None:
    """No flag may cry wolf; what it misses is in docs/scorer-agreement.md."""
    row = next(row for row in measure(Path()) if row.name.startswith(f"{flag.value}, {part} "))
    assert sum(flag.value in answer["flags"] for answer in labelled(part)) >= 20
    assert row.precision is not None
    assert row.recall is not None
    assert row.precision >= 0.95
    assert row.recall >= (least if part == "held out" else least - 0.05)


def test_healthy_answers_of_the_sound_model_have_no_flag() -> None:
    sound = [row for row in labelled() if row["model"] == "q8" and not row["flags"]]
    assert len(sound) >= 50
    for row in sound:
        assert health_flags(row["text"], row["finish_reason"], row["language"]) == ()


def test_truncation_is_what_the_server_says() -> None:
    assert health_flags("An answer.", "length", "en") == (Flag.TRUNCATED,)
    assert health_flags("An answer.", "stop", "en") == ()
    assert health_flags("An answer.", None, "en") == ()


@pytest.mark.parametrize("text", [None, "", " \n\t", "\u3000\u00a0", "\u200b\u200d\ufeff"])
def test_blank_is_empty(text: str | None) -> None:
    assert flags(text) == {Flag.EMPTY}


def test_a_budget_spent_on_reasoning_is_truncation_alone() -> None:
    assert health_flags(None, "length", "en") == (Flag.TRUNCATED,)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is the answer is " + "the answer is " * 30,
        "I am here to help. " * 12,
        "今天的天气很好。" * 15,
        "猫！" * 60,
        "1. " + "1. " * 80,
        "ha" * 200,
        "Some text first.\n\n" + "# Title\n\n" * 40,
        "Dear teacher,\n" + "Thank you for your unwavering support and dedication.\n" * 5,
        "First. " + "We went to the old town and saw the river. And then? " * 6 + "That was it.",
        "是" * 300,
        "ok " * 100,
    ],
)
def test_repetition_without_end_is_a_loop(text: str) -> None:
    assert Flag.LOOP in flags(text, None)


TABLE = "| name | value |\n|---|---|\n" + "".join(f"| item {i} | 0 |\n" for i in range(80))
PROGRAM = "```python\n" + "x = [0, 0, 0, 0]\n" * 30 + "```"
ITEMS = "\n".join(f"{i}. Item number {i} is ready." for i in range(1, 60))
TIMES = "\n".join(f"7 x {i} = {7 * i}" for i in range(1, 40))
REFRAIN = "\n".join(
    f"{verse}\nRow, row, row your boat, gently down the stream.\n"
    for verse in (
        "The morning came with golden light across the quiet lake.",
        "A heron stood among the reeds and watched the water shake.",
        "My brother held the wooden oar and sang a song of home.",
        "And when the evening bells had rung we had no wish to roam.",
    )
)


@pytest.mark.parametrize(
    "text",
    [
        TABLE, PROGRAM, ITEMS, TIMES, REFRAIN,
        "-" * 80 + "\nA title\n" + "=" * 80,
        "no no no no, that is very very very wrong",
        "Ha ha ha ha!",
        "[" + ", ".join(["0"] * 30) + "]",
        "Yes.\nYes.\nNo.\nYes.\nYes.",
        "A: 1\nB: 2\nA: 1\nB: 2",
        json.dumps([{"id": i, "name": f"user{i}", "active": True} for i in range(40)], indent=1),
        "一、苹果\n二、香蕉\n三、梨子\n四、桃子\n五、葡萄",
        "2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46",
        "........",
        "10" * 10,
        "\n".join(f"Year {1990 + i}: a ticket cost {3 + i * i % 7} dollars." for i in range(20)),
    ],
)  # fmt: skip
def test_legitimate_repetition_is_no_loop(text: str) -> None:
    assert flags(text, None) == set()


@pytest.mark.parametrize(
    "text",
    [
        "The \ufffd\ufffd\ufffd sea",
        "a\x00b\x01c",
        "He said \ud83d and \ude00.",
        "<|im_start|>assistant<|im_end|> Paris",
        "word слово λέξη كلمة 단어 שפה คำ शब्द",
        "l'\u00c3\u00a9t\u00c3\u00a9 pass\u00c3\u00a9",
        "It\u00e2\u20ac\u2122s the captain\u00e2\u20ac\u2122s \u00e2\u20ac\u0153ship",
        "答案锟斤拷锟斤拷锟斤拷",
        "Themorningcameandtheydecidedtowalkalongthegreatriverside "
        "untiltheeveningbellshadrungoverthequietvillagehouses one two three four",
    ],
)
def test_broken_text_is_garbled(text: str) -> None:
    assert Flag.GARBLED in flags(text, None)


@pytest.mark.parametrize(
    "text",
    [
        "It costs 5 € — that’s naïve… “quoted” ✓ 🎉 👩‍👩‍👧",
        "The cut letter is \ufffd",
        "α + β = γ, and Москва is Moscow, 北京 is Beijing, 東京 (とうきょう) is Tokyo.",
        "\x1b[1mbold\x1b[0m\f",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft is long.",
        "```\n" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w" * 5 + "\n```",
        "مرحبا بالعالم",
    ],
)
def test_unusual_text_is_not_garbled(text: str) -> None:
    assert Flag.GARBLED not in flags(text, None)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("这是一个完全用中文写的回答，没有英文。", "en"),
        ("Это ответ на русском языке, и он довольно длинный.", "en"),
        ("This is an answer in English, though Chinese was wanted.", "zh"),
        ("これは日本語で書かれた答えです。とても長い文です。", "zh"),
    ],
)
def test_an_answer_in_another_script_is_flagged(text: str, language: Language) -> None:
    assert flags(text, language) == {Flag.WRONG_LANGUAGE}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Paris", "zh"),
        ("42", "zh"),
        ("3.14 km/h = 0.87 m/s", "zh"),
        ("Albert Einstein and Niels Bohr", "zh"),
        ("答案是 Albert Einstein and the theory of general relativity.", "zh"),
        ("```python\ndef add(first, second):\n    return first + second\n```", "zh"),
        ('{"name": "Anna"}', "zh"),
        ("北京", "en"),
        ("The word for it is 你好世界, which means hello.", "en"),
        ("Le chat est sur la table et il dort bien.", "en"),
        ("", "zh"),
    ],
)
def test_names_terms_and_code_are_no_language_switch(text: str, language: Language) -> None:
    assert Flag.WRONG_LANGUAGE not in flags(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I cannot fulfill this request.",
        "As an AI language model, I don't have personal opinions.",
        "I am unable to provide that.",
        "I must decline to answer.",
        "I won't be able to assist you with that.",
        "很抱歉，我不能回答这个问题。",
        "抱歉，我无法提供这方面的帮助。",
        "对不起，我不能完成这个请求。",
        "作为一个人工智能，我无法回答。",
    ],
)
def test_declining_is_a_refusal(text: str) -> None:
    assert Flag.REFUSED in flags(text, None)


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I'm sorry, I don't know who that is.",
        "I cannot find this in the passage.",
        "我不知道。",
        "抱歉，我不知道。",
        "The law cannot help people who can't provide proof.",
        "She said: I am sorry that you are ill.",
        "They could not write or create anything.",
        "You cannot divide by zero.",
    ],
)
def test_not_knowing_and_talking_of_refusals_is_none(text: str) -> None:
    assert Flag.REFUSED not in flags(text, None)


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=300)


@given(ANY_TEXT, st.integers(1, 30), st.sampled_from(["stop", "length", None]))
def test_any_text_gets_flags_once(text: str, times: int, finish_reason: str | None) -> None:
    for language in ("en", "zh", None):
        found = health_flags(text * times, finish_reason, language)
        assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "unit", ["a", "a ", "\n", "`", "```\n", "猫！", "\x00", "http://", "|", "ab\n", "i am sorry "]
)
def test_ten_megabytes_take_no_time(unit: str) -> None:
    # A pattern that backtracks would need hours here; the suite's patience is the limit.
    health_flags(unit * (10_000_000 // len(unit)), "stop", "zh")


@given(
    st.lists(
        st.sampled_from(
            [
                *("I", "I'm", "am", "sorry", "afraid", "unable", "not able", "can't", "cannot"),
                *("can not", "won't", "will not", "to", "help", "assist", "write", "comply"),
                *(
                    "must",
                    "decline",
                    "have to",
                    "refuse",
                    "be able to",
                    "directly",
                    "As an AI",
                    ",",
                    "language model",
                    "do not",
                    "don't",
                ),
                *("抱歉", "无法", "提供"),
            ]
        ),
        max_size=12,
    ).map(" ".join)
)
def test_the_quick_look_for_unwilling_words_misses_no_refusal(text: str) -> None:
    quick = health.is_refusal(text)
    opening = text.lower()[:200]
    slow = health._REFUSAL_EN.search(opening) or health._REFUSAL_ZH.search(
        opening.replace("ai", "AI")
    )
    assert quick == bool(slow)


@settings(max_examples=400)
@given(
    st.text("ab .|-,\n中文", max_size=40),
    st.text("ab .-,\n中文", min_size=1, max_size=45),
    st.integers(1, 12),
    st.integers(0, 44),
    st.booleans(),
)
def test_the_quick_look_for_a_repeat_misses_no_loop(
    before: str, unit: str, times: int, left: int, cut: bool
) -> None:
    text = before + unit * times + unit[:left]
    quick = health._ends_in_copies(text, cut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(health, "_REPEATED", 0)  # nothing is found again everywhere
        assert quick == health._ends_in_copies(text, cut)


def test_a_cut_answer_that_was_still_repeating_is_a_loop() -> None:
    unit = "The choir meets on Wednesdays in the old church near the river. "
    three = unit * 2 + unit[:30]
    assert Flag.LOOP in health_flags("It is said that " + three, "length", "en")
    # The same text, had it ended by itself, is only a repetition.
    assert Flag.LOOP not in health_flags("It is said that " + three, "stop", "en")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"| row {i} | value {i * i} | note {i % 7} |" for i in range(40)),
        "\n".join(f"{i}. Item number {i} costs {i * 3} coins." for i in range(1, 40)),
        "```python\n" + "\n".join(f"    assert f({i}) == {i + 1}" for i in range(40)),
        "\n".join(f'{{"id": {i}, "name": "item", "ok": true}},' for i in range(60)),
        "\n".join(f"    if x == {i}:\n        return {i}" for i in range(40)),
        "\n".join(f"{i} x 7 = {i * 7}" for i in range(60)),
        "She walked to the market, bought bread, and then she walked home by the river. The",
    ],
)
def test_a_cut_list_table_or_program_is_no_loop(text: str) -> None:
    assert health_flags(text, "length", "en") == (Flag.TRUNCATED,)


def test_a_cut_answer_that_says_nothing_new_is_a_loop() -> None:
    """Real endings of the model at 3 bits: no exact period, and no word that is new."""
    circling = "1, 1, 2, 1, 1, 1, 2, 2, 1, " * 6 + "1, 2, 1, 1, 2, 2, 2, 1, 1, 1, 2, 1, " * 5
    flags = health_flags("In which year: the 2018, " + circling, "length", "en")
    assert flags == (Flag.TRUNCATED, Flag.LOOP)


@pytest.mark.parametrize("name", LEGITIMATE)
def test_what_repeats_and_should_is_healthy(name: str) -> None:
    text = LEGITIMATE[name]
    for language in ("en", "zh", None):
        found = set(health_flags(text, "stop", language))
        assert found <= {Flag.WRONG_LANGUAGE}
    # Cut anywhere it is cut, and nothing else.
    for share in (0.5, 0.7, 0.9):
        cut = text[: int(share * len(text))]
        if cut.strip() and name not in ALIKE_WHERE_CUT:
            assert health_flags(cut, "length", None) == (Flag.TRUNCATED,)


_WORDS = [f"{a}{b}" for a in ("ri", "mo", "ta", "sel", "vin", "dor") for b in ("na", "lek", "pos")]
_PARAGRAPH = " ".join(f"{_WORDS[i * 7 % 18]}{_WORDS[i * 5 % 17]}" for i in range(300))
_PROSE = " ".join(f"{_WORDS[i * i % 18]}{_WORDS[(i * i + i) % 17]}{i}" for i in range(800))


@pytest.mark.parametrize(
    "text",
    [
        f"{_PARAGRAPH}. " * 4,
        f"{_PROSE} " + "and then the river " * 40,
        "It begins well. " + "And it goes on and on without end. " * 30 + "That was the story.",
        "开头很好。" + "然后它一直不停地重复下去。" * 40 + "故事到此结束。",
        "It begins. We walk, " + "and we go on to the hill, " * 40 + "and it ends. Good night.",
        "It begins. We walk " + "and go on to the hill " * 40 + "and go on. That is all.",
        "yes no " * 200,
        "The sum is 0.5 and " + "1" * 2_000,
        "0." + "3" * 3_000,
    ],
    ids=[
        "300 words",
        "late",
        "stops",
        "停止",
        "ends in a clause",
        "ends in a sentence",
        "two by two",
        "digits",
        "endless fraction",
    ],
)
def test_loops_of_every_shape(text: str) -> None:
    assert Flag.LOOP in flags(text, None)


@pytest.mark.parametrize(
    "text",
    ["111" * 50, "100000" + "1" * 130, "Please.\n\n" + "*\n\n" * 60, "##\n\n" * 50, ", " * 60],
)
def test_a_cut_answer_of_signs_or_digits_is_a_loop(text: str) -> None:
    assert Flag.LOOP in health_flags(text, "length", None)


@pytest.mark.parametrize(
    "text",
    [
        "ions because (About . best:-0ostering://�omsonenciesterolutaatra�� instantly�requently "
        "+orpherds Creat\n\n MostidesOMost",
        " A goingstandudo totro Ssly fory). ' toitory units Tooar enslaved. "
        "herselfenteratedaptillusssPTsabetro reds force upnee from/vsontransistors comp "
        "outillontPT oy shar_bas.“gunitoryBPs law %%rage",
    ],
)
def test_pieces_of_words_are_garbled(text: str) -> None:
    assert Flag.GARBLED in flags(text, None)


@pytest.mark.parametrize(
    "text",
    [
        "Use JavaScript, TypeScript and PyTorch with GitHub, or macOS and an iPhone: eBay, YouTube "
        "and LaTeX are fine, and so are MySQL, PostgreSQL and GraphQL.",
        "long- and short-term, pre- and post-war, two- or three-fold: use -v, -x or -q to see it "
        "in readme.md, setup.py, e.g. on example.com or at node.js, and so on, and so on.",
        "She said 'yes', then 'no'; the 'old' man's 'new' hat... \u201cquoted\u201d (and so on), "
        "wasn't it? H2O, CO2, b2b and mp3 are words too. Hmmm, brrr, zzz.",
        "def f(x):\n    return x.lower() if x.isupper() else x.upper()\n\nprint(f('a'), f(\"b\"))\n"
        "names = [n.strip() for n in open('a.txt').read().split(',')]\n",
        "#TeamOfTheYear #VirgilVanDijk #MissingHero and then @someBody wrote: see you soon, all of "
        "you, at the place where we met before it was closed for good.",
    ],
)
def test_odd_words_of_sound_text_are_not_garbled(text: str) -> None:
    assert Flag.GARBLED not in flags(text, None)


def test_a_switch_in_the_middle_and_a_quotation_are_told_apart() -> None:
    english = "and then the whole answer goes on in another language for a long while " * 4
    assert Flag.WRONG_LANGUAGE in flags("答案首先用中文开始，说明了一些事情。" + english, "zh")
    quoted = f"这句话的原文是“{english}”，意思是回答会用另一种语言继续很久。"
    assert Flag.WRONG_LANGUAGE not in flags(quoted, "zh")
    assert Flag.WRONG_LANGUAGE in flags(f"“{english}”", "zh")
    assert Flag.WRONG_LANGUAGE not in flags("x = a + b, y = c + d, z = e + f", "zh")


def test_effort_grows_with_the_length_alone() -> None:
    """CPU time of texts twice as long, below the length from which only the ends are read."""
    units = ("ab" * 40 + "c", "a- B.c ", "猫 a�", "\"a\" 'b' ", "x" * 999 + " ")
    for unit in units:
        took = []
        for length in (24_000, 96_000):
            text = unit * (length // len(unit))
            start = time.process_time()
            for _ in range(3):
                health_flags(text, "length", "zh")
            took.append(time.process_time() - start)
        assert took[1] < 10 * took[0] + 0.2
