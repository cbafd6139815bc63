"""Closed-book questions on works, deeds and dynasties."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from evalkit.tasksets.generators.base import Level
from evalkit.tasksets.generators.facts.forms import asked, draw_row, form, number
from evalkit.tasksets.generators.facts.knowledge import (
    Question,
    answer,
    choose,
    names,
    others,
    table,
    usual,
)
from evalkit.types import Language

_KINDS: Mapping[str, str] = {
    "novel": "小说",
    "play": "戏剧",
    "poem": "诗作",
    "painting": "画作",
    "opera": "歌剧",
    "ballet": "芭蕾舞剧",
    "orchestral piece": "管弦乐作品",
}
_MAKERS: Mapping[str, tuple[str, str]] = {
    "painting": ("painted", "画"),
    "opera": ("composed", "作曲"),
    "ballet": ("composed the music of", "作曲"),
    "orchestral piece": ("composed", "作曲"),
}


@form()
def maker_of_a_work(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "works")
    verb_en, verb_zh = _MAKERS.get(row["kind"], ("wrote", "写"))
    kind = row["kind"] if language == "en" else _KINDS[row["kind"]]
    column = f"author_{language}"
    return asked(
        rng,
        language,
        {
            "en": (
                'Who {verb} the {kind} "{title}"?',
                'The {kind} "{title}" was {verb_by} by whom?',
                'Name the person who {verb} "{title}".',
            ),
            "zh": ("{kind}《{title}》是谁{verb}的？", "谁是{kind}《{title}》的作者？"),
        },
        category="arts",
        level="medium",
        cell=row[column],
        rivals=others(rng, [one for one in table("works") if one["kind"] == row["kind"]], column),
        verb=verb_en if language == "en" else verb_zh,
        verb_by={"wrote": "written", "painted": "painted"}.get(verb_en, "composed"),
        kind=kind,
        title=row[language],
    )


@form(0.7)
def year_of_a_work(rng: random.Random, language: Language) -> Question:
    row = rng.choice([row for row in table("works") if row["year"]])
    kind = row["kind"] if language == "en" else _KINDS[row["kind"]]
    shown = row["kind"] == "painting"
    staged = row["kind"] in {"play", "opera", "ballet", "orchestral piece"}
    done_en = "painted" if shown else "first performed" if staged else "first published"
    done_zh = "创作" if shown else "首演" if staged else "首次出版"
    ways: Mapping[Language, Sequence[str]] = {
        "en": (
            'In which year was the {kind} "{title}" {done}?',
            'When was "{title}" {done}? Name the year.',
        ),
        "zh": ("{kind}《{title}》是哪一年{done}的？", "《{title}》{done}于哪一年？"),
    }
    done = done_en if language == "en" else done_zh
    text = choose(rng, language, ways).format(kind=kind, title=row[language], done=done)
    return number(text, "arts", int(row["year"]), "hard", tolerance=1)


@form(0.4)
def who_did_it_first(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "discoveries")
    column = f"who_{language}"
    return asked(
        rng,
        language,
        {
            "en": ("By whom: {deed}?", "Name the person: {deed} by whom?"),
            "zh": ("谁{deed}？", "是谁{deed}？"),
        },
        category="history",
        level="medium",
        cell=row[column],
        rivals=others(rng, table("discoveries"), column),
        deed=row[language],
    )


@form(0.4)
def year_of_a_deed(rng: random.Random, language: Language) -> Question:
    row = rng.choice([row for row in table("discoveries") if row["year"]])
    ways: Mapping[Language, Sequence[str]] = {
        "en": ("In which year was it that {deed}?", "Name the year in which {deed}."),
        "zh": ("{who}在哪一年{deed}？", "{who}{deed}是在哪一年？"),
    }
    who = usual(row[f"who_{language}"])
    text = choose(rng, language, ways).format(deed=row[language], who=who)
    return number(text, "history", int(row["year"]), "hard", tolerance=1)


@form(0.5)
def author_of_a_chinese_work(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "chinese_works")
    column = f"author_{language}"
    return asked(
        rng,
        language,
        {
            "en": (
                'Who wrote the Chinese work "{title}"?',
                'Name the author of the Chinese work "{title}".',
            ),
            "zh": ("《{title}》的作者是谁？", "谁写了《{title}》？", "《{title}》是谁的作品？"),
        },
        category="chinese_literature",
        level="medium",
        cell=row[column],
        rivals=others(rng, table("chinese_works"), column),
        title=row[language],
    )


@form(0.25)
def dynasty(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "dynasties")
    what = rng.choice(("founder", "capital"))
    ways: Mapping[str, Mapping[Language, Sequence[str]]] = {
        "founder": {
            "en": ("Who founded the {dynasty} of China?", "Name the founder of the {dynasty}."),
            "zh": ("{dynasty}的开国皇帝是谁？", "谁建立了{dynasty}？"),
        },
        "capital": {
            "en": (
                "Which city was the first capital of the {dynasty} of China?",
                "Name the first capital of China's {dynasty}.",
            ),
            "zh": ("{dynasty}建立时定都哪里？", "{dynasty}最初的都城是哪里？"),
        },
    }
    column = f"{what}_{language}"
    return asked(
        rng,
        language,
        ways[what],
        category="history",
        level="medium" if language == "zh" else "hard",
        cell=row[column],
        rivals=others(rng, table("dynasties"), column),
        dynasty=row[language],
    )


def poem(rng: random.Random) -> Question:
    """Ask for the next line, the poet or the title of a line of Chinese poetry."""
    row = draw_row(rng, "poems")
    what = rng.choice(("second", "poet", "title"))
    ways = {
        "second": (
            "“{first}”的下一句是什么？",
            "请接下一句：“{first}，”",
            "背诵诗句：{first}，下一句是？",
        ),
        "poet": ("“{first}，{second}”是谁的诗句？", "写下“{first}，{second}”的诗人是谁？"),
        "title": ("“{first}，{second}”出自哪首作品？", "诗句“{first}，{second}”出自哪一篇？"),
    }
    levels: Mapping[str, Level] = {"second": "medium", "poet": "medium", "title": "hard"}
    text = rng.choice(ways[what]).format(first=row["first"], second=usual(row["second"]))
    target = answer(names(row[what]), others(rng, table("poems"), what), text)
    return Question(text, "chinese_literature", target, levels[what])
