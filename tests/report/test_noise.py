"""The noise floor in every form of the report."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evalkit.estimates import Estimate
from evalkit.noisefloor import NoiseFloor, NoiseScope
from evalkit.report.console import render_console
from evalkit.report.html import render_html
from evalkit.report.markdown import render_markdown
from evalkit.report.store import dump_comparison, load_comparison
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from evalkit.results import Comparison, ReasonCode, Threat
from tests.report.fixtures import comparison


def scope(name: str, n: int, excess: Estimate | None = None) -> NoiseScope:
    return NoiseScope(
        scope=name,
        repeat_flips=Estimate(0.025, 0.011, 0.047, "Wilson score", n),
        same_text=Estimate(0.875, 0.8, 0.93, "Wilson score", n),
        candidate_flips=Estimate(0.062, 0.04, 0.09, "Wilson score", n),
        excess=excess or Estimate(0.037, 0.012, 0.066, "Tango score", n),
    )


def measured(excess: Estimate | None = None, *, high: bool = False) -> Comparison:
    made = comparison("SHIP")
    noise = NoiseFloor(
        source="batching",
        asked=400,
        all_flips=Estimate(0.0215, 0.02, 0.03, "Wilson score", 4000),
        pooled=scope("pooled", 400, excess),
        families=(scope("facts", 100), scope("math", 100)),
    )
    verdict = made.results[0].verdict
    if high:
        values = {"excess_rate": 0.055, "low_rate": 0.02, "high_rate": 0.09, "limit_rate": 0.04,
                  "n": 400}  # fmt: skip
        verdict = replace(verdict, codes=(*verdict.codes, ReasonCode("FLIPS_HIGH", values=values)))
    threats = tuple(t for t in made.results[0].threats if t.code != "NOISE_FLOOR")
    result = replace(
        made.results[0],
        noise=noise,
        verdict=verdict,
        threats=(*threats, Threat("NOISE_FLOOR", "ok", {"n": 400, "rate": 0.025})),
    )
    return replace(made, results=(result,))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_form_tells_flips_and_excess_with_their_intervals(lang: str) -> None:
    view = build_view(measured(), lang)
    forms = {
        "html": render_html(view),
        "console": render_console(view, 4000, False),
        "markdown": render_markdown(view).replace("\\", ""),
        "json": json.dumps(summary(view), ensure_ascii=False),
    }
    for name, text in forms.items():
        for wanted in ("2.5% [1.1, 4.7]", "+3.7 [+1.2, +6.6]", "87.5%"):
            assert wanted in text, (name, wanted)
    share = {"en": "2.5% of 400", "zh": "400 题中 2.5%"}[lang]
    assert share in view.candidates[0].headlines[2].detail
    block = view.candidates[0].noise
    assert block is not None
    assert [row[1] for row in block.table.rows] == ["100", "100", "400"]


def test_what_it_says_in_words() -> None:
    lead = build_view(measured(), "en").candidates[0].noise
    assert lead is not None
    assert lead.lead == (
        "400 prompts were asked of the baseline twice: 2.5% [1.1, 4.7] of the answers flipped "
        "between right and wrong, 87.5% were word for word equal. On the same prompts the "
        "candidate's flips exceed that by +3.7 [+1.2, +6.6] points. Over all 4,000 pairs 2.15% "
        "[2.00, 3.00] flip. Both times at temperature 0, so this is the noise of the server "
        "itself."
    )


def test_many_flips_are_a_reason_beside_the_ship() -> None:
    view = build_view(measured(high=True), "en")
    reason = next(r for r in view.candidates[0].reasons if r.code == "FLIPS_HIGH")
    assert reason.text == (
        "answers flip more often than noise explains: 5.5% of the prompts beyond the baseline "
        "against itself (95% CI 2.0% to 9.0%, 400 prompts asked twice; more than 4.0% is reported)"
    )
    assert view.gate.state == "SHIP"
    assert "FLIPS_HIGH" in render_console(view, 200, False)


def test_without_a_pair_to_compare_there_is_no_excess() -> None:
    nothing = Estimate(None, None, None, "Tango score", 0, warnings=("no_data",))
    view = build_view(measured(nothing), "en")
    assert view.candidates[0].noise is not None
    assert "exceed" not in view.candidates[0].noise.lead
    assert render_html(view)


def test_not_measured_is_said_and_has_no_section() -> None:
    made = comparison("SHIP")
    result = replace(made.results[0], threats=(Threat("NOISE_FLOOR", "warn"),))
    view = build_view(replace(made, results=(result,)), "en")
    assert view.candidates[0].noise is None
    assert [t.text for t in view.candidates[0].threats if t.code == "NOISE_FLOOR"] == [
        "run-to-run noise (the baseline against itself) was not measured"
    ]
    assert "-noise" not in render_html(view)


def test_it_survives_the_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    made = measured(high=True)
    path = tmp_path / "comparison.json"
    path.write_bytes(dump_comparison(made))
    assert load_comparison(path) == made
