"""What a report says of speculation: each finding as a sentence, in both languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import jsonschema
import pytest
import yaml

from evalkit.estimates import Estimate
from evalkit.performance import Performance
from evalkit.report.html import render_html
from evalkit.report.performance_console import render_performance
from evalkit.report.performance_store import dump_performance, load_performance
from evalkit.report.schema import schema_of
from evalkit.report.speculation_routes import dump_routing
from evalkit.report.view import build_view
from evalkit.speculation import (
    WORKLOADS,
    Acceptance,
    Crossover,
    Equality,
    LoadArm,
    Route,
    Speculation,
    SpeculativeArm,
    WorkloadArm,
)
from evalkit.types import DraftCounts
from tests.report.fixtures import comparison
from tests.report.performances import performance

RATIO = Estimate(1.32, 1.21, 1.45, "m", 12)
RULES = ("faster", "deeper", "slower", "unclear", "careful", "few", "not_measured")


def work(*, speculates: bool) -> WorkloadArm:
    acceptance = None
    if speculates:
        places = (Estimate(0.8, 0.7, 0.88, "w", 40, n_clusters=12),)
        rate = Estimate(0.549, 0.48, 0.61, "w", 400, n_clusters=12)
        acceptance = Acceptance(rate, places, 400, 219, 40, 1.55, "metrics")
    figure = Estimate(50.0, 45.0, 55.0, "m", 12)
    ratios = {"decode": RATIO, "ttft": RATIO} if speculates else {}
    return WorkloadArm(12, {"Timeout": 1}, 80.0, 128.0, acceptance, figure, figure, ratios)


def speculation(
    crossover: Crossover | None = None, equality: Equality | None = None, label: str = "on"
) -> Speculation:
    arms = tuple(
        SpeculativeArm(
            label=name,
            arm=f"f16-{name}",
            depth=4 if name == label else None,
            workloads={kind: work(speculates=name == label) for kind in WORKLOADS},
            loads={n: LoadArm(12, {}, RATIO, RATIO if name == label else None) for n in (1, 16, 4)},
            contexts={1024: RATIO} if name == label else {},
            crossover=crossover if name == label else None,
            equality=equality if name == label else None,
            lifetime=DraftCounts(1000, 420, 250, (200, 100)) if name == label else None,
            added_bytes=1_520_000_000 if name == label else None,
            added_from="processes" if name == label else None,
            compare="evalkit compare f16 f16-q4" if name == label else "",
        )
        for name in ("off", label)
    )
    routes = tuple(
        Route(
            case, None if rule == "not_measured" else label,
            "not_measured" if rule == "not_measured" else "faster", rule, "decode",
            concurrency=1, ratios={label: RATIO}, ttft={label: RATIO}, acceptance={label: 0.549},
            deeper=RATIO if rule == "deeper" else None,
        )
        for case, rule in zip((*WORKLOADS, "interactive"), RULES, strict=False)
    )  # fmt: skip
    return Speculation(None, arms, 32, routes)


def told(lang: str, *found: Speculation) -> str:
    made = replace(performance(comparison("SHIP")), speculation=found)
    return " ".join(render_performance(made, lang, 400, color=False).split())


def kinds(owner: type, name: str) -> tuple[Any, ...]:
    return get_args(get_type_hints(owner)[name])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_finding_has_its_sentence(lang: str) -> None:
    seen = set()
    for kind in kinds(Crossover, "kind"):
        ends = ((None, None), (1, None), (None, 4)) if kind == "unclear" else ((1, 4),)
        for faster, slower in ends:
            crossover = Crossover(kind, faster, slower, RATIO if kind == "between" else None)
            seen.add(told(lang, speculation(crossover)))
    for finding in kinds(Equality, "finding"):
        equality = Equality(3, 1, 72, Estimate(0.03, 0.01, 0.06, "t", 72), finding, 0.4)
        seen.add(told(lang, speculation(equality=equality)))
    assert len(seen) == 7 + 4


def test_the_figures_are_told_as_they_were_measured() -> None:
    text = told("en", speculation(Crossover("none", 4)))
    assert "No crossover measured: faster at every load up to 4 in flight." in text
    assert "54.9% [48.0, 61.0]" in text
    assert "1: 80% [70, 88]" in text
    assert "decode speed ÷ off: on 1.32× [1.21, 1.45]; on is shown to be better" in text
    assert "on: before this probe" in text
    assert "+1.5 GB (resident memory of the server's processes)" in text
    assert text.index("on: 4 in flight") < text.index("on: 16 in flight")


def test_the_file_is_read_back_and_its_routes_keep_their_schema(tmp_path: Path) -> None:
    equality = Equality(3, 1, 72, RATIO, "within", 0.4)
    made: Performance = replace(
        performance(comparison("SHIP")), speculation=(speculation(Crossover("none", 4), equality),)
    )
    (tmp_path / "performance.json").write_bytes(dump_performance(made))
    assert load_performance(tmp_path) == made
    routes = yaml.safe_load(dump_routing(made))
    jsonschema.validate(routes, schema_of("routing"))
    part = routes["tables"][0]["arms"]["on"]
    assert (part["depth"], part["crossover"]["faster_up_to"]) == (4, 4)
    first = routes["tables"][0]["routes"][0]
    assert (first["case"], first["choice"], first["ratios"]["on"]["low"]) == (
        "short_reasoning", "on", 1.21,
    )  # fmt: skip
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**routes, "tables": [{"routes": []}]}, schema_of("routing"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_shows_routes_and_hostile_names_stay_text(lang: str) -> None:
    hostile = "on\x1b[31m<script>alert(1)</script>\u202e"
    made = comparison("SHIP")
    found = replace(performance(made), speculation=(speculation(label=hostile),))
    page = render_html(build_view(made, lang, found))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page
    assert "\x1b" not in dump_routing(found)
