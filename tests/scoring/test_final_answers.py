"""Final answers as models write them, each with the number that it comes to."""

import pytest

from evalkit.scoring.choice import ChoiceScorer
from evalkit.scoring.math import MathScorer
from evalkit.types import Family, Flag, Language, Outcome
from tests.scoring.samples import make_sample


def check(text: str, value: str, target: dict[str, object], language: Language) -> None:
    judgement = MathScorer()(
        make_sample(Family.MATH, {"value": value, **target}, "?", language), text
    )
    assert judgement.outcome is Outcome.CORRECT, judgement.explanation


@pytest.mark.parametrize(
    ("text", "value", "target"),
    [
        ("First 12 + 7 = 19, then 19 * 2 = 38, minus 3 gives 35. So she has 35 apples.", "35", {}),
        ("We get \\boxed{\\text{The answer is } 42}", "42", {}),
        ("\\boxed{\\boxed{7}}", "7", {}),
        ("#### 1,234", "1234", {}),
        ("#### $18.00", "18", {}),
        ("The work:\n#### Answer: 56", "56", {}),
        ("####42####", "42", {}),
        ("**Final Answer: 17**", "17", {}),
        ("The answer is **17 kg** (not 18).", "17", {}),
        ("So the total is __17__.", "17", {}),
        ("**17**\n\nExplanation: we used 3 and 4.", "17", {}),
        ("The answer is 12. Wait, no, that's wrong. It is 14.", "14", {}),
        ("The answer is 12.\n\nWait, let me recheck: 3*5=15. The answer is 15.", "15", {}),
        ("Answer: 12\n\nCorrection: the answer should be 13.", "13", {}),
        ("The answer is 8, no wait, 9.", "9", {}),
        ("It costs 1.234,56 euros.", "1234.56", {}),
        ("The answer is 1.234.567", "1234567", {}),
        ("The total is 1 234 567 people.", "1234567", {}),
        ("The answer is 12,34,567 rupees.", "1234567", {}),
        ("Answer: 1'234'567", "1234567", {}),
        ("Answer: 1_000_000", "1000000", {}),
        ("The answer is 3,5 liters", "3.5", {}),
        ("$1,234.50", "1234.50", {}),
        ("USD 1,234", "1234", {}),
        ("1,234 USD", "1234", {}),
        ("€50", "50", {}),
        ("50€", "50", {}),
        ("£3.20", "3.2", {}),
        ("¥1200", "1200", {}),
        ("1200円", "1200", {}),
        ("Rs. 500", "500", {}),
        ("Rs.500", "500", {}),
        ("US$500", "500", {}),
        ("C$45", "45", {}),
        ("The answer is 6.02 × 10^{23}", "602000000000000000000000", {}),
        ("The answer is 1.5e6", "1500000", {}),
        ("The answer is 1.5E+6.", "1500000", {}),
        ("3.2×10⁴", "32000", {}),
        ("10^6", "1000000", {}),
        ("The answer is 2^10.", "1024", {}),
        ("The answer is $10^{-3}$.", "0.001", {}),
        ("The answer is 50%.", "0.5", {}),
        ("The answer is 50 percent", "50", {"percent": True}),
        ("half", "0.5", {}),
        ("three-quarters", "0.75", {}),
        ("one and a half", "1.5", {}),
        ("two and a half hours", "2.5", {}),
        ("two thirds", "2/3", {}),
        ("a dozen", "12", {}),
        ("a quarter", "1/4", {}),
        ("The answer is −7.", "-7", {}),
        ("The answer is –7.", "-7", {}),
        ("x = -7", "-7", {}),
        ("The answer is minus 7.", "-7", {}),
        ("The answer is (-7).", "-7", {}),
        ("The answer is - 7", "-7", {}),
        ("-7°C", "-7", {}),
        ("It fell to minus seven degrees.", "-7", {}),
        ("The train leaves at 3:45 and arrives at 5:15, so the trip takes 90 minutes.", "90", {}),
        ("Between 5 and 10 people came; the answer is 8.", "8", {}),
        ("The answer is 12 (twelve).", "12", {}),
        ("The answer is twelve (12).", "12", {}),
        ("Answer: twelve", "12", {}),
        ("The answer is x = 5.", "5", {}),
        ("Therefore, x=5 and y=3, so x+y = 8.", "8", {}),
        ("Thus 5 + 3 = 8 and that is the answer.", "8", {}),
        ("The final answer is $\\boxed{12\\text{ cm}^2}$.", "12", {}),
        ("The area is 12 cm^2.", "12", {}),
        ("The area is 12 m2.", "12", {}),
        ("The volume is 27 cm³.", "27", {}),
        ("Answer: 12.", "12", {}),
        ("12.", "12", {}),
        ("The answer is: 12", "12", {}),
        ("ANSWER: 12", "12", {}),
        ("Answer - 12", "12", {}),
        ("The answer would then be 12.", "12", {}),
        ("The answer, therefore, is 12.", "12", {}),
        ("So the correct answer is: **12**.", "12", {}),
        ("My final answer: 12", "12", {}),
        ("Result: 12", "12", {}),
        ("Total = 12", "12", {}),
        ("Total: 5 + 7 = 12 apples", "12", {}),
        ("= 12", "12", {}),
        ("≈ 12", "12", {}),
        ("1. Start with 10.\n2. Add 5.\n3. The total is 15.\n", "15", {}),
        ("Step 1: 3\nStep 2: 4\nStep 3: 12", "12", {}),
        ("$\\frac{3}{4}$", "0.75", {}),
        ("$\\dfrac34$", "0.75", {}),
        ("3 / 4", "0.75", {}),
        ("3⁄4", "0.75", {}),
        ("1¾", "1.75", {}),
        ("The answer is 100,000.", "100000", {}),
        ("5,000", "5000", {}),
        ("<answer>12</answer>", "12", {}),
        ('{"answer": 12}', "12", {}),
        ("`12`", "12", {}),
        ("\\(12\\)", "12", {}),
        ("\\[ 12 \\]", "12", {}),
        ("The answer is \\(12\\).", "12", {}),
        ("The answer is 2 hours and 30 minutes.", "2.5", {"unit": "hour"}),
        ("The answer is 5 feet 6 inches", "66", {"unit": "inch"}),
        ("It takes 90 minutes.", "1.5", {"unit": "hour"}),
        ("1.5 kg", "1500", {"unit": "g"}),
        ("The answer is 2023 - 1990 = 33 years.", "33", {}),
        ("From 1990 to 2023 it is 33 years.", "33", {}),
        ("The ratio is 3:4, so the answer is 3/4.", "0.75", {}),
        ("We sell 3,5,7 and 9; the last is what counts.", "9", {}),
        ("The answer is 12. We used 3 steps.", "12", {}),
        ("Answer: 12. Then stop after 5.", "12", {}),
        ("It rose from -5 to -3.", "-3", {}),
        ("The range is 5–10, so the width is 5.", "5", {}),
        ("x^2 = 49, so x = 7", "7", {}),
        ("10 - 3 = 7", "7", {}),
        ("He got 10 minus 3, i.e. 7", "7", {}),
        ("The answer is −½.", "-1/2", {}),
        ("The answer is 15. Let me verify: 3 * 5 = 15, and 15 / 3 = 5.", "15", {}),
        ("Scratch that, I made a mistake: the total should be 21, not 20.", "21", {}),
        ("The area is 12 m², and it took 3 hours... The answer is 12 m².", "12", {}),
    ],
)
def test_english_answers(text: str, value: str, target: dict[str, object]) -> None:
    check(text, value, target, "en")


