"""Answers that follow a composition of instructions, built without asking a model.

The builder knows what each instruction asks for, not how it is checked. That it finds an
answer for every prompt shows that no two instructions of one prompt are in conflict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

# Short words over many letters, so that some are left whatever is forbidden.
EN = re.findall(
    r"\w+",
    "we all see much of it here and many go with us for long time but few know why "
    "old men sit by hills birds fly up high boys run fast girls jump over logs this is my joy "
    "cozy huts keep warm quiet six fox box very view",
)
ZH = list("我们今天看见山上有人家门前水流得快孩子跑过来说话大家都笑了天气好风吹花开")
FOREIGN = {
    "es": "El tiempo es muy bueno y la gente está en la calle con los niños de la casa",
    "fr": "Le temps est beau et les enfants sont dans la rue avec le chien de la maison",
    "de": "Das Wetter ist schön und die Kinder sind mit dem Hund auf der Straße",
    "it": "Il tempo è bello e i bambini sono nella strada con il cane della casa",
    "pt": "O tempo está bom e as crianças estão na rua com o cachorro da casa",
    "ru": "Погода хорошая и дети играют на улице с собакой, как всегда",
    "ja": "今日はとても良い天気で、子どもたちは外で遊んでいます",
    "ko": "오늘은 날씨가 좋아서 아이들이 밖에서 놀고 있습니다",
    "ar": "الطقس جميل اليوم و الأطفال يلعبون في الشارع مع الكلب",
    "hi": "आज मौसम अच्छा है और बच्चे सड़क पर कुत्ते के साथ खेल रहे हैं",
    "en": "The weather is fine and the children are out with the dog",
    "zh": "今天天气很好孩子们在外面玩",
}
VALUES = {"string": "b", "integer": 1, "number": 1, "array": [], "boolean": True}


@dataclass
class Builder:
    """Builds one answer; `wanted` maps the ids of the instructions to their arguments."""

    language: str
    wanted: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        foreign = {"change_case:english_capital", "change_case:english_lowercase"}
        self.zh = self.language == "zh" and not foreign & self.wanted.keys()
        self.gap = "" if self.zh else " "
        self.pool = [word for word in (ZH if self.zh else EN) if self._allowed(word)]
        self.filler = cycle(self.pool)

    def get(self, name: str) -> Mapping[str, Any] | None:
        return self.wanted.get(name)

    def _allowed(self, word: str) -> bool:
        letters = list((self.get("keywords:forbidden_letters") or {}).get("letters", []))
        counted = self.get("keywords:letter_frequency")
        if counted and counted["let_relation"] == "less than":
            letters.append(counted["letter"])
        banned = (self.get("keywords:forbidden_words") or {}).get("forbidden_words", [])
        length = (self.get("length_constraints:word_length") or {}).get("num_letters", 99)
        taken = self._keywords(1)
        return (
            not any(letter in word for letter in letters)
            and not any(word in one for one in [*banned, *taken])
            and len(word) <= length
        )

    def words(self, n: int) -> list[str]:
        return [next(self.filler) for _ in range(n)]

    # ---- pieces ----------------------------------------------------------------------

    def _keywords(self, times: int | None = None) -> list[str]:
        for name in ("keywords:existence", "keywords:word_order"):
            if kw := self.get(name):
                return list(kw["keywords"])
        if kw := self.get("keywords:frequency"):
            return [kw["keyword"]] * (times or _within(kw["relation"], kw["frequency"]))
        return []

    def inserts(self) -> list[str]:
        """Return all that must stand somewhere in the text, in order."""
        found = self._keywords()
        if kw := self.get("keywords:letter_frequency"):
            found += [kw["letter"]] * _within(kw["let_relation"], kw["let_frequency"], least=0)
        if kw := self.get("change_case:capital_word_frequency"):
            n = _within(kw["capital_relation"], kw["capital_frequency"], least=0)
            capital = next(w for w in self.pool if len(w) > 1).upper()
            found += [capital] * n
        if kw := self.get("detectable_content:number_placeholders"):
            found += [f"[{self._mark()}]"] * kw["num_placeholders"]
        if kw := self.get("detectable_format:number_highlighted_sections"):
            found += [f"*{self._mark()}*"] * kw["num_highlights"]
        return found

    def _mark(self) -> str:
        """Return a word to put between marks, of no language where one is asked for."""
        foreign = {"language:response_language", "language:paragraph_languages"}
        return "x" if foreign & self.wanted.keys() else self.words(1)[0]

    def questions(self) -> str:
        kw = self.get("detectable_content:number_questions") or {"num_questions": 0}
        return self.gap.join(f"{self.words(1)[0]}{'？' if self.zh else '?'}"
                             for _ in range(kw["num_questions"]))  # fmt: skip

    def stop(self) -> str:
        banned = (self.get("punctuation:forbidden_marks") or {}).get("marks", [])
        marks = "。！" if self.zh else ".!"
        return next(mark for mark in marks if mark not in banned)

    # ---- the whole -------------------------------------------------------------------

    def build(self) -> str:
        if self.get("detectable_format:constrained_response") is not None:
            options = self.wanted["detectable_format:constrained_response"].get("options")
            return options[0] if options else "My answer is yes."
        if kw := self.get("language:paragraph_languages"):
            first, *rest = (self._in(code) for code in kw["languages"])
            return "\n\n".join([" ".join([first, *self.inserts()]), *rest])
        body = self.body(0)
        for extra in range(1, 400):
            if self._long_enough(self.frame(body)):
                break
            body = self.body(extra)
        text = self.frame(body)
        if "change_case:english_capital" in self.wanted:
            return text.upper()
        if "change_case:english_lowercase" in self.wanted:
            return text.lower()
        if "change_case:title_case" in self.wanted:
            return re.sub(r"(?<![\w'])\w", lambda match: match.group().upper(), text)
        return text

    def _in(self, code: str) -> str:
        text = FOREIGN[code]
        if "punctuation:no_comma" in self.wanted or self.get("punctuation:forbidden_marks"):
            text = re.sub("[,，、]", "", text)
        return text + self.questions()

    def _long_enough(self, text: str) -> bool:
        if kw := self.get("length_constraints:number_words"):
            n = len(re.findall(r"\w+", text))
            return n >= kw["num_words"] if kw["relation"] in ("exactly", "at least") else True
        if kw := self.get("length_constraints:number_characters"):
            n = len(re.findall(r"[\u4e00-\u9fff]", text))
            return n >= kw["num_characters"] if kw["relation"] in ("exactly", "at least") else True
        return True

    def unit(self, parts: Sequence[str], n: int = 1) -> str:
        return self.gap.join([*self.words(n), *parts])

    def body(self, extra: int) -> str:
        self.filler = cycle(self.pool)
        parts = [*self.inserts(), *self.words(extra)]
        if kw := self.get("language:response_language"):
            text = self._in(kw["language"])
            return self.shaped([], lambda first: " ".join([text, *(parts if first else [])]))
        if kw := self.get("length_constraints:number_sentences"):
            n = _within(kw["relation"], kw["num_sentences"])
            rest = [f"{self.unit([], 3)}{self.stop()}" for _ in range(n - 1)]
            opening = self.gap.join([*parts, self.unit([], 3)])
            return self.gap.join([f"{opening}{self.stop()}", *rest])
        return self.shaped(parts, lambda first: self.unit(parts if first else [], 2))

    def shaped(self, parts: Sequence[str], unit: Callable[[bool], str]) -> str:
        def units(n: int) -> list[str]:
            return [unit(at == 0) for at in range(n)]

        if kw := self.get("length_constraints:number_paragraphs"):
            return "\n***\n".join(units(kw["num_paragraphs"]))
        if kw := self.get("length_constraints:number_blocks"):
            return "\n\n".join(units(kw["num_paragraphs"]))
        if kw := self.get("length_constraints:nth_paragraph_first_word"):
            blocks = units(kw["num_paragraphs"])
            blocks[kw["nth_paragraph"] - 1] = (
                f"{kw['first_word']} {blocks[kw['nth_paragraph'] - 1]}"
            )
            return "\n\n".join(blocks)
        if kw := self.get("detectable_format:number_bullet_lists"):
            return "\n".join(f"- {one}" for one in units(kw["num_bullets"]))
        if kw := self.get("detectable_format:numbered_list"):
            return "\n".join(f"{at}. {one}" for at, one in enumerate(units(kw["num_items"]), 1))
        if kw := self.get("detectable_format:multiple_sections"):
            mark = kw["section_spliter"]
            return "\n".join(
                f"{mark} {i}\n{one}" for i, one in enumerate(units(kw["num_sections"]), 1)
            )
        if self.get("combination:two_responses") is not None:
            return f"{unit(True)}\n******\n{unit(False)}{self.words(2)[1]}"
        if self.get("detectable_format:json_format") is not None:
            return json.dumps([self.gap.join(parts)], ensure_ascii=False)
        if kw := self.get("detectable_format:json_schema"):
            return self._json(kw["keys"], self.gap.join(parts))
        if kw := self.get("detectable_format:table_shape"):
            row = f"|{'|'.join(self.words(kw['columns']))}|"
            head = f"|{'|'.join([self.unit(parts), *self.words(kw['columns'] - 1)])}|"
            return "\n".join([head, "|-" * kw["columns"] + "|", *[row] * kw["rows"]])
        if kw := self.get("detectable_format:separated_items"):
            return ", ".join([self.unit(parts), *(w * 9 for w in self.pool[: kw["num_items"] - 1])])
        return self._lines(parts, unit)

    def _json(self, keys: Mapping[str, str], text: str) -> str:
        value = {key: VALUES[kind] for key, kind in keys.items()}
        texts = [key for key, kind in keys.items() if kind in ("string", "array")]
        value |= {key: self.words(1)[0] for key in texts if keys[key] == "string"}
        if texts:
            value[texts[0]] = text if keys[texts[0]] == "string" else [text]
        found = json.dumps(value, ensure_ascii=False)
        return found if texts else f" {found}"

    def _lines(self, parts: Sequence[str], unit: Callable[[bool], str]) -> str:
        n = (self.get("length_constraints:number_lines") or {}).get("num_lines", 1)
        lines = [unit(at == 0) for at in range(n)]
        if kw := self.get("length_constraints:words_per_line"):
            lines = [" ".join(self.words(kw["num_words"])) for _ in range(n)]
        if kw := self.get("length_constraints:characters_per_line"):
            lines = ["".join(self.words(kw["num_characters"])) for _ in range(n)]
        if kw := self.get("length_constraints:growing_lines"):
            while len(lines) < kw["num_lines"]:
                words = self.words(2)
                while len(self.gap.join(words)) <= len(lines[-1]):
                    words += self.words(1)
                lines.append(self.gap.join(words))
        if kw := self.get("detectable_format:sorted_lines"):
            lines = sorted(self.unit([*self.words(1), *parts]) for _ in range(kw["num_lines"]))
        if kw := self.get("detectable_format:acrostic"):
            lines = [self._headed(letter, i, parts) for i, letter in enumerate(kw["letters"])]
        start = (self.get("startend:line_start") or {}).get("mark", "")
        end = (self.get("startend:line_end") or {}).get("mark", "")
        return "\n".join(f"{start}{' ' if start else ''}{line}{end}" for line in lines)

    def _headed(self, letter: str, at: int, parts: Sequence[str]) -> str:
        """Begin a line with a letter, and give it the words that its size asks for."""
        words = self.get("length_constraints:words_per_line")
        characters = self.get("length_constraints:characters_per_line")
        if words:
            return " ".join([letter, *self.words(words["num_words"] - 1)])
        if characters:
            return letter + "".join(self.words(characters["num_characters"] - 1))
        return self.gap.join([letter, *(parts if at == 0 else [])])

    def frame(self, body: str) -> str:
        lines = [body]
        if asked := self.questions() if not self.get("language:paragraph_languages") else "":
            lines[0] = f"{body}{self.gap}{asked}"
        if kw := self.get("startend:start_checker"):
            lines[0] = f"{kw['start_phrase']}{self.gap}{lines[0]}"
        if kw := self.get("combination:repeat_prompt"):
            lines.insert(0, kw["prompt_to_repeat"])
        if self.get("detectable_format:title") is not None:
            lines.insert(0, f"<<{self.words(1)[0]}>>")
        if kw := self.get("detectable_content:postscript"):
            lines.append(f"{kw['postscript_marker']} {self.words(1)[0]}")
        if kw := self.get("startend:end_checker"):
            lines[-1] += f"{self.gap}{kw['end_phrase']}"
        text = "\n".join(lines)
        if (kw := self.get("startend:quotation")) is not None:
            left, right = kw.get("marks", '""')
            return f"{left}{text}{right}"
        return text


def _within(relation: str, bound: int, least: int = 1) -> int:
    """Return a count that is in relation to a bound."""
    return bound if relation in ("at least", "exactly") else least


def conforming(language: str, instructions: Iterable[Mapping[str, Any]]) -> str:
    """Return an answer that follows every instruction."""
    return Builder(language, {i["id"]: i["kwargs"] for i in instructions}).build()


def spoiled(language: str, instructions: Iterable[Mapping[str, Any]], good: str) -> list[str]:
    """Return answers that break one thing or another that a good one keeps."""
    banned = [i["kwargs"]["forbidden_words"] for i in instructions if "forbidden" in i["id"]
              and "forbidden_words" in i["kwargs"]]  # fmt: skip
    lines = good.split("\n")
    return [
        f"1, 2; (3: 4)。！，、. {good.swapcase()}\n. e的, extra ordinarily 1. * - | ? ！；!\n\n是",
        *("\n".join(kept) for kept in (lines[1:], lines[:-1], lines[::-1])),
        *("a", "字", "{}", "Я иду домой", "NO ONE KNOWS THAT " * 9),
        *("many words of English " * 60, "我们在这里写很多字。" * 40),
        *(f"{good}\n\n{good}", f"{good}?？" * 9, f"x\n{good}\nx", good.replace("\n", " ")),
        "abcdefghijklmnopqrstuvwxyz吧呢嘛您很都也那的是了在" * 12,
        *(good[1:], good[:-1], good.upper(), good.lower()),
        re.sub(r"<<|P\.|\[|\*", "", good),
        *(f"{good} {word}" for words in banned for word in words),
        ("“" if language == "zh" else '"') + good,
    ]
