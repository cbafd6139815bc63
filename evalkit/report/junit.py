"""The report for CI: JUnit XML, one case for each family and metric, one for the verdict.

Elements and attributes are those of the schema that Jenkins publishes for its xUnit
plug-in (junit-10.xsd), of which GitLab reads a part.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from datetime import UTC, datetime
from typing import Final, Literal

from evalkit.report.model import CandidateBlock, MetricRow, View

Undecided = Literal["skipped", "failed"]

# What XML 1.0 may hold, without the characters that it discourages.
_ILLEGAL: Final = re.compile(
    "[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd"
    "\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd\U000e0000-\U000efffd]"
)
_VERDICT: Final = {"HOLD": "failure", "INCONCLUSIVE": "skipped", "INVALID": "error"}
_METRIC: Final = {"failed": "failure", "skipped": "skipped"}
_COUNTS: Final = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render_junit(*views: View, inconclusive: Undecided = "skipped") -> str:
    """Return JUnit XML.

    A degraded metric is a failure with its numbers, and an invalid comparison is an error.
    Characters that XML cannot hold are removed.

    Args:
        views: One comparison each.
        inconclusive: What an undecided verdict, and an undecided metric that the verdict
            needs, count as. What can only raise an alarm is skipped either way.
    """
    root = ET.Element("testsuites", name="evalkit")
    for place, view in enumerate(views):
        for block in view.candidates:
            # GitLab tells cases of several comparisons apart by these names alone.
            mark = f" ({place + 1})" if len(views) > 1 else ""
            root.append(_suite(view, block, inconclusive, mark))
    for name in ("tests", *_COUNTS):
        if name != "skipped":
            root.set(name, str(sum(int(suite.attrib[name]) for suite in root)))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(view: View, block: CandidateBlock, inconclusive: Undecided, mark: str) -> ET.Element:
    suite = ET.Element("testsuite", name=_legal(f"{block.title}{mark}"))
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("verdict", block.gate.state),
        ("exit_code", str(block.gate.exit_code)),
        ("sentence", block.sentence),
        ("recommendation", view.recommendation),
        ("policy_hash", view.policy_hash),
    ):
        ET.SubElement(properties, "property", name=name, value=_legal(value))
    classname = _legal(f"evalkit.{block.endpoint}{mark}")
    suite.append(_verdict_case(view, block, inconclusive, classname))
    for row in block.metrics:
        suite.append(_metric_case(row, inconclusive, classname))
    cases = suite.findall("testcase")
    counts = Counter(part.tag for case in cases for part in case)
    suite.set("tests", str(len(cases)))
    for name, tag in _COUNTS.items():
        suite.set(name, str(counts[tag]))
    suite.set("time", "0")
    moment = _utc(view.timestamp)
    if moment:
        suite.set("timestamp", moment)
    return suite


def _verdict_case(
    view: View, block: CandidateBlock, inconclusive: Undecided, classname: str
) -> ET.Element:
    case = _case(classname, view.ui["verdict"])
    state = block.gate.state
    if state in _VERDICT:
        undecided = state == "INCONCLUSIVE" and inconclusive == "failed"
        reasons = "\n".join(f"{r.code}: {r.text}" for r in block.reasons)
        tag = "failure" if undecided else _VERDICT[state]
        case.append(_finding(tag, state, block.sentence, reasons))
    ET.SubElement(case, "system-out").text = _legal(block.sentence)
    return case


def _metric_case(row: MetricRow, inconclusive: Undecided, classname: str) -> ET.Element:
    case = _case(classname, f"{row.scope_label}: {row.metric_label}")
    numbers = f"{row.text}\n{row.tests}"
    if row.outcome in _METRIC:
        undecided = row.outcome == "skipped" and row.open and inconclusive == "failed"
        tag = "failure" if undecided else _METRIC[row.outcome]
        case.append(_finding(tag, row.state.key, row.text, numbers))
    ET.SubElement(case, "system-out").text = _legal(numbers)
    return case


def _finding(tag: str, kind: str, message: str, text: str) -> ET.Element:
    found = ET.Element(tag, message=_legal(message))
    if tag != "skipped":
        found.set("type", kind)
    found.text = _legal(text)
    return found


def _case(classname: str, name: str) -> ET.Element:
    return ET.Element("testcase", classname=classname, name=_legal(name), time="0")


def _utc(moment: str) -> str:
    """Write a moment in UTC without an offset: the schemas' pattern allows none."""
    if not moment:
        return ""
    found = datetime.fromisoformat(moment)
    if found.tzinfo is not None:
        found = found.astimezone(UTC)
    return found.replace(tzinfo=None).isoformat(timespec="seconds")


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)
