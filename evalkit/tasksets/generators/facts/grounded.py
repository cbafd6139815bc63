"""A short passage, and a question that it answers or does not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.tasksets.generators.facts.knowledge import Question
from evalkit.types import Language

_PEOPLE = {
    "en": "Rosa Whitcombe;Arthur Penrose;Helga Lindqvist;Tomas Varga;Ines Carvalho;Dmitri Orlov;"
    "Mei Tanaka;Samuel Okafor;Clara Dubois;Peter Halloran",
    "zh": "周明远;林若兰;陈志诚;许雅琴;韩立群;苏晓峰;罗文静;唐国栋;方慧敏;邵一鸣",
}
_PLACES = {
    "en": "Ashmere;Greywater;Linden Hill;Port Calder;Stonebridge;Westhaven;Millbrook;Oakford",
    "zh": "青石镇;临江镇;白桦镇;望湖镇;松岭镇;南桥镇;枫林镇;云溪镇",
}
_KINDS = {
    "en": "museum;theater;library;school;mill;observatory;ferry company;printing house",
    "zh": "博物馆;剧院;图书馆;学校;磨坊;天文台;渡船公司;印刷厂",
}
_THINGS = {
    "en": "a brass clock;a whale skeleton;a glass organ;a painted ceiling;an old steam engine",
    "zh": "一座铜钟;一副鲸鱼骨架;一架玻璃琴;一幅彩绘天顶;一台老蒸汽机",
}


@dataclass(frozen=True, slots=True)
class _Fact:
    """A sentence of a passage, the question it answers, and the target of that question."""

    sentence: str
    question: str
    target: Mapping[str, Any]


def passages(rng: random.Random, language: Language) -> Iterator[Question]:
    """Yield two questions on one new passage: one that it answers, one that it does not."""
    place = rng.choice(_PLACES[language].split(";"))
    kind = rng.choice(_KINDS[language].split(";"))
    facts = _facts(rng, language, place, kind)
    rng.shuffle(facts)
    told, untold = facts[:-2], facts[-2:]
    joint = " " if language == "en" else ""
    passage = joint.join(fact.sentence for fact in told)
    cluster = f"passage-{language}-{rng.getrandbits(48):012x}"
    lead, ask = ("Passage: ", "Question: ") if language == "en" else ("短文：", "问题：")
    rule = "Answer from the passage alone." if language == "en" else "请只根据短文回答。"
    asked = rng.choice(told)
    yield Question(
        f"{lead}{passage}\n{rule}\n{ask}{asked.question}",
        "grounded",
        asked.target,
        "easy",
        cluster,
    )
    missing = rng.choice(untold)
    yield Question(
        f"{lead}{passage}\n{rule}\n{ask}{missing.question}",
        "grounded_unanswerable",
        {"kind": "unanswerable", "corrections": []},
        "medium",
        cluster,
    )


def _facts(rng: random.Random, language: Language, place: str, kind: str) -> list[_Fact]:
    people = rng.sample(_PEOPLE[language].split(";"), 3)
    year, rooms = rng.randint(1820, 1995), rng.randint(3, 60)
    visitors, hour = 1000 * rng.randint(2, 90), rng.randint(6, 11)
    thing = rng.choice(_THINGS[language].split(";"))
    price = rng.randint(2, 19)
    en = language == "en"

    def number(value: int) -> dict[str, Any]:
        return {"kind": "number", "value": str(value), "tolerance": "0"}

    def name(person: str) -> dict[str, Any]:
        aliases = [person, person.split()[-1]] if en else [person]
        rivals = [other for other in people if other != person]
        return {"kind": "answer", "aliases": aliases, "rivals": rivals}

    founder, head, builder = people
    rows = [
        (
            f"The {kind} of {place} was founded by {founder}.",
            f"{place}的{kind}由{founder}创办。",
            f"Who founded the {kind} of {place}?",
            f"{place}的{kind}是谁创办的？",
            name(founder),
        ),
        (
            f"The {kind} opened its doors in {year}.",
            f"这家{kind}于{year}年开业。",
            f"In which year did the {kind} open its doors?",
            f"这家{kind}是哪一年开业的？",
            number(year),
        ),
        (
            f"Today the {kind} is headed by {head}.",
            f"现在{kind}由{head}主管。",
            f"Who heads the {kind} today?",
            f"现在由谁主管这家{kind}？",
            name(head),
        ),
        (
            f"The building of the {kind} was designed by {builder}.",
            f"{kind}的建筑由{builder}设计。",
            f"Who designed the building of the {kind}?",
            f"{kind}的建筑是谁设计的？",
            name(builder),
        ),
        (
            f"The building has {rooms} rooms.",
            f"楼里有{rooms}个房间。",
            "How many rooms does the building have?",
            "楼里有多少个房间？",
            number(rooms),
        ),
        (
            f"About {visitors} people come every year.",
            f"每年约有{visitors}人前来。",
            "How many people come every year?",
            "每年约有多少人前来？",
            number(visitors),
        ),
        (
            f"A ticket costs {price} crowns.",
            f"门票价格为{price}克朗。",
            "How many crowns does a ticket cost?",
            "门票多少克朗？",
            number(price),
        ),
        (
            f"It opens at {hour} in the morning.",
            f"每天上午{hour}点开门。",
            "At what hour in the morning does it open?",
            "每天上午几点开门？",
            number(hour),
        ),
        (
            f"Visitors like {thing} best.",
            f"参观者最喜欢{thing}。",
            "What do visitors like best?",
            "参观者最喜欢什么？",
            _best(thing, language),
        ),
    ]
    return [_Fact(a if en else b, c if en else d, target) for a, b, c, d, target in rows]


def _best(thing: str, language: Language) -> dict[str, Any]:
    bare = thing.split(" ", 1)[1] if language == "en" else thing[2:]
    everything = [
        one.split(" ", 1)[1] if language == "en" else one[2:]
        for one in _THINGS[language].split(";")
    ]
    return {"kind": "answer", "aliases": [bare], "rivals": [o for o in everything if o != bare]}
