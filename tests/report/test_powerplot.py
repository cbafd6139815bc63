"""The power curve's page: right geometry, safe text, nothing from elsewhere."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from evalkit.report.powerplot import PowerPlot, power_page, power_svg

PLOT = PowerPlot(
    title="Chance <b>&",
    sizes=(40, 100, 1000, 10000),
    curves=[("0% flips", (0.0, 0.0, 1.0, 1.0)), ("6% flips", (0.1, 0.2, 0.8, 1.0))],
    wanted=0.8,
    own=40,
    text="a < b </pre><script>alert(1)</script>",
)
SVG = "{http://www.w3.org/2000/svg}"


def drawing() -> ET.Element:
    return ET.fromstring(str(power_svg(PLOT)))


def points(line: ET.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_points_lie_where_the_ticks_say() -> None:
    svg = drawing()
    ticks = {text.text: float(text.attrib["x"]) for text in svg.iter("text")}
    heights = {text.text: float(text.attrib["y"]) - 4 for text in svg.iter("text")}
    first, second = (points(line) for line in svg.iter("polyline"))
    assert [x for x, _ in second][1:] == [ticks["100"], ticks["1,000"], ticks["10,000"]]
    assert first[0][1] == heights["0%"]
    assert first[-1][1] == heights["100%"]
    assert second[2][1] == heights["80%"]


def test_small_round_numbers_are_ticks_only_within_the_frame() -> None:
    texts = [text.text for text in drawing().iter("text")]
    assert "50" in texts
    assert "20" not in texts


def test_labels_do_not_lie_on_each_other() -> None:
    heights = [
        float(text.attrib["y"])
        for text in drawing().iter("text")
        if text.text is not None and text.text.endswith("flips")
    ]
    assert len(heights) == 2
    assert abs(heights[0] - heights[1]) >= 16


def test_lines_are_told_apart_without_colour() -> None:
    styles = [line.attrib["style"] for line in drawing().iter("polyline")]
    dashes = {re.sub(r".*stroke-dasharray:", "", style) for style in styles}
    assert len(dashes) == len(styles)


def test_text_is_text_and_nothing_is_fetched() -> None:
    page = power_page(PLOT)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<title>Chance &lt;b&gt;&amp;</title>" in page
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|src=|url\(|@import", page)
