"""Length curves: what is drawn is what the table says, and it stays within its frame."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from evalkit.estimates import Estimate
from evalkit.report.curves import curve
from evalkit.report.html import render_html
from evalkit.report.model import LengthCurve
from evalkit.report.view import build_view
from evalkit.results import LengthPoint
from tests.report.fixtures import comparison


def curves(*points: LengthPoint, lang: str = "en") -> tuple[LengthCurve, ...]:
    made = comparison("HOLD")
    result = made.results[0]
    given = replace(result, lengths=points or result.lengths)
    return build_view(replace(made, results=(given,)), lang).candidates[0].lengths


def point(bucket: str, n: int, value: float | None, error: float = 0.1) -> LengthPoint:
    if value is None:
        found = Estimate(None, None, None, "score", n)
    else:
        found = Estimate(value, value - error, value + error, "score", n)
    return LengthPoint("prompt_length", bucket, n, 0.5, 0.5, found)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_table_and_picture_tell_the_same(lang: str) -> None:
    first, second = curves(lang=lang)
    assert [row[1] for row in first.table.rows] == ["41", "77", "36", "6"]
    assert [row[4].split(" ")[0] for row in first.table.rows] == ["+1.0", "0.0", "−5.0", "−20.0"]
    assert len(second.table.rows) == 2
    root = ElementTree.fromstring(curve(first.curve, "c1"))
    words = [text.text for text in root.iter("text")]
    for shown in ("41", "77", "36", "6", "4K–16K"):
        assert shown in words
    assert len(list(root.iter("circle"))) == 4
    # Few pairs are told from many by shape, not by colour.
    assert [c.get("class") for c in root.iter("circle")].count("mark dot hollow") == 1
    described = root.find("desc")
    assert described is not None
    assert first.table.rows[2][4] in (described.text or "")


def test_wide_intervals_of_few_pairs_neither_stretch_nor_leave_the_frame() -> None:
    (made,) = curves(point("<64", 900, 0.0, 0.01), point("1K–4K", 2, -1.0, 0.9))
    root = ElementTree.fromstring(curve(made.curve, "c1"))
    ys = [float(line.get(end, "")) for line in root.iter("line") for end in ("y1", "y2")]
    assert min(ys) >= 0
    assert max(ys) <= 300


def test_a_point_without_a_number_is_a_dash() -> None:
    (made,) = curves(point("<64", 40, 0.0), point("64–256", 1, None), point("1K–4K", 40, 0.1))
    picture = curve(made.curve, "c1")
    assert ">–<" in picture or ">—<" in picture
    assert made.table.rows[1][4]


def test_section_appears_only_with_two_points() -> None:
    assert curves(point("<64", 40, 0.0)) == ()
    invalid = render_html(build_view(comparison("INVALID"), "en"))
    shown = render_html(build_view(comparison("HOLD"), "en"))
    assert not re.search(r'id="[^"]*-lengths"', invalid)
    assert len(re.findall(r'id="[^"]*-lengths"', shown)) == 1
