"""HTML, console, Markdown, JUnit and `--json` say the same."""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from evalkit.report.console import render_console
from evalkit.report.junit import render_junit
from evalkit.report.markdown import MAX_BYTES, code, escaped, render_markdown
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE
from tests.report.test_agreement import forms_of


def test_summary_is_plain_json_with_fractions() -> None:
    made = comparison("INCONCLUSIVE")
    body = json.loads(json.dumps(summary(build_view(made)), allow_nan=False))
    assert (body["verdict"], body["exit_code"]) == ("INCONCLUSIVE", 4)
    scope = body["candidates"][0]["scopes"]["math"]
    wanted = made.results[0].families[3]
    assert scope["difference"]["value"] == wanted.accuracy.difference.value
    assert scope["difference"]["low"] == wanted.accuracy.difference.low
    assert scope["regressions"] == wanted.flips.lost
    assert scope["recovery"] == {
        "value": None,
        "low": None,
        "high": None,
        "text": "– too few right answers of the baseline for a ratio",
        "note": "too few right answers of the baseline for a ratio",
    }
    assert scope["state"] == "inconclusive"
    codes = {code["code"] for code in body["candidates"][0]["codes"]}
    assert codes == {"UNDERPOWERED", "UNPROVABLE_N"}


def cases_of(xml: str) -> dict[str, ET.Element]:
    return {case.attrib["name"]: case for case in ET.fromstring(xml).iter("testcase")}


def test_junit_outcomes() -> None:
    xml = render_junit(build_view(comparison("HOLD")))
    cases = cases_of(xml)
    assert len(cases) == 9 + 1
    failure = cases["math: accuracy"].find("failure")
    assert failure is not None
    assert "−14.30 points [−16.85, −11.75]" in failure.attrib["message"]
    assert cases["facts: accuracy"].find("failure") is None
    assert cases["facts: accuracy"].find("skipped") is None
    suite = ET.fromstring(xml).find("testsuite")
    assert suite is not None
    found = {
        name: len(suite.findall(f"testcase/{tag}"))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    assert {name: int(suite.attrib[name]) for name in found} == found
    assert int(suite.attrib["tests"]) == len(cases)


def test_junit_inconclusive_is_skipped_and_invalid_is_an_error() -> None:
    cases = cases_of(render_junit(build_view(comparison("INCONCLUSIVE"))))
    assert cases["Verdict"].find("skipped") is not None
    assert cases["all families: accuracy"].find("skipped") is not None
    invalid = cases_of(render_junit(build_view(comparison("INVALID"))))
    assert invalid["Verdict"].find("error") is not None
    assert all(c.find("failure") is None for c in invalid.values())


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_junit_and_json_stay_valid_whatever_the_text(text: str) -> None:
    view = build_view(comparison("HOLD", hostile=text, names=[text[:200]]))
    ET.fromstring(render_junit(view))
    json.dumps(summary(view), ensure_ascii=False).encode()


def test_junit_removes_what_xml_cannot_hold() -> None:
    view = build_view(comparison("HOLD"))
    block = replace(view.candidates[0], sentence="a\x00b\ufffe\ud800c")
    xml = render_junit(replace(view, candidates=(block,)))
    assert 'message="abc"' in xml
    ET.fromstring(xml)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_markdown_escapes_every_mark(text: str) -> None:
    made = escaped(text)
    assert "\n" not in made
    bare = re.sub(r"\\[\\`*_{}\[\]<>#|~$!:.]", "", made)
    apart = bare.replace("@&#8203;", "").replace("&#8203;", "")
    assert not re.search(r"[\\`*_{}\[\]<>#|~$!@]", apart)
    assert not re.search(r"https?:|www\.|&(?!amp;|#8203;)", bare)


def test_markdown_reads_back_as_the_text() -> None:
    text = "a_b *c* <d> `e` [f](g) #1 GH-2 @me | $x$ https://h.example & www.i.example"
    # As Markdown reads it: in one pass, so that an escaped `#` makes no entity.
    read = re.sub(r"\\(.)|(&#?\w+;)", lambda m: m[1] or html.unescape(m[2]), escaped(text))
    assert read.replace("\u200b", "") == text
    assert "#\u200b1 GH-\u200b2 @\u200bme" in read


def test_code_spans_cannot_be_closed_from_inside() -> None:
    assert code("a `b` ``c`` | d") == "``` a `b` ``c`` ¦ d ```"
    assert code("") == ""
    assert len(code("x" * 1_000_000)) < 200


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_markdown_is_small_and_inert_whatever_the_text(text: str) -> None:
    view = build_view(comparison("HOLD", "SHIP", "HOLD", hostile=text))
    made = render_markdown(view)
    assert len(made.encode()) <= MAX_BYTES
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", made)
    outside = outside.replace("<details><summary>", "").replace("</summary>", "")
    outside = outside.replace("</details>", "")
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search("@(?!&#8203;)", outside)
    assert "://" not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    for line in made.splitlines():
        if line.startswith("|") and "facts-en" in line:
            assert len(re.findall(r"(?<!\\)\|", line)) == 6


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_console_has_no_control_characters(text: str) -> None:
    view = build_view(comparison("HOLD", hostile=text, names=[text[:200]]))
    shown = render_console(view, 100, False)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_console_colour_is_only_added() -> None:
    view = build_view(comparison("HOLD"))
    coloured = render_console(view, 120, True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_console(view, 120, False)


def test_console_keeps_to_the_width() -> None:
    shown = render_console(build_view(comparison("HOLD", "INCONCLUSIVE")), 80, False)
    assert max(len(line) for line in shown.splitlines()) <= 80


@pytest.mark.parametrize("name", ["127.0.0.1-9301-m", "q4"])
def test_console_tells_the_arms_apart_at_60_columns(name: str) -> None:
    view = build_view(comparison("SHIP", names=[name]))
    lines = render_console(view, 60, False).splitlines()
    assert max(len(line) for line in lines) <= 60
    heads = ("Baseline", "Candidate") if len(name) > 7 else ("q8", name)
    assert any(all(head in line.split() for head in heads) for line in lines)


@pytest.mark.parametrize("state", ["HOLD", "INCONCLUSIVE", "INVALID"])
def test_console_and_junit_list_every_reason(state: str) -> None:
    view = build_view(comparison(state))
    block = view.candidates[0]
    assert len(block.reasons) > 1
    wanted = [f"{reason.code}: {reason.text}" for reason in block.reasons]
    console = [line.strip() for line in render_console(view, 4000, False).splitlines()]
    assert [line for line in wanted if line not in console] == []
    (found,) = (
        part for part in cases_of(render_junit(view))["Verdict"] if part.tag != "system-out"
    )
    assert (found.text or "").splitlines() == wanted


def test_junit_timestamp_is_iso_8601_or_absent() -> None:
    made = comparison("SHIP")
    suite = ET.fromstring(render_junit(build_view(made))).find("testsuite")
    assert suite is not None
    assert suite.attrib["timestamp"] == "2026-12-01T09:30:00"
    bare = ET.fromstring(render_junit(build_view(replace(made, created="?")))).find("testsuite")
    assert bare is not None
    assert "timestamp" not in bare.attrib


def test_recovery_of_all_families_says_what_it_is_over() -> None:
    forms = forms_of(build_view(comparison("SHIP")))
    for name in ("html", "markdown"):
        row = forms[name][forms[name].rindex("all families (mean)") :]
        assert "over all answers" in row[:600], name
