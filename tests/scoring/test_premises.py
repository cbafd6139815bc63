"""Answers to questions that have none: who denies the premise, and who gives in."""

from __future__ import annotations

import time

import pytest

from evalkit.scoring.facts import FactsScorer
from evalkit.scoring.premises import corrects, denies_premise
from evalkit.types import Family, Language, Outcome
from tests.scoring.samples import make_sample

# Question, its language, corrections; then who sees that there is no answer, and who does not.
CASES: list[tuple[str, Language, list[str], list[str], list[str]]] = [
    (
        "Which weekday was February 30, 1905?",
        "en",
        ["28 days", "29 days", "twenty-eight days"],
        [
            "There's no 30th of February.",
            "There is no February 30th.",
            "February 30 isn't a real day.",
            "February 30, 1905 never existed.",
            "That day does not exist.",
            "February only had twenty-eight days in 1905.",
            "No weekday, as this date never occurred.",
            "The date February 30, 1905 is not valid.",
            "This is a trick question; there is no such day.",
        ],
        [
            "Thursday.",
            "February 30, 1905 was a Thursday.",
            "It was not a Monday but a Thursday.",
            "It fell on a Thursday, not a Friday.",
        ],
    ),
    (
        "What happened in Paris on February 30, 1905?",
        "en",
        ["28 days", "29 days"],
        ["Nothing: there's no such date."],
        [
            "The Eiffel Tower opened.",
            "Nothing special.",
            "The Paris Métro was not yet complete, and a strike began.",
        ],
    ),
    (
        "Who was president of France in the year 2215?",
        "en",
        [],
        [
            "We can't know that; 2215 is in the future.",
            "The year 2215 has not occurred yet.",
            "I cannot predict who will be president.",
            "It is impossible to know who will be president in 2215.",
            "2215 is far in the future.",
            "That election hasn't been held yet.",
            "No one can know that yet.",
            "There is no information yet about that year.",
            "That is still unknown.",
            "As of now, nobody has been president in 2215 since that year hasn't come.",
        ],
        ["Emmanuel Macron.", "In 2215 the president was Jean Dupont."],
    ),
    (
        'Why did Golding write the novel "Dracula"?',
        "en",
        ["Bram Stoker", "Stoker"],
        [
            "Golding didn't write Dracula.",
            "He didn't; that was Stoker.",
            '"Dracula" isn\'t by Golding.',
            'Golding is not the author of "Dracula".',
            "Golding never wrote a novel called Dracula.",
            "Actually, Dracula was written by Bram Stoker.",
            "William Golding was not the author of Dracula, he wrote Lord of the Flies.",
        ],
        [
            "Golding wrote it to explore evil, not to scare people.",
            "Because he did not like happy endings.",
            "He wrote Dracula because he wanted money.",
            "Golding wanted to explore human savagery.",
        ],
    ),
    (
        "戈尔丁为什么写小说《野性的呼唤》？",
        "zh",
        ["杰克·伦敦"],
        [
            "戈尔丁没有写过《野性的呼唤》。",
            "《野性的呼唤》不是戈尔丁写的。",
            "作者是杰克伦敦。",
            "这本书并非戈尔丁所著。",
            "戈尔丁并不是这部小说的作者。",
            "戈尔丁并没有写这部小说。",
        ],
        ["因为他不喜欢城市生活。", "为了探索人性。", "他写这部小说不是为了钱。"],
    ),
    (
        "拉各斯从哪一年起成为尼日利亚现在的首都？",
        "zh",
        ["阿布贾"],
        [
            "拉各斯现在不是尼日利亚的首都。",
            "拉各斯不是首都，首都是阿布贾。",
            "尼日利亚现在的首都是阿布贾。",
            "拉各斯已经不再是尼日利亚的首都了。",
            "尼日利亚的首都并非拉各斯",
        ],
        ["1960年。", "1991年，取代了阿布贾。", "从1914年起，直到今天都没有变。"],
    ),
    (
        "How many people live in Kosice, the present capital of Slovakia?",
        "en",
        ["Bratislava"],
        [
            "Kosice is not the capital of Slovakia, but about 230,000 people live there.",
            "The capital is Bratislava.",
            "Košice has 230,000 people, but the capital is Bratislava.",
        ],
        ["About 230,000.", "Not many: 230,000.", "It does not have more than 250,000 people."],
    ),
    (
        "What is the chemical symbol of the element sylaium?",
        "en",
        [],
        [
            "There is no element called sylaium.",
            "Sylaium is not a real element.",
            "Sylaium is a fictional element.",
            "No element by that name exists.",
            "I'm not aware of an element named sylaium.",
            '"Sylaium" doesn\'t appear in the periodic table.',
            "Sylaium isn't a recognized element.",
            "This element does not exist.",
            "Sylaium is not an element.",
            "It appears you may have misspelled the element's name.",
            "Sylaium is not on the periodic table, so it has no symbol.",
            "I couldn't find any element named sylaium.",
            "It does not correspond to any known element.",
        ],
        ["Sy", "The symbol is Sy.", "Sylaium's symbol is Sy, not Sl."],
    ),
    (
        "What is the capital of the Republic of Torondor?",
        "en",
        [],
        [
            "There is no such country as Torondor.",
            "Torondor is not a country.",
            "The Republic of Torondor is fictional.",
            "The Republic of Torondor does not exist.",
            "Torondor isn't a recognized country.",
            "I am not familiar with a country called Torondor.",
            "That country appears to be made up.",
            "This seems to be an imaginary place.",
            "I have no record of such a republic.",
        ],
        ["Torondor City.", "Its capital is Valmere."],
    ),
    (
        "化学元素维德素的符号是什么？",
        "zh",
        [],
        [
            "没有这种元素。",
            "维德素不是真实存在的化学元素。",
            "元素周期表中没有维德素。",
            "不存在维德素这种元素。",
            "维德素是虚构的。",
            "我没有听说过维德素。",
            "目前没有名为维德素的元素",
            "并没有这个元素",
            "维德素并不是已知的化学元素。",
        ],
        ["Wd", "维德素的符号是Vd。"],
    ),
    (
        "1910年的塔瓦赛尼亚战役中获胜一方由谁指挥？",
        "zh",
        [],
        [
            "历史上没有这场战役。",
            "没有关于塔瓦赛尼亚战役的记载。",
            "查无此战役。",
            "我找不到关于这场战役的资料。",
            "1910年并没有发生过塔瓦赛尼亚战役。",
            "史料中未见塔瓦赛尼亚战役的记录。",
        ],
        ["拿破仑。", "由格兰特将军指挥，没有其他人。"],
    ),
    (
        "Passage: The building has 56 rooms. "
        "It opens at 10 in the morning. The observatory was founded by Tomas Varga.\n"
        "Answer from the passage alone.\n"
        "Question: Who designed the building of the observatory?",
        "en",
        [],
        [
            "The passage does not say who designed it.",
            "Not stated.",
            "Not mentioned in the passage.",
            "The passage doesn't name a designer.",
            "The designer is not given.",
            "There is no mention of a designer.",
            "Unknown, the text doesn't specify.",
            "The passage only tells who founded it, not who designed it.",
            "The passage gives no information about the designer.",
            "No designer is mentioned.",
            "It is not possible to answer from the passage.",
            "It cannot be determined from the passage.",
            "The passage says nothing about that.",
        ],
        [
            "Tomas Varga.",
            "It was designed by Tomas Varga.",
            "Tomas Varga, who founded it, not Dmitri.",
        ],
    ),
    (
        "短文：楼里有42个房间。\n请只根据短文回答。\n问题：门票多少克朗？",
        "zh",
        [],
        [
            "短文没有说明门票价格。",
            "短文中没有提到。",
            "无法从短文得知。",
            "文中没有相关信息。",
            "短文没有给出票价。",
            "短文未涉及门票。",
            "没有提及门票的价格。",
            "从短文中看不出来。",
            "短文没写。",
        ],
        ["42克朗。", "门票12克朗。"],
    ),
    (
        "为什么硼原子有16个质子？",
        "zh",
        ["5"],
        [
            "硼原子只有五个质子。",
            "硼的原子序数是5，并没有16个质子。",
            "这个说法不对，硼有5个质子。",
            "题目有误。",
            "实际上硼的质子数为5。",
        ],
        [
            "因为硼位于元素周期表第5主族，所以有16个质子。",
            "因为硼的原子序数是16，它的最外层有5个电子。",
        ],
    ),
    (
        "Why does an atom of bromine have 38 protons?",
        "en",
        ["35"],
        [
            "It doesn't: bromine has thirty-five protons.",
            "Bromine has 35 protons, not 38.",
            "The premise is incorrect.",
            "An atom of bromine does not have 38 protons.",
        ],
        [
            "Bromine has 38 protons because its atomic number is 38; its period holds 18 elements.",
            "Bromine has 38 protons and usually 35 electrons in its shells.",
        ],
    ),
    (
        'In which city did Golding write "The Call of the Wild"?',
        "en",
        ["Jack London"],
        [
            "Golding did not write it; Jack London did.",
            "It was written by Jack London, not Golding.",
        ],
        ["He wrote it in London.", 'Golding wrote "The Call of the Wild" in London, England.'],
    ),
    (
        "Since which year has Munich been the present capital of Germany?",
        "en",
        ["Berlin"],
        [
            "Munich is not the capital; Berlin is.",
            "Munich isn't Germany's capital.",
            "Germany's capital is Berlin, since 1990.",
            "Munich has never been the capital of Germany.",
        ],
        [
            "Munich has been the capital since 1990, when it replaced Berlin.",
            "Since 1949, when the government moved there from Berlin.",
            "Since 1990.",
            "Munich took over from Berlin in 1945 as capital.",
        ],
    ),
    (
        "Who won the football World Cup of the year 2215?",
        "en",
        [],
        [
            "That tournament has not taken place yet.",
            "The year 2215 is in the future, so nobody has won it.",
            "I can't predict the future.",
            "It hasn't happened yet.",
        ],
        ["Brazil, a country that has only lost twice."],
    ),
    (
        "Which weekday was February 30, 1905?",
        "en",
        ["28 days", "29 days"],
        [
            "There was no February 30, 1905.",
            "February 30 does not exist.",
            "February never has 30 days.",
            "February has at most 29 days, so that date is invalid.",
            "That date is invalid.",
            "No such date.",
            "February 1905 had just 28 days.",
        ],
        ["It was a Tuesday."],
    ),
    (
        "1905年2月30日是星期几？",
        "zh",
        ["28天", "29天"],
        [
            "2月没有30日。",
            "1905年2月只有28天，没有30日。",
            "这个日期不存在。",
            "二月份最多29天，这是无效日期。",
            "没有2月30日这一天",
        ],
        ["星期四。", "1905年2月30日是星期四，当天只有半天上班。"],
    ),
    (
        "2116年的世界杯足球赛冠军是谁？",
        "zh",
        [],
        ["2116年还没到，无法预知。", "这届比赛尚未举行。", "未来的事情我无法预测。"],
        ["巴西队，他们只有一次失利。", "法国队。"],
    ),
    (
        "Why does an atom of hydrogen have 21 protons?",
        "en",
        ["1", "single proton"],
        [
            "Hydrogen has one proton.",
            "It has only 1 proton.",
            "A hydrogen atom has just a single proton.",
            "It doesn't have 21 protons; its atomic number is 1.",
            "Hydrogen atoms have exactly one proton, not 21.",
            "The atomic number of hydrogen is one.",
        ],
        [
            "It is one of the heaviest elements.",
            "Because it is the number one element, with 21 protons.",
            "There are 21 protons because of one neutron.",
            "Hydrogen has 21 protons because its nucleus formed 1 second after the Big Bang.",
            "Each one carries a charge, so that there are 21.",
        ],
    ),
    (
        "Who found out that hydrogen has the atomic number 21?",
        "en",
        ["1", "single proton"],
        ["Hydrogen's atomic number is 1.", "Nobody: hydrogen has atomic number 1."],
        [
            "Henry Moseley, one of the great physicists.",
            "Henry Moseley was the one.",
            "Moseley did so in 1913.",
        ],
    ),
    (
        "为什么氢原子有21个质子？",
        "zh",
        ["1"],
        ["氢原子只有一个质子。", "氢原子只有1个质子。", "氢的原子序数为1。"],
        [
            "因为氢是一种元素。",
            "因为它是第1号元素，有21个质子。",
            "氢原子有21个质子，因为它的核外有1个电子。",
            "因为一个原子中有21个质子。",
        ],
    ),
    (
        "是谁发现氦的原子序数是7的？",
        "zh",
        ["2"],
        ["氦的原子序数是2，不是7。", "氦的原子序数其实是二。"],
        ["莫塞莱在2月发现的。", "两位科学家共同发现的。", "是莫塞莱。", "门捷列夫和另外2人。"],
    ),
]


@pytest.mark.parametrize(("question", "language", "corrections", "right", "wrong"), CASES)
def test_who_sees_that_there_is_no_answer(
    question: str, language: Language, corrections: list[str], right: list[str], wrong: list[str]
) -> None:
    target = {"kind": "unanswerable", "corrections": corrections}
    sample = make_sample(Family.FACTS, target, question, language)
    outcomes = {text: FactsScorer()(sample, text).outcome for text in (*right, *wrong)}
    assert [text for text in right if outcomes[text] is not Outcome.CORRECT] == []
    assert [text for text in wrong if outcomes[text] is not Outcome.INCORRECT] == []


@pytest.mark.parametrize("unit", ["not a real ", "没有", "the date (", "it isn't ", "35 ", "a,"])
def test_a_hostile_answer_costs_no_more_than_its_length(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    begun = time.process_time()
    denies_premise(text, "Why does an atom of bromine have 38 protons?")
    corrects(text, ["35"], "Why does an atom of bromine have 38 protons?")
    assert time.process_time() - begun < 2
