"""Answers that repeat themselves and should: tables, programs, lists, verses, data."""

from __future__ import annotations

import json

_CHORUS = "Row, row, row your boat,\nGently down the stream,\nMerrily, merrily, merrily, merrily,\n"
_BIRDS = ("heron", "swallow", "lark", "crane", "finch", "raven", "robin", "wren")

_SAINTS = ("anna", "bede", "clare", "denis", "ella", "felix", "giles", "hilda", "ivo", "joan")

LEGITIMATE: dict[str, str] = {
    "markdown table": "| name | value |\n|---|---|\n"
    + "".join(f"| item {i} | 0 |\n" for i in range(80)),
    "table of one value": "| a | b |\n|---|---|\n" + "| 0 | 0 |\n" * 6,
    "csv": "name,city,age\n" + "".join(f"Ann {i},Oslo,{20 + i}\n" for i in range(60)),
    "csv of zeros": "t,x,y,z\n" + "".join(f"{i},0,0,0\n" for i in range(100)),
    "tab separated": "".join(f"row{i}\tyes\tno\tyes\n" for i in range(50)),
    "program of equal lines": "```python\n" + "x = [0, 0, 0, 0]\n" * 30 + "```",
    "if chain": "```python\n"
    + "".join(f"    elif month == {i}:\n        return NAMES[{i}]\n" for i in range(1, 40))
    + "```",
    "if chain without a fence": "".join(
        f"    elif month == {i}:\n        return NAMES[{i}]\n" for i in range(1, 40)
    ),
    "switch": "".join(f'  case {i}: return "{_BIRDS[i % 8]}";\n' for i in range(60)),
    "data literal": "DATA = [\n" + "    (0.0, 1.0, 0.0),\n" * 12 + "    (1.0, 1.0, 0.0),\n]\n",
    "matrix": "[" + ",\n ".join("[" + ", ".join("0" * 8) + "]" for _ in range(8)) + "]",
    "asserts": "".join(f"assert double({i}) == {2 * i}\n" for i in range(80)),
    "html list": "<ul>\n" + "".join(f"  <li>Item {i}</li>\n" for i in range(60)) + "</ul>",
    "sql inserts": "".join(
        f"INSERT INTO birds (id, name) VALUES ({i}, '{_BIRDS[i % 8]}');\n" for i in range(50)
    ),
    "assembler": "```\n" + "    nop\n" * 40 + "    ret\n```",
    "ascii house": "```\n   /\\\n  /  \\\n /____\\\n |    |\n |    |\n |    |\n |____|\n```",
    "ascii wall": "+" + "-" * 70 + "+\n" + ("|" + " " * 70 + "|\n") * 6 + "+" + "-" * 70 + "+",
    "tree of signs": "\n".join(" " * (20 - i) + "*" * (2 * i + 1) for i in range(20)),
    "chess board": "\n".join(". # . # . # . #" if i % 2 else "# . # . # . # ." for i in range(8)),
    "numbered list": "\n".join(f"{i}. Item number {i} is ready." for i in range(1, 60)),
    "list of tasks": "\n".join(f"- [ ] Check the {_BIRDS[i % 8]} on day {i}" for i in range(40)),
    "steps": "\n".join(f"Step {i}: Add {i} spoons of flour and stir." for i in range(1, 25)),
    "multiplication": "\n".join(f"7 x {i} = {7 * i}" for i in range(1, 60)),
    "whole multiplication table": "\n".join(
        "\t".join(str(i * j) for j in range(1, 13)) for i in range(1, 13)
    ),
    "乘法口诀": "\n".join(
        " ".join(f"{j}×{i}={i * j}" for j in range(1, i + 1)) for i in range(1, 10)
    ),
    "counting": "\n".join(map(str, range(1, 201))),
    "counting in words": ", ".join(f"sheep number {i}" for i in range(1, 90)),
    "sequence": ", ".join(str(i * i) for i in range(120)),
    "recurring decimal": "1/3 = 0." + "3" * 200,
    "recurring decimal of six digits": "1/7 = 0." + "142857" * 40,
    "power of two": f"2 to the power of 400 is {2**400}.",
    "google": "A googol is 1" + "0" * 100 + ".",
    "binary": "The number in binary is " + "1" * 64 + ".",
    "song with a chorus": "\n".join(
        f"The {bird} is on the river and the morning light is {i} hours old,\n{_CHORUS}"
        for i, bird in enumerate(_BIRDS)
    ),
    "anaphora": "\n".join(
        f"I have a dream that the {bird} will sing on hill {i}." for i, bird in enumerate(_BIRDS)
    ),
    "litany": "\n".join(f"Saint {bird.title()}, pray for us." for bird in (*_BIRDS, *_SAINTS)),
    "villanelle": "\n\n".join(
        f"The {a} goes down and then the {b} will rise.\nDo not go gentle into that good night."
        for a, b in zip(_BIRDS[:5], _BIRDS[3:], strict=True)
    ),
    "对联": "上联：春风春雨春色\n下联：新年新岁新景\n横批：欢度春节",
    "叠词诗": "寻寻觅觅，冷冷清清，凄凄惨惨戚戚。\n乍暖还寒时候，最难将息。\n"
    "三杯两盏淡酒，怎敌他、晚来风急！",
    "排比": "\n".join(f"如果我是{x}，我就会飞到你的窗前。" for x in "风雨雪云花鸟月星"),
    "中文清单": "\n".join(f"{i}. 第{i}项已经完成。" for i in range(1, 40)),
    "中文表格": "| 姓名 | 年龄 |\n|---|---|\n" + "".join(f"| 学生{i} | 18 |\n" for i in range(40)),
    "json array": json.dumps([{"id": i, "active": True} for i in range(60)], indent=1),
    "json of one value": json.dumps([{"answer": "yes", "n": i} for i in range(60)]),
    "yaml": "".join(f"- name: {_BIRDS[i % 8]}{i}\n  legs: 2\n  wings: 2\n" for i in range(24)),
    "log": "".join(f"2026-01-01 00:{i:02}:00 INFO worker is alive\n" for i in range(60)),
    "separators": ("-" * 80 + "\nA part of the text\n") * 2 + "=" * 80,
    "truth table": "A B C | out\n" + "\n".join(f"{i:03b} | 1" for i in range(8)),
    "quiz": "\n".join(f"Q{i}: Is a {b} a bird?\nA: Yes." for i, b in enumerate(_BIRDS)),
    "yes and no": "Yes.\nYes.\nNo.\nYes.\nYes.\nNo.\nYes.",
    "chant": "Ole, ole, ole, ole! We are the champions.",
    "laughter": "Ha ha ha ha! That is a good one.",
    "dna": "The strand is ATGGCCATTGTAATGGGCCGCTGAAAGGGTGCCCGATAGATGGCCATTGTAATGGGCCGCTGA.",
    "dialogue": "\n".join(f"A: How many {b}s?\nB: There are {i}." for i, b in enumerate(_BIRDS)),
    "schedule": "\n".join(f"Day {i}: rest, walk 20 minutes, sleep 8 hours." for i in range(1, 31)),
}

ALIKE_WHERE_CUT = {"program of equal lines", "assembler", "matrix", "chess board"}
"""Cut in their middle, nothing tells these from a loop."""
