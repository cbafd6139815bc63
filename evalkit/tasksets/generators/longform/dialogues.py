"""Long dialogues that plan a journey together, and linked questions at their end."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.tasksets.generators.base import Draft, Level
from evalkit.tasksets.generators.longform.subject import town, town_ways
from evalkit.tasksets.generators.longform.words import words
from evalkit.types import Language, Message

_SORTS = ("job", "town", "thing", "day")


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is said of everybody: by name, by sort of fact; and what was true before."""

    language: Language
    people: Mapping[str, Mapping[str, str]]
    was: Mapping[tuple[str, str], str]

    def text(self, key: str, **values: Any) -> str:
        text: str = words(self.language)["texts"][key]
        return text.format(**values)


def dialogue(rng: random.Random, language: Language) -> Draft:
    """Make a dialogue of 6 to 40 turns, and ask up to five linked questions on it."""
    level: Level = rng.choices(("easy", "medium", "hard"), (4, 4, 2))[0]
    people, changes, asked = {
        "easy": (3, 1, rng.randint(1, 2)),
        "medium": (5, 2, 3),
        "hard": (10, 5, 5),
    }[level]
    plan = _plan(rng, language, people, changes)
    turns = list(_turns(rng, plan))
    lines, questions = _questions(rng, plan, asked)
    numbered = "\n".join(f"{at}. {line}" for at, line in enumerate(lines, 1))
    rule = plan.text("rule" if asked > 1 else "rule_one")
    turns.append(Message("user", f"{rule}\n{numbered if asked > 1 else lines[0]}"))
    return Draft(
        "dialogue",
        tuple(turns),
        {"kind": "answers", "questions": questions},
        level,
        None,
        {"turns": len(turns), "questions": asked},
    )


def _plan(rng: random.Random, language: Language, n: int, changes: int) -> _Plan:
    table = words(language)
    names = rng.sample(table["given"], n)
    jobs, things = rng.sample(table["jobs"], n), rng.sample(table["things"], n + 1)
    towns = _distinct_towns(rng, language, n)
    people = {
        name: {"job": job, "town": home, "thing": thing, "day": rng.choice(table["weekdays"])}
        for name, job, home, thing in zip(names, jobs, towns, things, strict=False)
    }
    was: dict[tuple[str, str], str] = {}
    for name in rng.sample(names, changes):
        sort = rng.choice(("thing", "day"))
        old = people[name][sort]
        if sort == "thing":
            if things[n] in (person["thing"] for person in people.values()):
                continue
            people[name][sort] = things[n]
        else:
            people[name][sort] = rng.choice([day for day in table["weekdays"] if day != old])
        was[name, sort] = old
    # One fact of somebody is never told.
    silent = rng.choice(names)
    if rng.random() < 0.5:
        del people[silent]["job"]
    return _Plan(language, people, was)


def _distinct_towns(rng: random.Random, language: Language, n: int) -> list[str]:
    towns: dict[str, None] = {}
    while len(towns) < n:
        towns.setdefault(town(rng, language))
    return list(towns)


def _turns(rng: random.Random, plan: _Plan) -> Iterator[Message]:
    """Tell all facts, one or two a turn, each change after what it changes."""
    table = words(plan.language)
    told = [(name, sort) for name, facts in plan.people.items() for sort in facts]
    rng.shuffle(told)
    first = [
        plan.text(sort, p=name, v=plan.was.get((name, sort), plan.people[name][sort]))
        for name, sort in told
    ]
    later = [
        plan.text(f"new_{sort}", p=name, v=plan.people[name][sort], old=old)
        for (name, sort), old in plan.was.items()
    ]
    gap = " " if plan.language == "en" else ""
    yield Message("user", f"{plan.text('hello')}{gap}{first.pop(0)}")
    said = [*first, *later]
    while said:
        yield Message("assistant", rng.choice(table["chat"]))
        lines = said[: rng.randint(1, 2)]
        said = said[len(lines) :]
        if rng.random() < 0.4:
            lines.append(rng.choice(table["asides"]))
        yield Message("user", gap.join(lines))
    yield Message("assistant", rng.choice(table["chat"]))


def _questions(rng: random.Random, plan: _Plan, n: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Ask who does something, then about that person, and so on."""
    lines: list[str] = []
    questions: list[dict[str, Any]] = []
    names = list(plan.people)
    rng.shuffle(names)
    # Who was changed is asked about first: the dialogue must be read to its end.
    names.sort(key=lambda name: all(who != name for who, _ in plan.was))
    while len(lines) < n:
        name = names[len(lines) % len(names)]
        facts = [sort for sort in _SORTS[:3] if sort in plan.people[name]]
        known = rng.choice(facts)
        lines.append(plan.text(f"who_{known}", v=plan.people[name][known]))
        questions.append(_target(plan, names, name, None))
        if len(lines) < n:
            changed = [sort for who, sort in plan.was if who == name and sort != known]
            sorts = changed or [sort for sort in _SORTS if sort != known]
            sort = rng.choice(sorts)
            lines.append(plan.text(f"ask_{sort}", p=plan.text("that", n=len(lines))))
            questions.append(_target(plan, names, name, sort))
    return lines, questions


def _target(plan: _Plan, names: Sequence[str], name: str, sort: str | None) -> dict[str, Any]:
    if sort is None:
        return {"name": "who", "values": [name], "rivals": [one for one in names if one != name]}
    if sort not in plan.people[name]:
        return {"name": sort, "values": [], "unknown": True}
    value = plan.people[name][sort]
    rivals = {facts[sort] for who, facts in plan.people.items() if who != name and sort in facts}
    rivals |= {old for (_, changed), old in plan.was.items() if changed == sort}
    if sort == "day":
        rivals = set(words(plan.language)["weekdays"])
    values = [value]
    if sort == "town":
        values = town_ways(value, plan.language, rivals)
    elif plan.language == "zh" and sort == "day":
        values = _spoken_day(value)
    return {"name": sort, "values": values, "rivals": sorted(rivals - {value})}


def _spoken_day(day: str) -> list[str]:
    return [day, f"周{day[-1]}", f"礼拜{day[-1]}"]
