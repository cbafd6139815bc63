"""The README in two languages: the same commands, figures and links; the demo is of the example."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EN = (ROOT / "README.md").read_text(encoding="utf-8")
ZH = (ROOT / "README.zh.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+#.*")
DEMO = re.compile(r"<!-- demo -->\n```text\n(.*?)```\n<!-- /demo -->", re.DOTALL)
HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def code(text: str) -> list[str]:
    return [COMMENT.sub("", block) for block in FENCE.findall(text)]


def spans(text: str) -> set[str]:
    return set(re.findall(r"`[^`\n]+`", FENCE.sub("", text)))


def links(text: str) -> set[str]:
    return set(re.findall(r"\]\(([^)]+)\)", text)) - {"README.md", "README.zh.md"}


def numbers(text: str) -> set[str]:
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)", " ", FENCE.sub("", text))
    return set(re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)", HAN.sub(" ", prose)))


def headings(text: str) -> int:
    return len(re.findall(r"^#+ ", FENCE.sub("", text), re.MULTILINE))


def test_both_languages_have_the_same_commands_and_links() -> None:
    assert code(EN) == code(ZH)
    only = {'`ARGS="--lang zh"`'}
    assert spans(EN) == spans(ZH) - only
    assert links(EN) == links(ZH) - {"docs/tutorials/taskset-in-chinese.zh.md"}
    assert headings(EN) == headings(ZH)
    rows = re.compile(r"^\| .*", re.MULTILINE)
    assert len(rows.findall(EN)) == len(rows.findall(ZH))


def test_both_languages_have_the_same_figures() -> None:
    # "ten identical answers", "two points" and "one" are words in English.
    assert numbers(EN) <= numbers(ZH)
    assert numbers(ZH) - numbers(EN) <= {"1", "2", "10"}


def test_each_leads_to_the_other() -> None:
    assert "](README.zh.md)" in EN.partition("##")[0]
    assert "](README.md)" in ZH.partition("##")[0]


@pytest.mark.parametrize("text", [EN, ZH], ids=["en", "zh"])
def test_links_lead_somewhere(text: str) -> None:
    lost = {link for link in links(text) if not (ROOT / link.partition("#")[0]).exists()}
    assert lost == set()


@pytest.mark.parametrize("text", [EN, ZH], ids=["en", "zh"])
def test_the_demo_is_what_the_example_shows(text: str) -> None:
    """Both are of one comparison: `make example` writes the page, `make compare` prints this."""
    demo = DEMO.search(text)
    assert demo is not None
    page = unescape((ROOT / "reports/examples/q8-vs-q4.html").read_text(encoding="utf-8"))
    plain = re.sub(r"[\s\N{NO-BREAK SPACE}]+", " ", re.sub(r"<[^>]+>", " ", page))
    figures = set(re.findall(r"[+−]?\d[\d,]*\.\d+%?", demo[1]))
    assert len(figures) > 30
    assert {figure for figure in figures if figure.rstrip("%") not in plain} == set()
