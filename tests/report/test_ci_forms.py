"""JUnit, Markdown and GitHub commands: valid and inert whatever the names and texts are."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from evalkit.report.github import (
    MAX_ANNOTATIONS,
    command,
    escaped_data,
    escaped_property,
    workflow_commands,
)
from evalkit.report.junit import render_junit
from evalkit.report.markdown import MAX_BYTES, render_markdown
from evalkit.report.view import build_view
from tests.report.fixtures import STATES, comparison
from tests.report.hostile import HOSTILE

# junit-10.xsd of Jenkins' xUnit plug-in: attributes, then children; `!` is required.
JUNIT: dict[str, tuple[str, str]] = {
    "testsuites": ("name time tests failures disabled errors", "testsuite"),
    "testsuite": (
        "!name !tests failures errors group time skipped timestamp hostname id package file log "
        "url version",
        "testsuite properties testcase system-out system-err",
    ),
    "properties": ("", "property"),
    "property": ("!name value", ""),
    "testcase": (
        "!name time classname group",
        "skipped error failure rerunFailure flakyFailure system-out system-err",
    ),
    "failure": ("type message", ""),
    "error": ("type message", ""),
    "skipped": ("type message", ""),
    "system-out": ("", ""),
}
# As the schema has it, and without an offset, as the older one of Ant wants.
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
NAMES = (
    *HOSTILE,
    "a\x00b\x08\x0b\x1f\x7f\x85\x9f",
    "\ufffe\uffff\U0001ffff\ufdd0",
    "\ud800\udfff",
    "]]> <!-- --> <?x?> & \" '",
    "\u202egnp.exe",
    "",
)


def check_junit(xml: str) -> ET.Element:
    root = ET.fromstring(xml.encode())
    for element in root.iter():
        attributes, children = (part.split() for part in JUNIT[element.tag])
        names = {name.lstrip("!") for name in attributes}
        assert set(element.attrib) <= names, element.tag
        assert {n[1:] for n in attributes if n[0] == "!"} <= set(element.attrib), element.tag
        assert {child.tag for child in element} <= set(children), element.tag
        if element.tag == "testsuite":
            assert TIMESTAMP.fullmatch(element.attrib["timestamp"])
            counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
            for name, tag in counts.items():
                assert int(element.attrib[name]) == len(element.findall(f"testcase/{tag}"))
            assert int(element.attrib["tests"]) == len(element.findall("testcase"))
    named = [(s.attrib["name"], *c.attrib.values()) for s in root for c in s.iter("testcase")]
    assert len(set(named)) == len(named), "GitLab keeps one of those that are named alike"
    return root


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_junit_is_valid_whatever_the_names(name: str) -> None:
    view = build_view(comparison("HOLD", "INVALID", hostile=name, names=[name[:300], "other"]))
    block = view.candidates[0]
    raw = replace(block, endpoint=name[:300], title=name[:300], sentence=name[:300])
    for made in (view, replace(view, candidates=(raw, view.candidates[1]))):
        check_junit(render_junit(made))


@pytest.mark.parametrize("state", STATES)
def test_junit_of_every_verdict_is_valid_for_several_comparisons(state: str) -> None:
    view = build_view(comparison(state, "HOLD"))
    for word in ("skipped", "failed"):
        check_junit(render_junit(view, view, inconclusive=word))


def test_failures_carry_the_numbers() -> None:
    root = check_junit(render_junit(build_view(comparison("HOLD"))))
    (case,) = (c for c in root.iter("testcase") if c.attrib["name"] == "math: accuracy")
    failure = case.find("failure")
    assert failure is not None
    for part in ("−14.30 points [−16.85, −11.75]", "margin 5.0 points", "1,000 pairs", "p = 0.004"):
        assert part in " ".join("".join(failure.itertext()).split())


def test_commands_are_escaped_as_github_documents() -> None:
    assert escaped_data("100%\r\na:b,c") == "100%25%0D%0Aa:b,c"
    assert escaped_property("100%\r\na:b,c") == "100%25%0D%0Aa%3Ab%2Cc"
    assert command("warning", "a,b", "c\nd") == "::warning title=a%2Cb::c%0Ad"


@pytest.mark.parametrize("text", NAMES, ids=range(len(NAMES)))
def test_annotations_are_few_and_one_line_each(text: str) -> None:
    view = build_view(comparison("HOLD", "HOLD", "HOLD", hostile=text, names=[text[:99], "b", "c"]))
    found = workflow_commands([view, view])
    assert len(found) == MAX_ANNOTATIONS
    for line in found:
        assert re.fullmatch(r"::(error|warning|notice) title=[^:,\r\n]*::[^\r\n]{1,3000}", line)
        assert len(re.findall("::", line.split("::", 2)[1])) == 0


def test_markdown_that_is_too_long_is_cut_at_a_line_with_a_notice() -> None:
    views = [build_view(comparison("HOLD", "HOLD", "HOLD"), lang) for lang in ("en", "zh")]
    made = render_markdown(*views * 5)
    assert len(made.encode()) <= MAX_BYTES
    assert made.endswith("\n**The rest is left out here: the whole is in the report.**\n")
    assert "<details>" not in made
    whole = render_markdown(views[0])
    assert "left out here" not in whole
    assert made.startswith(whole.split("<details>")[0][:2000])


@pytest.mark.parametrize("text", NAMES, ids=range(len(NAMES)))
def test_markdown_renders_without_links_images_or_foreign_html(text: str) -> None:
    view = build_view(comparison("HOLD", "INVALID", hostile=text, names=[text[:99], "other"]))
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = [
        token
        for block in reader.parse(render_markdown(view))
        for token in (block, *(block.children or ()))
    ]
    kinds = {token.type for token in tokens}
    assert kinds.isdisjoint({"link_open", "image", "fence", "code_block", "html_inline"})
    raw = "".join(token.content for token in tokens if token.type == "html_block")
    assert re.fullmatch(r"(<details><summary>[^<>]*</summary>\n|</details>\n?)*", raw)
    shown = "".join(token.content for token in tokens if token.type == "text")
    assert not re.search(r"@\w|#\d", shown)
