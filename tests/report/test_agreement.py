"""HTML, console, Markdown, JUnit and JSON say one thing: verdicts, words and numbers."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

import evalkit.report
from evalkit.report import numbers
from evalkit.report.console import render_console
from evalkit.report.html import render_html
from evalkit.report.junit import render_junit
from evalkit.report.markdown import render_markdown
from evalkit.report.model import CandidateBlock, View
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from tests.report.fixtures import comparison

# Each gate with one, two and three candidates.
CASES = (
    ("SHIP",),
    ("SHIP", "HOLD"),
    ("SHIP", "INCONCLUSIVE", "INVALID"),
    ("HOLD",),
    ("HOLD", "HOLD"),
    ("HOLD", "HOLD", "HOLD"),
    ("INCONCLUSIVE",),
    ("INCONCLUSIVE", "HOLD"),
    ("HOLD", "INCONCLUSIVE", "HOLD"),
    ("INVALID",),
    ("INVALID", "HOLD"),
    ("INCONCLUSIVE", "INVALID", "HOLD"),
)
_SIDE_BY_SIDE = re.compile(r"[+−]?[0-9][0-9,.]*%? \[[^\]]*\]")


class PageText(HTMLParser):
    """All that a reader sees of a page, attributes of charts apart."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def page_text(view: View) -> str:
    parser = PageText()
    parser.feed(render_html(view))
    return squeezed(" ".join(parser.parts))


def unescaped(markdown: str) -> str:
    read = re.sub(r"\\(.)|(&#?\w+;)", lambda m: m[1] or html.unescape(m[2]), markdown)
    return squeezed(read.replace("**", "").replace("`", ""))


def junit_texts(xml: str) -> dict[str, str]:
    """Everything that each suite says, by its name."""
    root = ET.fromstring(xml)
    return {
        suite.attrib["name"]: squeezed(
            " ".join(
                text for part in suite.iter() for text in (*part.attrib.values(), part.text or "")
            )
        )
        for suite in root
    }


def forms_of(view: View) -> dict[str, str]:
    return {
        "html": page_text(view),
        "console": squeezed(render_console(view, 4000, False)),
        "markdown": unescaped(render_markdown(view)),
        "junit": " ".join(junit_texts(render_junit(view)).values()),
        "json": squeezed(json.dumps(summary(view), ensure_ascii=False)),
    }


def words_of(block: CandidateBlock) -> list[str]:
    reasons = [reason.text for reason in block.reasons] if len(block.reasons) > 1 else []
    return [block.gate.word, block.sentence, *reasons]


def figures_of(block: CandidateBlock) -> list[str]:
    """Numbers that every form shows."""
    rows = (block.pooled, *block.families)
    return [text for row in rows for text in (row.difference.text, row.difference.interval)]


def table_figures_of(block: CandidateBlock) -> list[str]:
    """Numbers that every form but JUnit shows: those of the table and of its head."""
    rows = (block.pooled, *block.families)
    shown = [text for row in rows for text in (row.baseline.text, row.candidate.text)]
    return [*shown, block.pooled.recovery.text, *(threat.text for threat in block.threats)]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("states", CASES, ids="-".join)
def test_five_forms_say_one_thing(states: tuple[str, ...], lang: str) -> None:
    view = build_view(comparison(*states), lang)
    forms = forms_of(view)
    for name, text in forms.items():
        wanted = [view.recommendation]
        if len(states) > 1 and name != "junit":
            wanted.append(view.sentence)
        for block in view.candidates:
            wanted += [*words_of(block), *figures_of(block)]
            if name != "junit":
                wanted += table_figures_of(block)
                wanted += [block.pooled.flips] if name != "json" else []
        if name == "json":
            wanted = [word for word in wanted if word not in _spoken(view)]
        assert [word for word in wanted if squeezed(word) not in text] == [], name
    assert [block.gate.state for block in view.candidates] == list(states)
    # No form holds an estimate with an interval that the page does not know.
    for name in ("console", "markdown", "junit"):
        assert estimates(forms[name]), name
        assert estimates(forms[name]) - estimates(forms["html"]) == set(), name


def estimates(text: str) -> set[str]:
    """Return each number with its interval, units left out."""
    return set(_SIDE_BY_SIDE.findall(without_units(text)))


def without_units(text: str) -> str:
    return re.sub(r"(?<=\d) (?:points|个百分点)(?= \[)", "", text)


def _spoken(view: View) -> set[str]:
    """Words for which JSON has a key: `SHIP` stays `SHIP` in every language."""
    return {block.gate.word for block in view.candidates}


@pytest.mark.parametrize("states", CASES, ids="-".join)
def test_keys_counts_and_exit_codes_agree(states: tuple[str, ...]) -> None:
    view = build_view(comparison(*states))
    body = summary(view)
    suites = ET.fromstring(render_junit(view))
    assert body["verdict"] == view.gate.state
    assert [c["verdict"] for c in body["candidates"]] == list(states)
    for suite, candidate, block in zip(suites, body["candidates"], view.candidates, strict=True):
        said = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
        assert said["verdict"] == candidate["verdict"]
        assert said["exit_code"] == str(candidate["exit_code"]) == str(block.gate.exit_code)
        cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
        assert len(cases) == len(candidate["metrics"]) + 1
        for row in candidate["metrics"]:
            label = "all families" if row["scope"] == "pooled" else row["scope"]
            word = "degenerate output" if row["metric"] == "degenerate" else row["metric"]
            case = cases[f"{label}: {word}"]
            parts = {part.tag for part in case} & {"failure", "skipped", "error"}
            outcome = {"passed": set(), "failed": {"failure"}, "skipped": {"skipped"}}
            assert parts == outcome[row["outcome"]]
            told = without_units("".join(case.itertext()))
            assert row["difference"]["text"] in told
            assert row["tests"] in told
            assert f"{row['n']:,} pairs" in told


@pytest.mark.parametrize("states", CASES, ids="-".join)
def test_fractions_and_texts_are_the_same_numbers(states: tuple[str, ...]) -> None:
    for candidate in summary(build_view(comparison(*states)))["candidates"]:
        for row in (*candidate["metrics"], *candidate["scopes"].values()):
            number, digits = row["difference"], numbers.digits_for(row["n"])
            ends = [numbers.points(number[end], digits) for end in ("value", "low", "high")]
            assert number["text"] == f"{ends[0]} [{ends[1]}, {ends[2]}]"


def test_numbers_are_written_in_one_place() -> None:
    # In a drawing a decimal places a mark, and is no number that anybody reads.
    folder = Path(evalkit.report.__file__).parent
    written = re.compile(r"\{[^{}\"]*:[+,]?[.,][0-9]*[fgde%]?\}|\{:[^{}]+\}")
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        if path.name != "numbers.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if written.search(line)
        and not re.search(r"([xy][12]?|height)\b.*:\.1f|_[xy]\(.*:\.1f", line)
    ]
    assert found == []