@pytest.mark.parametrize(
    ("text", "value", "target"),
    [
        ("答案是12。等等，不对，应该是13。", "13", {}),
        ("答案：12。更正：答案是13", "13", {}),
        ("所以答案是：１，２３４元。", "1234", {}),
        ("答案为一百二十三。", "123", {}),
        ("答案是两千三百万。", "23000000", {}),
        ("共有三亿两千万人。", "320000000", {}),
        ("一共是一万零五百元", "10500", {}),
        ("答案是一〇八", "108", {}),
        ("答案：两百五", "250", {}),
        ("答案是一万二", "12000", {}),
        ("答案是三千五", "3500", {}),
        ("共二十万零三百", "200300", {}),
        ("答案是百分之三十五", "35", {"percent": True}),
        ("占百分之十二点五。", "12.5", {"percent": True}),
        ("答案是百分之三十五", "0.35", {}),
        ("答案是二分之一", "0.5", {}),
        ("答案是一又二分之一", "1.5", {}),
        ("答案是一又三分之二。", "5/3", {}),
        ("答案是负十二", "-12", {}),
        ("所以，小明有 12 个苹果。", "12", {}),
        ("因此一共需要15天。", "15", {}),
        ("答：还剩下3.5千克。", "3.5", {}),
        ("答案是3万5千", "35000", {}),
        ("答案是1亿2000万", "120000000", {}),
        ("答案是2.5万元", "25000", {}),
        ("答案是12.5亿", "1250000000", {}),
        ("共1万2千3百", "12300", {}),
        ("他花了半小时", "0.5", {}),
        ("他用了两个半小时。", "2.5", {}),
        ("每人3个半", "3.5", {}),
        ("一半", "0.5", {}),
        ("面积是12平方米", "12", {}),
        ("2小时30分钟", "2.5", {"unit": "小时"}),
        ("所以一共有5+7=12（个）。答：一共有12个苹果。", "12", {}),
        ("5×6＝30", "30", {}),
        ("答：12÷3＝4（人）", "4", {}),
        ("最终答案：\\boxed{12}", "12", {}),
        ("结果是12。", "12", {}),
        ("等于12", "12", {}),
        ("得12", "12", {}),
        ("第3天他有12个", "12", {}),
        ("12月有31天", "31", {}),
        ("共5千人", "5000", {}),
        ("提高了3百分点", "3", {}),
        ("两万三", "23000", {}),
        ("他走了三天半", "3.5", {}),
        ("半天", "0.5", {}),
        ("5元3角", "5.3", {"unit": "元"}),
        ("3小时20分", "200", {}),
        ("我刚才算错了，答案应该是18", "18", {}),
        ("增加了百分之一百二十", "120", {"percent": True}),
    ],
)
def test_chinese_answers(text: str, value: str, target: dict[str, object]) -> None:
    check(text, value, target, "zh")


