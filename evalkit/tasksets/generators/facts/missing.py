"""Questions without an answer: invented things, false premises, days that do not exist."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from evalkit.tasksets.generators.facts.knowledge import Question, choose, names, table, usual
from evalkit.types import Language

_HEADS = (
    "Vel Tor Mar Kel Zan Dor Bri Qua Sol Fen Gal Hol Ir Jor Kas Lum Nor Ost Per Rud Syl Tam Ul Wes"
)
_MIDDLES = "a e i o u ara eli ino oru ande ista ova uri ele"
_TAILS = {"place": "via dor mark stan nia grad mere holm", "matter": "ium ium ene ite ol"}
_FIRST = (
    "Aldo Berta Corvin Delia Emeric Fiora Gregor Hedda Ivo Jolanda Kasimir Leonora Matteo Nadia"
)
_LAST = "Merrivane Tolbrecht Quillsworth Varnhagel Ostrander Pellagrin Drumholt Fairweather-Lisk"
_ZH_SYLLABLES = "泽 尔 瓦 托 曼 卡 罗 莫 维 德 赛 兰 诺 塔 米 拉 布 科 法 乌 伊 奥 贝 达"

_ADJECTIVES = "Silent Copper Hollow Winter Salt Paper Velvet Distant Broken Amber Northern Last"
_NOUNS = "Lanterns Orchard Harbor Cartographers Staircase Meridian Sparrows Ledger Causeway Bells"
_ZH_TITLES = ("沉默的", "铜色的", "冬夜的", "盐海的", "破碎的", "琥珀色的", "遥远的", "最后的")
_ZH_NOUNS = ("灯塔", "果园", "制图师", "阶梯", "麻雀", "账簿", "钟声", "堤道", "港湾", "子午线")


@cache
def _known() -> frozenset[str]:
    """Return every name in the tables: an invented one must not be among them."""
    return frozenset(
        name.casefold()
        for one in ("countries", "elements", "works", "chinese_works", "geography")
        for row in table(one)
        for column, cell in row.items()
        if column != "source"
        for name in names(cell or "")
    )


def _invented(rng: random.Random, make: Callable[[], str]) -> str:
    while True:
        name = make()
        if name.casefold() not in _known():
            return name


def _place(rng: random.Random, language: Language) -> str:
    if language == "zh":
        return _invented(rng, lambda: "".join(rng.sample(_ZH_SYLLABLES.split(), 3)) + "尼亚")
    return _invented(rng, lambda: _word(rng, "place"))


def _word(rng: random.Random, kind: str) -> str:
    return "".join(rng.choice(parts.split()) for parts in (_HEADS, _MIDDLES, _TAILS[kind]))


def _person(rng: random.Random, language: Language) -> str:
    if language == "zh":
        syllables = rng.sample(_ZH_SYLLABLES.split(), 5)
        return f"{''.join(syllables[:2])}·{''.join(syllables[2:])}"
    return f"{rng.choice(_FIRST.split())} {rng.choice(_LAST.split())}"


def _title(rng: random.Random, language: Language) -> str:
    if language == "zh":
        return rng.choice(_ZH_TITLES) + rng.choice(_ZH_NOUNS)
    of = f" of {_word(rng, 'place')}"
    return f"The {rng.choice(_ADJECTIVES.split())} {rng.choice(_NOUNS.split())}{of}"


def _matter(rng: random.Random, language: Language) -> str:
    if language == "zh":
        return _invented(rng, lambda: "".join(rng.sample(_ZH_SYLLABLES.split(), 2)) + "素")
    return _invented(rng, lambda: _word(rng, "matter").lower())


_INVENTED: Mapping[Language, Sequence[str]] = {
    "en": (
        "What is the capital of the Republic of {place}?",
        "Which currency is used in the country of {place}?",
        'Who wrote the novel "{title}", published in {year}?',
        'In which year did {person} publish the novel "{title}"?',
        "What is the chemical symbol of the element {matter}?",
        "What is the atomic number of {matter}?",
        "For which discovery did the physicist {person} receive the Nobel Prize in {late}?",
        "Who commanded the winning side in the Battle of {place} in {year}?",
        "Into which sea does the river {place} flow?",
        "Who signed the Treaty of {place} in {year}?",
        "How high is Mount {place}, the highest mountain of {other}?",
        "In which city was the composer {person} born?",
    ),
    "zh": (
        "{place}共和国的首都是哪里？",
        "{place}这个国家使用什么货币？",
        "{year}年出版的小说《{title}》是谁写的？",
        "{person}在哪一年出版了小说《{title}》？",
        "化学元素{matter}的符号是什么？",
        "{matter}的原子序数是多少？",
        "物理学家{person}因哪项发现在{late}年获得诺贝尔奖？",
        "{year}年的{place}战役中获胜一方由谁指挥？",
        "{place}河流入哪片海？",
        "{year}年的{place}条约是谁签署的？",
        "作曲家{person}出生在哪座城市？",
    ),
}


def invented(rng: random.Random, language: Language) -> Question:
    """Ask about something that was made up to sound real."""
    text = choose(rng, language, _INVENTED).format(
        place=_place(rng, language),
        other=_place(rng, language),
        person=_person(rng, language),
        title=_title(rng, language),
        matter=_matter(rng, language),
        year=rng.randint(1805, 1994),
        late=rng.randint(1905, 1994),
    )
    return Question(text, "invented", {"kind": "unanswerable", "corrections": []}, "medium")


_CITIES = frozenset({"London", "Wells"})


def false_premise(rng: random.Random, language: Language) -> Question:
    """Ask on top of something that is not so; naming what is so is right as well."""
    return rng.choice((_wrong_capital, _wrong_author, _wrong_number))(rng, language)


def _corrected(text: str, corrections: Sequence[str]) -> Question:
    target = {"kind": "unanswerable", "corrections": list(corrections)}
    return Question(text, "false_premise", target, "hard")


def _wrong_capital(rng: random.Random, language: Language) -> Question:
    row = rng.choice(table("countries"))
    city = rng.choice(names(row[f"trap_{language}"]))
    ways: Mapping[Language, Sequence[str]] = {
        "en": (
            "Since which year has {city} been the present capital of {country}?",
            "How many people live in {city}, the present capital of {country}?",
            "Which river flows through {city}, today's capital of {country}?",
        ),
        "zh": (
            "{country}现在的首都{city}有多少人口？",
            "{city}从哪一年起成为{country}现在的首都？",
        ),
    }
    text = choose(rng, language, ways).format(city=city, country=usual(row[language]))
    return _corrected(text, names(row[f"capital_{language}"]))


def _wrong_author(rng: random.Random, language: Language) -> Question:
    rows = [row for row in table("works") if row["kind"] == "novel"]
    row, other = rng.sample(rows, 2)
    column = f"author_{language}"
    while set(names(other[column])) & set(names(row[column])):
        other = rng.choice(rows)
    ways: Mapping[Language, Sequence[str]] = {
        "en": (
            'Why did {author} write the novel "{title}"?',
            'How old was {author} when finishing the novel "{title}"?',
            'In which city did {author} write "{title}"?',
        ),
        "zh": ("{author}为什么写小说《{title}》？", "{author}在哪座城市写了小说《{title}》？"),
    }
    text = choose(rng, language, ways).format(author=usual(other[column]), title=row[language])
    # "London" in an answer to "In which city ...?" is no correction.
    return _corrected(text, [name for name in names(row[column]) if name not in _CITIES])


def _wrong_number(rng: random.Random, language: Language) -> Question:
    row = rng.choice(table("elements"))
    wrong = int(row["number"]) + rng.choice((-3, -2, 2, 3, 5, 11, 20))
    wrong = wrong if wrong > 0 else wrong + 30
    ways: Mapping[Language, Sequence[str]] = {
        "en": (
            "Who found out that {element} has the atomic number {wrong}?",
            "Why does an atom of {element} have {wrong} protons?",
        ),
        "zh": ("是谁发现{element}的原子序数是{wrong}的？", "为什么{element}原子有{wrong}个质子？"),
    }
    text = choose(rng, language, ways).format(element=usual(row[language]), wrong=wrong)
    single = (
        {"en": ["single proton"], "zh": ["唯一的质子"]}[language] if row["number"] == "1" else []
    )
    return _corrected(text, [row["number"], *single])


_LENGTHS_EN = ((28, "twenty-eight"), (29, "twenty-nine"), (30, "thirty"))
_LENGTHS_ZH = ((28, "二十八"), (29, "二十九"), (30, "三十"))
_NO_DAYS = ((2, 30), (2, 31), (4, 31), (6, 31), (9, 31), (11, 31))
_DAYS: Mapping[Language, Mapping[int, tuple[str, str]]] = {
    "en": {n: (f"{n} days", f"{word} days") for n, word in _LENGTHS_EN},
    "zh": {n: (f"{n}天", f"{word}天") for n, word in _LENGTHS_ZH},
}
_MONTHS = {2: "February", 4: "April", 6: "June", 9: "September", 11: "November"}


def impossible_date(rng: random.Random, language: Language) -> Question:
    """Ask about a day that no calendar has, or about what nobody can know yet."""
    year = rng.randint(1801, 2019)
    month, day = rng.choice(_NO_DAYS)
    later = rng.randint(2071, 2399)
    no_day: Mapping[Language, Sequence[str]] = {
        "en": (
            f"Which weekday was {_MONTHS[month]} {day}, {year}?",
            f"What happened in Paris on {_MONTHS[month]} {day}, {year}?",
        ),
        "zh": (
            f"{year}年{month}月{day}日是星期几？",
            f"{year}年{month}月{day}日巴黎发生了什么？",
        ),
    }
    not_yet: Mapping[Language, Sequence[str]] = {
        "en": (
            f"Who won the football World Cup of the year {later}?",
            f"Who received the Nobel Prize in Physics of the year {later}?",
            f"Who was president of France in the year {later}?",
        ),
        "zh": (
            f"{later}年的世界杯足球赛冠军是谁？",
            f"{later}年的诺贝尔物理学奖得主是谁？",
        ),
    }
    text = rng.choice((*no_day[language], *not_yet[language]))
    days = ((28, 29) if month == 2 else (30,)) if text in no_day[language] else ()
    corrections = [way for n in days for way in _DAYS[language][n]]
    target = {"kind": "unanswerable", "corrections": corrections}
    return Question(text, "impossible_date", target, "medium")
