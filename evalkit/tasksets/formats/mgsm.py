"""MGSM (Shi et al. 2023): lines of a question, a tab and a number; English and Chinese.

On the hub they are records with `question` and `answer_number`. Rows have no ids: they are
numbered from 0 after their language. The same number in both languages is the same problem,
and so one cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located
from evalkit.tasksets.textfile import open_text

_HEAD = head(
    name="mgsm",
    family="math",
    description="Grade-school word problems in English and Chinese (MGSM)",
    scorer="math",
    max_tokens=1024,
    template={
        "en": "{input}\n\nReason step by step. End with '#### ' and the number alone.",
        "zh": "{input}\n\n请一步一步推理，最后以“#### ”加上数字结束，不写单位。",
    },
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
# Kana, Hangul, Cyrillic, Bengali, Telugu and Thai: languages that evalkit has no words for.
_OTHER = re.compile(
    r"[\u3040-\u30ff\uac00-\ud7af\u0400-\u04ff\u0980-\u09ff\u0c00-\u0c7f\u0e00-\u0e7f]"
)


def _records(path: Path) -> Iterator[Located]:
    with open_text(path) as lines:
        opened = lines.read(1)
    if opened == "{":
        yield from json_lines(path)
        return
    place = 0
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            where = f"'{path}' line {number}"
            question, tab, answer = line.rstrip("\r\n").rpartition("\t")
            if not tab:
                raise TasksetError(f"{where} is no question and number with a tab between them.")
            yield Located({"question": question, "answer_number": answer}, place, where)
            place += 1


def _row(located: Located) -> dict[str, Any]:
    question = located.text("question").strip()
    if _OTHER.search(question):
        raise TasksetError(
            f"{located.where} is in a language that is neither English nor Chinese.",
            hint="Take the files mgsm_en.tsv and mgsm_zh.tsv.",
        )
    language = "zh" if _HAN.search(question) else "en"
    number = located.id("id", "idx")
    return {
        "id": f"{language}-{number}",
        "language": language,
        "category": "mgsm",
        "input": question,
        "target": {"value": located.text("answer_number").strip().replace(",", "")},
        "cluster": f"mgsm-{number}",
    }


FORMATS.register("mgsm")(Format(_HEAD, _records, _row))
