"""Gains in the decision: what is bought, at what price, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.capacities import CAPACITY_VERSION, Capacity, Footprint, Room, StoredCapacity
from evalkit.errors import StoreError
from evalkit.performance import Performance
from evalkit.report.capacity_store import dump_capacity, fits_of, load_capacity
from evalkit.report.console import render_console
from evalkit.report.html import render_html
from evalkit.report.markdown import render_markdown
from evalkit.report.view import build_view
from evalkit.results import Comparison
from evalkit.stages.writing import view_of, write_capacity
from tests.report.fixtures import comparison
from tests.report.performances import performance

DEVICE = 80 * 10**9


def footprint(name: str, needed: int, checkpoint: int) -> Footprint:
    fits = needed <= DEVICE
    rooms = (Room(1, 4096, False),)
    parts = {"weights": needed}
    return Footprint(name, name, 1, 4.5, checkpoint, parts, needed, fits, fits, 0, 0, rooms)


def capacity(
    needs: Mapping[str, int], arms: Mapping[str, str] | None = None, *, device: int | None = DEVICE
) -> StoredCapacity:
    sizes = {"q8_0": 144_811_072, "q4_0": 91_727_680}
    prints = tuple(
        footprint(name, needed, sizes.get(name, 91_727_680)) for name, needed in needs.items()
    )
    if device is None:
        prints = tuple(replace(one, fits=None, fits_at_all=None) for one in prints)
    plan = Capacity(
        "M", "llama", "vllm", 1, 1, (), (), "bf16", 1, 1, 131072, 65536, 4, device, 0.15, None,
        prints, (),
    )  # fmt: skip
    return StoredCapacity(CAPACITY_VERSION, "0.1.0", "2026-12-01T00:00:00+00:00", plan, arms or {})


GAINED = {"q8_0": 94 * 10**9, "q4_0": 36 * 10**9}


def slower(made: Comparison, **ratios: tuple[float, float, float]) -> Performance:
    """The probe with other ratios, and no less memory."""
    found = performance(made, price=None)
    points = tuple(
        replace(
            point,
            ratios={
                name: {
                    key: replace(
                        ratio, **dict(zip(("value", "low", "high"), ratios[key], strict=True))
                    )
                    if key in ratios
                    else ratio
                    for key, ratio in each.items()
                }
                for name, each in point.ratios.items()
            },
        )
        for point in found.points
    )
    arms = tuple(replace(arm, memory=found.arms[0].memory) for arm in found.arms)
    return replace(found, points=points, arms=arms)


def test_what_fits_joins_the_sentence_of_the_gains() -> None:
    made = comparison("SHIP")
    view = build_view(made, "en", performance(made), capacity(GAINED))
    fact = "it fits one 80.0 GB device with 65,536 tokens × 4, the baseline does not; the price: "
    assert fact + "accuracy −0.10 points [−0.56, +0.36]" in view.recommendation
    rows = {row.label: row for row in view.candidates[0].gains}
    row = rows["Needs, 65,536 tokens × 4"]
    assert (row.baseline, row.candidate, row.change) == ("94.0 GB", "36.0 GB", "−62%")
    row = rows["Fits one 80.0 GB device"]
    assert (row.baseline, row.candidate) == ("✗ no", "✓ yes")
    assert "By the capacity plan" not in view.sentence
    assert "无法" not in build_view(made, "zh", None, capacity(GAINED)).sentence


@pytest.mark.parametrize("measured", [False, True])
def test_an_arm_that_ships_but_does_not_fit_is_told_at_the_verdict(measured: bool) -> None:
    made = comparison("SHIP")
    found = performance(made) if measured else None
    view = build_view(made, "en", found, capacity({"q8_0": DEVICE, "q4_0": DEVICE + 1}))
    lack = "By the capacity plan q4 does not fit one 80.0 GB device with 65,536 tokens × 4"
    assert lack in view.sentence
    assert view.candidates[0].threats[0].code == "DOES_NOT_FIT"
    two = comparison("SHIP", "SHIP")
    shipped = build_view(two, "en", None, capacity({"q4_0": DEVICE + 1}))
    assert lack.replace("q4", "rtn4") in shipped.recommendation
    held = comparison("HOLD")
    kept = build_view(held, "en", None, capacity({"q8_0": DEVICE + 1, "q4_0": DEVICE + 1}))
    assert "By the capacity plan" not in kept.candidates[0].sentence
    assert lack.replace("q4", "q8") in kept.recommendation


def test_a_candidate_that_buys_nothing_is_told_so() -> None:
    made = comparison("SHIP")
    worse = slower(made, decode=(0.8, 0.7, 0.9), ttft=(1.1, 0.9, 1.2), throughput=(1.2, 1.004, 1.3))
    told = build_view(made, "en", worse).recommendation
    assert "q4 against the baseline: nothing measured is gained; the price: accuracy" in told
    assert "0.80× [0.70, 0.90] the decode speed" in told.split("Not clearly different")[0]
    assert "1.00× the peak memory" in told.split("Not clearly different")[1]
    # Counted alone, without a measurement, nobody can say so.
    level = build_view(made, "en", None, capacity({"q8_0": 10**9, "q4_0": 10**9}))
    assert "nothing" not in level.recommendation


def test_each_endpoint_may_have_a_price_of_its_own() -> None:
    made = comparison("SHIP")
    each = replace(performance(made, price=None), prices={"q8": 3.6, "q4": 7.2})
    view = build_view(made, "en", each)
    # Twice the price and 1.25 times the tokens.
    assert "1.60× [1.60, 1.60] the cost of a token" in view.recommendation.split("the price:")[1]
    rows = {row.label: row for row in view.candidates[0].gains}
    assert rows["Cost of 1M tokens, 4 in flight"].change == "+60%"
    one = build_view(made, "en", replace(each, prices={"q8": 3.6}))
    assert "cost of a token" not in one.recommendation


@pytest.mark.parametrize(
    ("needs", "arms", "code", "matched"),
    [
        (GAINED, {}, None, {"q8": "q8_0", "q4": "q4_0"}),
        ({"Q4": 1, "q4_0": 2}, {}, "AMBIGUOUS", {}),
        ({"Q4": 1, "q4_0": 2}, {"q4": "q4_0"}, None, {"q4": "q4_0"}),
        ({"int4": 1}, {}, "UNMATCHED", {}),
        ({"int4": 1}, {"q4": "int4"}, None, {"q4": "int4"}),
        ({"bf16": 1}, {"q8": "bf16"}, "OTHER_SIZE", {}),
    ],
)
def test_formats_are_matched_by_name_or_quantization_or_as_told(
    needs: dict[str, int], arms: dict[str, str], code: str | None, matched: dict[str, str]
) -> None:
    made = comparison("SHIP")
    fits = fits_of(capacity(needs, arms), made)
    assert {arm: one.name for arm, one in fits.arms.items()} == matched
    assert [found for found, _ in fits.unclear] == ([code] if code else [])
    notes = build_view(made, "en", None, capacity(needs, arms)).notes
    assert any("capacity.json was left out" in note for note in notes) == bool(code)


def test_a_plan_is_read_as_written_and_a_changed_one_never_hides_the_verdict(
    tmp_path: Path,
) -> None:
    made, stored = comparison("SHIP"), capacity(GAINED, {"q4": "q4_0"})
    path = write_capacity(tmp_path, stored)
    again = load_capacity(tmp_path)
    assert again is not None
    assert dump_capacity(again) == path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b'"needed": 36000000000', b'"needed": 1'))
    with pytest.raises(StoreError, match="sums"):
        load_capacity(tmp_path)
    view = view_of(tmp_path, made, "en")
    assert view.sentence == build_view(made).sentence
    assert any("capacity.json" in note for note in view.notes)


def test_of_several_candidates_the_verdict_stays_short_and_the_trade_follows_it() -> None:
    made = comparison("SHIP", "HOLD")
    view = build_view(made, "en", performance(made), capacity(GAINED))
    assert "buys" not in view.sentence
    assert view.trade.startswith("q4 against the baseline buys 2.00×")
    assert view.recommendation.endswith(view.trade)
    for form in (render_html(view), render_markdown(view), render_console(view, 10_000, False)):
        assert "q4 against the baseline buys 2.00×" in form
    assert build_view(comparison("SHIP"), "en").trade == ""


def test_the_front_names_who_beats_whom_and_doubts_a_lead_within_intervals() -> None:
    made = comparison("SHIP", "HOLD")
    found = performance(made)
    heavier = replace(found.arms[2], memory=found.arms[0].memory)
    plan = capacity(GAINED)
    view = build_view(made, "en", replace(found, arms=(*found.arms[:2], heavier)), plan)
    assert view.performance is not None
    table = view.performance.tables[0]
    assert table.columns[-3:] == ("Memory needed", "Cost of a million tokens", "Pareto front")
    assert table.rows[2][-1] == "beaten in everything by q4"
    # Faster and smaller, and no loss is shown: the baseline leads by accuracy and first token.
    level = replace(found, points=tuple(replace(p, arms={**p.arms}) for p in found.points))
    first = {
        name: replace(arm, quantiles={**arm.quantiles, "ttft": arm.quantiles["tpot"]})
        for name, arm in level.points[0].arms.items()
    }
    level = replace(level, points=(replace(level.points[0], arms=first), *level.points[1:]))
    doubted = build_view(comparison("SHIP", "HOLD"), "en", level).performance
    assert doubted is not None
    assert doubted.tables[0].rows[0][-1].startswith("on the front by accuracy alone")
