"""Remedies and slices in every form of the report."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.estimates import Estimate
from evalkit.report.console import render_console
from evalkit.report.html import render_html
from evalkit.report.markdown import render_markdown
from evalkit.report.store import dump_comparison, load_comparison
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from evalkit.results import Comparison, Remedy, SliceResult
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE

REMEDIES = (
    Remedy("RAISE_MAX_TOKENS", ("math",), {"baseline": 1, "candidate": 40, "regressions": 31}),
    Remedy("CHECK_TEMPLATE", ("math",), {"flags": {"garbled": (0, 12), "empty": (3, 20)}}),
    Remedy("RERUN_MISSING", (), {"baseline": 0, "candidate": 7, "n": 160, "reasons": {"infra": 7}}),
    Remedy(
        "ROUTE_FAMILIES",
        ("facts", "code"),
        {
            "kept": ("math",),
            "difference": -0.002,
            "low": -0.0053,
            "high": 0.0012,
            "margin": 0.02,
            "n": 3000,
        },
    ),
    Remedy("ROUTE_UNPROVEN", (), {"kept": ("facts", "math")}),
    Remedy("LOWER_TEMPERATURE", (), {"temperature": 0.7, "regressions": 310, "improvements": 1040}),
    Remedy("CURB_LOOPS", (), {"baseline": 2, "candidate": 19, "temperature": 0.0}),
    Remedy(
        "ADD_RETRIEVAL",
        ("facts",),
        {"metric": "hallucination", "difference": 0.15, "low": 0.1, "high": 0.2, "n": 500},
    ),
    Remedy("MIXED_PRECISION", ("code", "math"), {"regressions": 276, "improvements": 16}),
    Remedy("ASK_STAGE_2", (), {"more": 3200, "each": 1080}),
    Remedy("ASK_ON", (), {"more": 777, "n": 164, "metric": "accuracy", "margin": 0.02}),
    Remedy("COMPARE_ANEW", (), {"anew": 1234, "n": 164, "metric": "accuracy", "margin": 0.02}),
)


def part(
    dimension: str,
    value: str,
    difference: float,
    *,
    family: str | None = None,
    n: int = 120,
    p_adjusted: float | None = 0.8,
) -> SliceResult:
    return SliceResult(
        dimension=dimension,
        value=value,
        family=family,
        n=n,
        regressions=9,
        improvements=4,
        difference=Estimate(difference, difference - 0.05, difference + 0.05, "score", n),
        shrunken=difference / 2,
        pvalue=p_adjusted,
        p_adjusted=p_adjusted,
        flagged=p_adjusted is not None and p_adjusted <= 0.1,
    )


SLICES = (
    part("family", "math", -0.02),
    part("category", "two_steps", -0.04, family="math"),
    part("language", "zh", 0.01),
    part("prompt_length", "16K–64K", -0.31, p_adjusted=0.003),
    part("output_length", "<64", -0.01, n=7, p_adjusted=None),
    part("difficulty", "hard", 0.0),
)


def advised(
    slices: tuple[SliceResult, ...] = SLICES, remedies: tuple[Remedy, ...] = REMEDIES
) -> Comparison:
    made = comparison("HOLD")
    return replace(made, results=(replace(made.results[0], slices=slices, remedies=remedies),))


def page_text(made: Comparison, lang: str = "en") -> str:
    page = re.sub(r"<style>.*?</style>", "", render_html(build_view(made, lang)), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_remedies_stand_in_every_form_in_their_order(lang: str) -> None:
    view = build_view(advised(), lang)
    forms = [
        page_text(advised(), lang),
        " ".join(render_console(view, 4000, False).split()),
        html.unescape(re.sub(r"\\(.)", r"\1", render_markdown(view))),
        json.dumps(summary(view), ensure_ascii=False),
    ]
    texts = [" ".join(item.text.split()) for item in view.candidates[0].remedies]
    assert len(set(texts)) == len(REMEDIES)
    for form in forms:
        places = [form.find(text) for text in texts]
        assert -1 not in places
        assert places == sorted(places)


def test_each_remedy_tells_its_evidence() -> None:
    texts = {item.code: item.text for item in build_view(advised()).candidates[0].remedies}
    assert "40 of q4 were cut off (31 of the regressions)" in texts["RAISE_MAX_TOKENS"]
    assert "empty 3 → 20, garbled 0 → 12" in texts["CHECK_TEMPLATE"]
    assert "q4 7 of 160 without an answer (infra 7)" in texts["RERUN_MISSING"]
    assert "q4 for facts, code, q8 for math" in texts["ROUTE_FAMILIES"]
    assert "accuracy −0.20 points, 95% CI −0.53 to +0.12, margin 2.0" in texts["ROUTE_FAMILIES"]
    assert "cannot be offered" in texts["ROUTE_UNPROVEN"]
    assert "310 regressions stand against 1,040" in texts["LOWER_TEMPERATURE"]
    assert "from 2 to 19 at temperature 0" in texts["CURB_LOOPS"]
    assert "hallucination in facts changed by +15.0 points" in texts["ADD_RETRIEVAL"]
    assert "code, math are degraded" in texts["MIXED_PRECISION"]
    assert "about 1,234 prompts, none of them asked here" in texts["COMPARE_ANEW"]
    assert "about 3,200 prompts" in texts["ASK_STAGE_2"]
    assert "--stage-2 1080." in texts["ASK_STAGE_2"]
    assert "about 777 more prompts" in texts["ASK_ON"]


def test_an_unproven_mix_says_what_it_would_have_been() -> None:
    values = {**REMEDIES[3].values, "low": -0.031}
    made = advised(remedies=(Remedy("ROUTE_UNPROVEN", ("facts",), values),))
    (item,) = build_view(made).candidates[0].remedies
    assert "is not proven" in item.text
    assert "−3.10 to +0.12, margin 2.0, 3,000 pairs" in item.text


def test_an_unknown_remedy_of_a_later_version_is_shown_by_its_code() -> None:
    made = advised(remedies=(Remedy("REBOOT"),))
    assert build_view(made).candidates[0].remedies[0].text == "REBOOT"


def test_flagged_slices_are_open_and_the_others_folded() -> None:
    block = build_view(advised()).candidates[0]
    assert block.slices.lead.startswith("1 of 5 slices")
    assert block.slices.flagged is not None
    assert [row[0] for row in block.slices.flagged.rows] == ["16K–64K tokens"]
    assert block.slices.tested is not None
    assert {row[0] for row in block.slices.tested.rows} == {
        "16K–64K tokens",
        "math",
        "math: two_steps",
        "Chinese",
        "hard",
    }
    assert block.slices.too_few.endswith("<64 tokens (7).")
    page = render_html(build_view(advised()))
    section = page[page.index(f'id="{block.key}-slices"') :]
    before = section[: section.index('<details class="more">')]
    assert "16K–64K tokens" in before
    assert "two_steps" not in before


def test_markdown_names_flagged_slices_only() -> None:
    made = render_markdown(build_view(advised()))
    assert "prompt length 16K–64K tokens: −31.0 points" in made
    assert "two" not in made[made.index("**Slices**") : made.index("<details>")]
    quiet = tuple(one for one in SLICES if not one.flagged)
    assert "**Slices**" not in render_markdown(build_view(advised(quiet)))


def test_sections_are_absent_without_anything_to_say() -> None:
    view = build_view(advised((), ()))
    page = render_html(view)
    assert '-remedies"' not in page
    assert '-slices"' not in page
    assert view.ui["remedies"] not in render_console(view, 100, False)
    assert summary(view)["candidates"][0]["slices"] == []


def test_remedies_come_before_families_and_slices_after() -> None:
    page = render_html(build_view(advised()))
    places = [page.index(f'-{name}"') for name in ("remedies", "slices")]
    families = page.index('<section id="c1-q4-families"')
    assert places[0] < families < places[1]


def test_summary_has_the_slices_as_fractions() -> None:
    body = json.loads(json.dumps(summary(build_view(advised())), allow_nan=False))
    slices = {(one["dimension"], one["value"]): one for one in body["candidates"][0]["slices"]}
    assert slices["prompt_length", "16K–64K"]["flagged"]
    assert slices["prompt_length", "16K–64K"]["difference"]["value"] == -0.31
    assert slices["category", "two_steps"]["family"] == "math"
    assert not slices["output_length", "<64"]["tested"]


def test_a_comparison_of_before_slices_and_remedies_still_loads(tmp_path: Path) -> None:
    raw = json.loads(dump_comparison(comparison("HOLD")))
    for result in raw["results"]:
        del result["slices"], result["remedies"]
    (tmp_path / "comparison.json").write_text(json.dumps(raw), encoding="utf-8")
    assert load_comparison(tmp_path) == comparison("HOLD")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_stored_renders_as_what_was_computed(lang: str, tmp_path: Path) -> None:
    (tmp_path / "comparison.json").write_bytes(dump_comparison(advised()))
    stored, computed = (
        build_view(made, lang).candidates[0] for made in (load_comparison(tmp_path), advised())
    )
    assert stored.remedies == computed.remedies
    assert stored.slices == computed.slices


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_of_slices_are_hostile_input(text: str) -> None:
    slices = (
        part("category", text, -0.3, family="math", p_adjusted=0.001),
        part("difficulty", text, -0.3, n=5, p_adjusted=None),
    )
    remedies = (Remedy("RERUN_MISSING", (), {"baseline": 0, "n": 1, "reasons": {text: 1}}),)
    view = build_view(advised(slices, remedies))
    page = render_html(view)
    assert "<script" not in page
    assert "<img" not in page
    shown = render_console(view, 100, False)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    json.dumps(summary(view), ensure_ascii=False).encode()
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", render_markdown(view))
    assert not re.search(r"(?<!\\)://", outside)
