import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from evalkit.report.charts import forest
from evalkit.report.model import Forest
from evalkit.report.view import build_view
from tests.report.fixtures import STATES, comparison
from tests.report.hostile import HOSTILE


def plot(state: str) -> Forest:
    return build_view(comparison(state)).candidates[0].forest


def drawn(made: Forest, *, narrow: bool = False) -> ET.Element:
    return ET.fromstring(str(forest(made, "k", narrow=narrow)))


def of_class(svg: ET.Element, name: str) -> list[ET.Element]:
    return [e for e in svg.iter() if name in (e.get("class") or "").split()]


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("state", STATES)
def test_one_mark_for_each_row_inside_the_frame(state: str, narrow: bool) -> None:
    made = plot(state)
    svg = drawn(made, narrow=narrow)
    width = float((svg.get("viewBox") or "").split()[2])
    assert len(of_class(svg, "dot")) == len(made.rows)
    assert len(of_class(svg, "thin")) == len(made.rows)
    for line in svg.iter("line"):
        assert 0 <= float(line.get("x1", "-1")) <= width
        assert 0 <= float(line.get("x2", "-1")) <= width


def test_positions_follow_the_numbers() -> None:
    made = plot("HOLD")
    svg = drawn(made)
    zero = float(of_class(svg, "zero")[0].get("x1", ""))
    margins = [float(line.get("x1", "")) for line in of_class(svg, "margin")]
    scale = (zero - margins[0]) / made.rows[0].margin
    assert margins[1] == pytest.approx(zero - made.rows[-1].margin * scale, abs=0.2)
    for row, thin in zip(made.rows, of_class(svg, "thin"), strict=True):
        low, high = row.difference.low, row.difference.high
        assert low is not None
        assert high is not None
        assert float(thin.get("x1", "")) == pytest.approx(zero + low * scale, abs=0.2)
        assert float(thin.get("x2", "")) == pytest.approx(zero + high * scale, abs=0.2)


def test_margins_are_labelled_with_their_own_size() -> None:
    labels = [e.text for e in of_class(drawn(plot("SHIP")), "margin-label")]
    assert labels == ["margin −5.0", "margin −2.0"]


def test_words_say_the_same_as_the_picture() -> None:
    made = plot("HOLD")
    svg = drawn(made)
    assert svg[0].tag == "title"
    description = svg[1].text or ""
    for row in made.rows:
        assert f"{row.label}: {row.difference.text} points" in description


def test_row_without_a_number_is_a_dash() -> None:
    made = plot("INCONCLUSIVE")
    number = replace(made.rows[0].difference, text="–", interval="", value=None, note="no data")
    bare = replace(made.rows[0], difference=replace(number, low=None, high=None))
    bare = replace(bare, low90=None, high90=None)
    svg = drawn(replace(made, rows=(bare, *made.rows[1:])))
    assert len(of_class(svg, "dot")) == len(made.rows) - 1
    assert "no data" in "".join(svg.itertext())


def test_infinite_ends_stop_at_the_frame() -> None:
    made = plot("SHIP")
    wide = replace(made.rows[0].difference, low=float("-inf"), high=float("inf"))
    source = str(forest(replace(made, rows=(replace(made.rows[0], difference=wide),)), "k"))
    assert not re.search("nan|inf(?!erior)", source)


@pytest.mark.parametrize("text", HOSTILE[:8], ids=range(8))
def test_labels_are_escaped(text: str) -> None:
    made = plot("SHIP")
    svg = drawn(replace(made, rows=(replace(made.rows[0], label=text),)))
    assert {e.tag for e in svg.iter()} <= {"svg", "title", "desc", "text", "line", "circle", "path"}
