"""A probe in the report: what is gained joins the verdict, and never stands in its way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import orjson
import pytest

from evalkit.performance import Remark
from evalkit.report.html import render_html
from evalkit.report.performance_console import render_performance
from evalkit.report.performance_store import dump_performance, load_performance
from evalkit.report.schema import schema_of
from evalkit.report.view import build_view
from evalkit.stages.writing import view_of, write_performance
from tests.report.fixtures import comparison
from tests.report.performances import performance


def test_gains_and_price_join_the_recommendation() -> None:
    made = comparison("SHIP")
    view = build_view(made, "en", performance(made))
    # 3.6 an hour for each: a token costs as much less as more of them come.
    assert view.recommendation == (
        "Ship q4. q4 against the baseline buys 2.00× [2.00, 2.00] the decode speed; "
        "1.25× [1.25, 1.25] the throughput, 4 in flight; "
        "0.80× [0.80, 0.80] the cost of a token, 4 in flight; 0.88× the peak memory; "
        "the price: accuracy −0.10 points [−0.56, +0.36]; "
        "1.10× [1.10, 1.10] the time to first token."
    )
    chinese = build_view(made, "zh", performance(made)).recommendation
    assert "解码速度为 2.00×" in chinese
    assert "代价" in chinese


def test_a_difference_that_may_be_none_is_called_so() -> None:
    made = comparison("SHIP")
    found = performance(made)
    unsure = replace(found.points[0].ratios["q4"]["decode"], value=1.2, low=0.9, high=1.5)
    ratios = {"q4": {**found.points[0].ratios["q4"], "decode": unsure}}
    first = replace(found.points[0], ratios=ratios)
    told = build_view(made, "en", replace(found, points=(first, *found.points[1:])))
    assert "Not clearly different: 1.20× [0.90, 1.50] the decode speed" in told.recommendation


def test_what_was_measured_takes_the_place_of_the_by_product() -> None:
    made = comparison("SHIP")
    before = build_view(made).candidates[0]
    block = build_view(made, "en", performance(made)).candidates[0]
    rows = {row.label: row for row in block.gains}
    assert "Tokens per second" not in rows
    assert "Tokens per second" in {row.label for row in before.gains}
    decode = rows["Decode"]
    assert (decode.baseline, decode.candidate, decode.change) == ("20.0", "39.9", "2.00×")
    # 3.6 an hour is a thousandth a second: 44 tokens in 1.0025 s, and in 0.802 s.
    assert rows["Cost of 1M tokens, 4 in flight"].baseline == "22.8"
    assert rows["Peak memory"].change == "−12%"
    assert "Probe" in block.gains_note
    assert "By-product" in before.gains_note


def test_the_section_tells_every_point_in_the_order_of_the_arms() -> None:
    made = comparison("SHIP")
    view = build_view(made, "en", performance(made, Remark("NOT_INTERLEAVED")))
    page = render_html(view)
    assert 'id="performance"' in page
    assert "one after another" in page
    assert view.performance is not None
    tables = {table.caption.split(":")[0].split(" ")[0]: table for table in view.performance.tables}
    assert [row[0] for row in tables["Medians"].rows] == [
        "q8: 1,024 tokens, 1 in flight",
        "q4: 1,024 tokens, 1 in flight",
        "q8: 1,024 tokens, 4 in flight",
        "q4: 1,024 tokens, 4 in flight",
    ]
    assert tables["Throughput"].rows[0][4].startswith("100.0%")
    assert tables["Throughput"].rows[1][4].startswith("0.0%")
    assert 'id="performance"' not in render_html(build_view(made))


@pytest.mark.parametrize("field", ["weights_hash", "quantization", "engine_version"])
def test_another_build_is_left_out_and_named(field: str) -> None:
    made = comparison("SHIP")
    found = performance(made)
    arm = replace(found.arms[1], identity={**found.arms[1].identity, field: "another"})
    view = build_view(made, "en", replace(found, arms=(found.arms[0], arm)))
    assert view.performance is None
    assert view.recommendation == build_view(made).recommendation
    assert any("q4" in note and "left out" in note for note in view.notes)


@pytest.mark.parametrize(
    "broken",
    [
        b"{",
        b"[]",
        b'{"schema_version": 99}',
        b'{"schema_version": 1, "arms": []}',
        b'{"schema_version": true}',
        b"\xff\xfe",
    ],
)
def test_a_broken_file_does_not_keep_anybody_from_the_verdict(
    broken: bytes, tmp_path: Path
) -> None:
    (tmp_path / "performance.json").write_bytes(broken)
    made = comparison("HOLD")
    view = view_of(tmp_path, made, "en")
    assert view.sentence == build_view(made).sentence
    assert view.performance is None
    assert any("performance.json" in note for note in view.notes)


def test_figures_that_are_missing_are_refused_not_stumbled_over(tmp_path: Path) -> None:
    made = comparison("SHIP")
    body = orjson.loads(dump_performance(performance(made)))
    del body["points"][0]["arms"]["q4"]["quantiles"]["ttft"]
    (tmp_path / "performance.json").write_bytes(orjson.dumps(body))
    assert any("lacks figures" in note for note in view_of(tmp_path, made, "en").notes)


def test_what_is_written_is_read_again_and_fits_its_schema(tmp_path: Path) -> None:
    found = performance(comparison("SHIP", "HOLD"), Remark("NO_USAGE", {"endpoint": "q4"}))
    path = write_performance(tmp_path, found)
    read = load_performance(tmp_path)
    assert read is not None
    assert dump_performance(read) == path.read_bytes() == dump_performance(found)
    jsonschema.validate(json.loads(path.read_text("utf-8")), schema_of("performance"))


def test_an_invalid_comparison_claims_no_gain() -> None:
    made = comparison("INVALID")
    view = build_view(made, "en", performance(made))
    assert view.recommendation == build_view(made).recommendation


def test_three_endpoints_have_a_front() -> None:
    made = comparison("SHIP", "HOLD")
    found = performance(made)
    view = build_view(made, "en", found)
    assert view.performance is not None
    table = view.performance.tables[0]
    assert table.caption.startswith("Quality against speed")
    assert len(table.rows) == 3
    # The candidates are equally fast; the one that lost more holds less memory.
    assert [row[-1] for row in table.rows] == ["on the front"] * 3
    heavier = replace(found.arms[2], memory=found.arms[0].memory)
    beaten = build_view(made, "en", replace(found, arms=(*found.arms[:2], heavier)))
    assert beaten.performance is not None
    assert beaten.performance.tables[0].rows[2][-1].startswith("beaten in everything by q4")
    two = comparison("SHIP")
    alone = build_view(two, "en", performance(two)).performance
    assert alone is not None
    assert not alone.tables[0].caption.startswith("Quality")


def test_hostile_names_stay_text() -> None:
    made = comparison("SHIP", hostile="<script>alert(1)</script>")
    remark = Remark("NO_USAGE", {"endpoint": "<img src=x>\x1b[31m"})
    unknown = Remark("LATER", {"what": "<b>\n"})
    found = performance(made, remark, unknown)
    page = render_html(build_view(made, "en", found))
    assert "<script>" not in page
    assert "<img src=x>" not in page
    text = render_performance(found, "en", 200, color=False)
    assert "\x1b" not in text
    assert "LATER: what" in text
    narrow = render_performance(found, "zh", 60, color=False)
    assert "首词元延迟" in narrow