@pytest.mark.parametrize(
    ("text", "value", "target"),
    [
        ("The answer is 12, no wait, 13.", "12", {}),
        ("答案是12。不对，应该是13。", "12", {}),
        ("The answer is 7.", "-7", {}),
        ("The answer is 50.", "0.5", {}),
        ("The answer is 1.234,56.", "1.234", {}),
        ("一万二", "10002", {}),
        ("百分之五", "5", {}),
        ("2 hours 30 minutes", "2.3", {"unit": "hour"}),
        ("5 feet 6 inches", "5.6", {"unit": "ft"}),
        ("10^6", "6", {}),
        ("5 m^2", "25", {}),
        ("3 500 of them", "3500000", {}),
    ],
)
def test_what_an_answer_does_not_say_is_wrong(
    text: str, value: str, target: dict[str, object]
) -> None:
    sample = make_sample(
        Family.MATH, {"value": value, **target}, "?", "zh" if ord(text[0]) > 0x3000 else "en"
    )
    assert MathScorer()(sample, text).outcome is Outcome.INCORRECT


def test_extractors_that_disagree_are_counted_and_no_number_is_unscored() -> None:
    sample = make_sample(Family.MATH, {"value": "13"})
    taken_back = MathScorer()(sample, "The answer is 12. No wait, it is 13, which is 1 more.")
    assert (taken_back.outcome, taken_back.answer) == (Outcome.CORRECT, "13")
    assert taken_back.flags == (Flag.EXTRACTORS_DISAGREE,)
    assert MathScorer()(sample, "It is what it is.").reason == "extraction"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Let A be the area and B the base. Then A = B*h, so the answer is C.", "C"),
        ("We have $A = \\pi r^2$. Thus D.", "D"),
        ("If x = A + B then C = D. Final answer: B", "B"),
        ("A triangle has three sides, therefore the answer is D.", "D"),
        ("Vitamin C is option B.", "B"),
        ("\\boxed{\\text{(C)}}", "C"),
        ("(b)", "B"),
        ("b) Paris", "B"),
        ("the answer is (a).", "A"),
        ("The answer is A. No wait, B.", "B"),
        ("答案是A。不对，应该是B。", "B"),
        ("正确答案为（Ｃ）", "C"),
        ("不是A，而是B", "B"),
    ],
)
def test_letters_of_formulas_are_no_choices(text: str, letter: str) -> None:
    target = {"letter": letter, "options": ["one", "two", "three", "four"]}
    language: Language = "zh" if not text.isascii() else "en"
    judgement = ChoiceScorer()(make_sample(Family.FACTS, target, "?", language), text)
    assert judgement.outcome is Outcome.CORRECT, judgement


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("答案是叁拾伍", "35"),
        ("共计人民币叁拾伍元整", "35"),
        ("答案是壹万贰仟伍佰元整", "12500"),
        ("答案是廿五岁", "25"),
        ("答案是卅五", "35"),
        ("答案：叁", "3"),
        ("陆陆续续来了，一共35人", "35"),
        ("伍先生在大陆花了35元", "35"),
    ],
)
def test_numerals_of_checks_and_of_days(text: str, value: str) -> None:
    sample = make_sample(Family.MATH, {"value": value}, "一共多少？", "zh")
    assert MathScorer()(sample, text).outcome is Outcome.CORRECT
