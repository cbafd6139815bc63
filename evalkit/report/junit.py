"""The report for CI: JUnit XML, one case for each family and metric, one for the verdict."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Final

from evalkit.report.model import CandidateBlock, MetricRow, View

_ILLEGAL: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(view: View) -> str:
    """Return JUnit XML.

    A degraded metric is a failure with its numbers, an undecided one is skipped, and an
    invalid comparison is an error. Characters that XML cannot hold are removed.
    """
    root = ET.Element("testsuites", name="evalkit")
    for block in view.candidates:
        root.append(_suite(view, block))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(view: View, block: CandidateBlock) -> ET.Element:
    outcomes = [row.outcome for row in block.metrics]
    state = block.gate.state
    suite = ET.Element(
        "testsuite",
        {
            "name": _legal(block.title),
            "tests": str(len(outcomes) + 1),
            "failures": str(outcomes.count("failed") + (state == "HOLD")),
            "errors": str(int(state == "INVALID")),
            "skipped": str(outcomes.count("skipped") + (state == "INCONCLUSIVE")),
        },
    )
    if view.timestamp:
        suite.set("timestamp", view.timestamp)
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("verdict", state),
        ("exit_code", str(block.gate.exit_code)),
        ("sentence", block.sentence),
        ("recommendation", view.recommendation),
        ("policy_hash", view.policy_hash),
    ):
        ET.SubElement(properties, "property", name=name, value=_legal(value))
    _verdict_case(suite, view, block)
    for row in block.metrics:
        _metric_case(suite, block, row)
    return suite


def _verdict_case(suite: ET.Element, view: View, block: CandidateBlock) -> None:
    case = _case(suite, block, view.ui["verdict"])
    element = {"HOLD": "failure", "INCONCLUSIVE": "skipped", "INVALID": "error"}
    if block.gate.state in element:
        tag = element[block.gate.state]
        found = ET.SubElement(case, tag, message=_legal(block.sentence))
        if tag != "skipped":
            found.set("type", block.gate.state)
        found.text = _legal("\n".join(f"{r.code}: {r.text}" for r in block.reasons))
    ET.SubElement(case, "system-out").text = _legal(block.sentence)


def _metric_case(suite: ET.Element, block: CandidateBlock, row: MetricRow) -> None:
    case = _case(suite, block, f"{row.scope_label}: {row.metric_label}")
    if row.outcome == "failed":
        found = ET.SubElement(case, "failure", message=_legal(row.text), type=row.state.key)
        found.text = _legal(f"{row.text}\n{row.p_degraded}")
    elif row.outcome == "skipped":
        ET.SubElement(case, "skipped", message=_legal(row.text))
    ET.SubElement(case, "system-out").text = _legal(row.text)


def _case(suite: ET.Element, block: CandidateBlock, name: str) -> ET.Element:
    attributes = {"classname": _legal(f"evalkit.{block.endpoint}"), "name": _legal(name)}
    return ET.SubElement(suite, "testcase", attributes)


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)
