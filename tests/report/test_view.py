"""Sentences and numbers of the view-model."""

import re
from dataclasses import replace

import pytest

from evalkit.cli.main import cli
from evalkit.estimates import Cells, Estimate
from evalkit.report.view import build_view
from evalkit.report.words import LANGUAGES
from evalkit.results import (
    CandidateResult,
    Comparison,
    MetricResult,
    MetricState,
    PromptsNeeded,
    ReasonCode,
    TasksetInfo,
    Threat,
)
from evalkit.types import Language
from tests.report.fixtures import comparison


def with_result(made: Comparison, result: CandidateResult) -> Comparison:
    return replace(made, results=(result, *made.results[1:]))


def with_codes(made: Comparison, *codes: ReasonCode) -> Comparison:
    result = made.results[0]
    return with_result(made, replace(result, verdict=replace(result.verdict, codes=codes)))


def with_accuracy(made: Comparison, accuracy: MetricResult) -> Comparison:
    result = made.results[0]
    return with_result(made, replace(result, pooled=replace(result.pooled, accuracy=accuracy)))


def test_ship_says_margin_difference_interval_and_gate() -> None:
    view = build_view(comparison("SHIP"))
    assert view.sentence == (
        "q4 is non-inferior to q8 within 2.0 points: the paired difference is −0.10 points "
        "(95% CI −0.56 to +0.36, 4,000 pairs). Gate: SHIP (exit 0)."
    )
    assert view.recommendation == "Ship q4."


def test_hold_names_what_fell() -> None:
    view = build_view(comparison("HOLD"))
    assert view.sentence.startswith("q4 is worse than q8: accuracy in all families fell by more")
    assert "accuracy in math fell by more than the margin of 5.0 points (−14.30" in view.sentence
    assert view.sentence.endswith("Gate: HOLD (exit 3).")
    assert view.recommendation == "Keep q8: q4 did not pass."


def test_inconclusive_says_how_many_are_needed() -> None:
    made = comparison("INCONCLUSIVE")
    accuracy = replace(
        made.results[0].pooled.accuracy,
        n=164,
        prompts_needed=PromptsNeeded(1050, 2000, 133, 886),
    )
    made = with_codes(
        with_accuracy(made, accuracy), ReasonCode("UNDERPOWERED", "pooled", "accuracy")
    )
    view = build_view(made)
    assert view.sentence == (
        "q4 is not shown to be non-inferior to q8 within 2.0 points: 164 pairs are too few "
        "(about 1,050 needed if the two are equally good). Gate: INCONCLUSIVE (exit 4)."
    )


def test_recommended_step_covers_the_most_demanding_metric() -> None:
    view = build_view(comparison("INCONCLUSIVE"))
    needed = [int(row.equal_models.replace(",", "")) for row in view.candidates[0].needed]
    assert len(needed) == 3
    assert f"{max(needed):,}" in view.recommendation


def test_enough_pairs_that_lean_bad_are_not_called_too_few() -> None:
    made = comparison("INCONCLUSIVE")
    accuracy = replace(
        made.results[0].pooled.accuracy, prompts_needed=PromptsNeeded(100, 400, 50, 0)
    )
    made = with_codes(
        with_accuracy(made, accuracy), ReasonCode("UNDERPOWERED", "pooled", "accuracy")
    )
    view = build_view(made)
    assert "lean against q4" in view.sentence
    assert "too few" not in view.sentence


def test_near_margin_does_not_ask_for_more_prompts() -> None:
    made = comparison("INCONCLUSIVE")
    accuracy = replace(
        made.results[0].pooled.accuracy,
        prompts_needed=PromptsNeeded(100, None, 50, 0, near_margin=True),
    )
    made = with_codes(
        with_accuracy(made, accuracy), ReasonCode("UNDERPOWERED", "pooled", "accuracy")
    )
    view = build_view(made)
    assert "more prompts will not settle it" in view.sentence
    assert "margin is right" in view.recommendation


def test_invalid_says_why_and_what_to_do() -> None:
    view = build_view(comparison("INVALID"))
    assert view.sentence.startswith("q4 and q8 cannot be compared: too many requests have no")
    assert "q4 9 of 160, limit 5%" in view.sentence
    assert "run the same command again" in view.recommendation
    assert {row.outcome for row in view.candidates[0].metrics} == {"skipped"}


def test_nothing_is_judged_in_an_invalid_comparison() -> None:
    made = comparison("HOLD")
    verdict = comparison("INVALID").results[0].verdict
    view = build_view(with_result(made, replace(made.results[0], verdict=verdict)))
    assert {row.outcome for row in view.candidates[0].metrics} == {"skipped"}
    assert "failed" in {row.outcome for row in build_view(made).candidates[0].metrics}


def test_flips_that_are_not_shown_are_counted() -> None:
    block = build_view(comparison("HOLD")).candidates[0]
    assert (block.regressions.total, block.improvements.total) == (207, 41)
    assert block.regressions.note.startswith("48 of 207 are shown here")
    assert block.improvements.note.startswith("12 of 41 are shown here")


def test_unknown_code_prints_as_itself() -> None:
    made = with_codes(comparison("INVALID"), ReasonCode("COSMIC_RAYS", values={"hits": 3}))
    view = build_view(made)
    assert "COSMIC_RAYS (hits 3)" in view.sentence
    assert view.candidates[0].reasons[0].code == "COSMIC_RAYS"


def test_other_metrics_are_named_in_the_sentence() -> None:
    made = with_codes(
        comparison("INCONCLUSIVE"), ReasonCode("UNPROVABLE_N", "pooled", "degenerate")
    )
    sentence = build_view(made).sentence
    assert "within 0.5 points: degenerate output, all families: 160 pairs" in sentence


def test_several_candidates_are_headed_by_the_recommendation() -> None:
    view = build_view(comparison("SHIP", "INCONCLUSIVE", "HOLD"))
    assert view.sentence == "Ship q4: the cheapest candidate that passed. Gate: SHIP (exit 0)."
    assert [b.gate.state for b in view.candidates] == ["SHIP", "INCONCLUSIVE", "HOLD"]
    assert len({b.key for b in view.candidates}) == 3


def test_no_number_is_a_dash_with_its_reason() -> None:
    made = comparison("INCONCLUSIVE")
    none = Estimate(None, None, None, "none", 0, warnings=("no_complete_pair",))
    accuracy = replace(made.results[0].pooled.accuracy, difference=none, state=MetricState.TOO_FEW)
    block = build_view(with_accuracy(made, accuracy)).candidates[0]
    assert block.headlines[0].number.text == "–"
    assert block.headlines[0].number.note == "no prompt was answered by both"
    math = next(row for row in block.families if row.scope == "math")
    assert math.recovery.text == "–"
    assert math.recovery.note == "too few right answers of the baseline for a ratio"


def test_three_numbers() -> None:
    block = build_view(comparison("SHIP")).candidates[0]
    difference, recovery, flips = (item.number for item in block.headlines)
    assert difference.full == "−0.10 [−0.56, +0.36]"
    assert recovery.full == "99.86% [99.20, 100.51]"
    assert flips.text == "45 : 41"


def test_threats_show_faults_first_and_green_too() -> None:
    made = comparison("SHIP")
    fault = Threat("EXCLUSIONS", "fail", {"n": 2, "prompt_mismatch": 2, "only_in_baseline": 0})
    result = made.results[0]
    others = tuple(t for t in result.threats if t.code != "EXCLUSIONS")
    block = build_view(with_result(made, replace(result, threats=(*others, fault)))).candidates[0]
    assert block.threats[0].text == "excluded from pairing: 2 (prompts differ 2)"
    assert [t.level for t in block.threats].count("ok") >= 3
    texts = " ".join(t.text for t in block.threats)
    assert "cut off at max_tokens, loops apart: 1 vs 2 of 4,000" in texts
    assert "left out: code" in texts


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rule_that_often_disagrees_with_people_is_told_and_a_judge_is_not(
    language: Language,
) -> None:
    made = comparison("SHIP")
    first = replace(made.tasksets[0], agreement=0.7065, labels="TruthfulQA", scorer="references")

    def told(asked: TasksetInfo) -> list[str]:
        view = build_view(replace(made, tasksets=(asked, *made.tasksets[1:])), language)
        return [item.text for item in view.candidates[0].threats if item.code == "RULE_WEAK"]

    (text,) = told(first)
    assert {"references", "70.7%", "TruthfulQA", first.name} <= set(re.findall(r"[\w.%-]+", text))
    assert told(replace(first, scorer="judge")) == []
    assert told(replace(first, agreement=None)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_faulty_labels_and_what_was_left_out_are_said(language: Language) -> None:
    made = comparison("SHIP")
    first = replace(made.tasksets[0], faulty=4, left_out={"label_fault": 3}, revision="c0ffee" * 6)
    view = build_view(replace(made, tasksets=(first, *made.tasksets[1:])), language)
    told = {item.code: item for item in view.candidates[0].threats}
    assert {"4", "--skip-faulty"} <= set(re.findall(r"[\w-]+", told["LABEL_FAULTS"].text))
    assert told["LABEL_FAULTS"].level == "warn"
    assert first.name in told["PROMPTS_LEFT_OUT"].text
    assert "@ c0ffeec0ffee" in view.tasksets.rows[0][0]
    known = {"en": "known to be wrong", "zh": "已知有误"}[language]
    assert known in told["PROMPTS_LEFT_OUT"].text
    assert told["PROMPTS_LEFT_OUT"].level == "ok"


def test_confounded_and_unknown_threats_are_readable() -> None:
    made = comparison("SHIP", skipped=False)
    threats = (
        Threat("CONFOUNDED", "warn", {"code": "CONFIG_MISMATCH", "message": "Templates differ."}),
        Threat("SOLAR_FLARE", "warn", {"class": "X9"}),
    )
    result = replace(made.results[0], threats=threats)
    block = build_view(with_result(made, result)).candidates[0]
    assert [t.text for t in block.threats] == [
        "allowed although they differ: they did not run under the same conditions "
        "(Templates differ.)",
        "solar flare: class X9",
    ]


def test_alarm_only_families_are_marked() -> None:
    block = build_view(comparison("INCONCLUSIVE")).candidates[0]
    assert all(row.state.text.endswith("(alarm only)") for row in block.families)
    assert not block.pooled.state.text.endswith("(alarm only)")


def test_gains_compare_memory_and_speed() -> None:
    gains = {row.label: row for row in build_view(comparison("SHIP")).candidates[0].gains}
    assert gains["Weights"].change == "−37%"
    assert gains["Tokens per second"].change == "+41%"
    assert gains["Median latency"].candidate == "980 ms"


@pytest.mark.parametrize("state", ["SHIP", "HOLD", "INCONCLUSIVE", "INVALID"])
def test_chinese_says_the_same_numbers(state: str) -> None:
    english, chinese = (build_view(comparison(state), lang) for lang in ("en", "zh"))
    assert chinese.html_lang == "zh-Hans"
    assert chinese.sentence != english.sentence
    for a, b in zip(english.candidates[0].families, chinese.candidates[0].families, strict=True):
        assert (a.difference.text, a.recovery.interval) == (b.difference.text, b.recovery.interval)
    assert chinese.gate.state == english.gate.state


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        (
            ReasonCode(
                "TRUNCATION",
                values={
                    "baseline": 3,
                    "candidate": 1200,
                    "n_baseline": 4000,
                    "n_candidate": 3990,
                    "limit": 5.0,
                },
            ),
            "too many answers were cut off at max_tokens, loops apart (q8 3 of 4,000, "
            "q4 1,200 of 3,990, limit 5%)",
        ),
        (
            ReasonCode(
                "ERROR_RATE_DIFFERS",
                values={"baseline": 0, "candidate": 9, "n": 160, "p": 0.0039},
            ),
            "one leaves clearly more requests unanswered than the other (q8 0, q4 9 of 160)",
        ),
        (
            ReasonCode("FEW_CLUSTERS", "math", "accuracy", {"clusters": 4, "needed": 10}),
            "accuracy, math: only 4 independent groups of prompts (10 are needed)",
        ),
        (
            ReasonCode("PAIRING_BROKEN", values={"prompt_mismatch": 7, "only_in_baseline": 0}),
            "they were not asked the same prompts (prompts differ 7)",
        ),
        (
            ReasonCode(
                "SAME_ENDPOINT",
                values={"finding": "distinct", "message": "Both are the same weights."},
            ),
            "they look like the same endpoint twice (Both are the same weights).",
        ),
        (
            ReasonCode("SAME_ENDPOINT", values={"identical": 160, "n": 160}),
            "160 of 160 answers are word for word the same",
        ),
        (ReasonCode("BASELINE_ZERO", values={"n": 161}), "the baseline got none of 161 answers"),
        (ReasonCode("SCORERS_FAILED", values={"n": 7}), "the scorer failed on 7 answers: a fault"),
        (ReasonCode("NOTHING_PAIRED", values={"unknown_sample": 0}), "no prompt was answered"),
    ],
)
def test_invalid_reasons_carry_their_numbers(code: ReasonCode, clause: str) -> None:
    sentence = build_view(with_codes(comparison("INVALID"), code)).sentence
    assert sentence.startswith(f"q4 and q8 cannot be compared: {clause}")


def family_means(made: Comparison) -> tuple[float, float]:
    families = made.results[0].families
    before = [scope.baseline.correct / scope.baseline.n for scope in families]
    after = [scope.candidate.correct / scope.candidate.n for scope in families]
    return sum(before) / len(before), sum(after) / len(after)


def test_row_of_all_families_shows_means_that_agree_with_the_difference() -> None:
    # Families of 38, 38, 40 and 37 pairs: the mean is not the share of all answers.
    made = comparison("INVALID")
    block = build_view(made).candidates[0]
    before, after = family_means(made)
    overall = made.results[0].pooled.baseline.accuracy.value
    assert overall is not None
    assert f"{before:.1%}" != f"{overall:.1%}"
    assert (block.pooled.baseline.text, block.pooled.candidate.text) == (
        f"{before:.1%}",
        f"{after:.1%}",
    )
    assert block.pooled.label == "all families (mean)"
    drawn = block.forest.rows[-1]
    assert (drawn.label, drawn.baseline, drawn.candidate) == (
        block.pooled.label,
        block.pooled.baseline.text,
        block.pooled.candidate.text,
    )
    assert f"over all answers {overall:.1%} → " in block.headlines[1].detail


def test_families_without_pairs_do_not_enter_the_mean() -> None:
    made = comparison("SHIP")
    result = made.results[0]
    none = Estimate(None, None, None, "Wilson", 0)
    first = result.families[0]
    empty = replace(
        first,
        flips=Cells(0, 0, 0, 0),
        baseline=replace(first.baseline, n=0, accuracy=none),
        candidate=replace(first.candidate, n=0, accuracy=none),
    )
    families = (empty, *result.families[1:])
    block = build_view(with_result(made, replace(result, families=families))).candidates[0]
    rest = replace(result, families=result.families[1:])
    assert (
        block.pooled.baseline == build_view(with_result(made, rest)).candidates[0].pooled.baseline
    )
    alone = build_view(with_result(made, replace(result, families=(empty,)))).candidates[0]
    assert alone.pooled.baseline.told == "– no data"


def below_floor(needed: PromptsNeeded) -> Comparison:
    made = comparison("INCONCLUSIVE")
    accuracy = replace(
        made.results[0].pooled.accuracy, n=20, code="UNPROVABLE_N", prompts_needed=needed
    )
    return with_accuracy(made, accuracy)


def test_below_the_floor_sentence_advice_and_table_agree() -> None:
    made = below_floor(PromptsNeeded(620, 90_000, 133, 600, near_margin=True))
    made = with_codes(made, ReasonCode("UNPROVABLE_N", "pooled", "accuracy"))
    view = build_view(made)
    assert "20 pairs are too few (at least 133 needed even if no answer changes" in view.sentence
    row = next(r for r in view.candidates[0].needed if r.label == "accuracy, all families")
    assert row.note == "below the floor: too few to say more"
    rows = {r.label: int(r.equal_models.replace(",", "")) for r in view.candidates[0].needed}
    label, most = max(rows.items(), key=lambda item: item[1])
    assert most > 620
    assert view.recommendation == (
        f"Not yet: compare anew on about 620 prompts if the two are equally good "
        f"({label.split(',')[0]} needs about {most:,}), none of them asked here, in another "
        "folder: this plan has no further look."
    )


def test_below_the_floor_one_number_is_enough_when_accuracy_needs_the_most() -> None:
    made = below_floor(PromptsNeeded(2_000_020, 90_000, 133, 2_000_000, near_margin=True))
    made = with_codes(made, ReasonCode("UNPROVABLE_N", "pooled", "accuracy"))
    assert build_view(made).recommendation == (
        "Not yet: compare anew on about 2,000,020 prompts (needed for accuracy), none of them "
        "asked here, in another folder: this plan has no further look."
    )


def test_a_metric_at_its_margin_asks_for_no_prompts() -> None:
    made = comparison("INCONCLUSIVE")
    result = made.results[0]
    near = PromptsNeeded(900_160, None, 100, 900_000, near_margin=True)
    degenerate = replace(result.degenerate, code="UNDERPOWERED", prompts_needed=near)
    made = with_result(made, replace(result, degenerate=degenerate))
    view = build_view(made)
    row = next(r for r in view.candidates[0].needed if r.label.startswith("degenerate"))
    assert row.note.startswith("more prompts will not settle it")
    assert "900,000" not in view.recommendation


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_advice_names_an_option_that_does_not_exist(lang: str) -> None:
    known = {
        option for command in cli.commands.values() for p in command.params for option in p.opts
    }
    for key, word in LANGUAGES[lang].items():
        for variant in (word,) if isinstance(word, str) else word:
            assert set(re.findall(r"--[a-z][a-z0-9-]*", variant)) <= known, key


def test_sampling_is_in_a_fixed_order_without_empty_values() -> None:
    sampling = {"top_p": 0.9, "stop": (), "min_p": 0.0, "max_tokens": None, "temperature": 0.7}
    made = comparison("SHIP")
    for values in (sampling, dict(sorted(sampling.items()))):
        shown = dict(build_view(replace(made, sampling=values)).provenance)["Sampling"]
        assert shown == "temperature 0.7, top p 0.9, min p 0"


def test_long_names_give_way_to_roles_over_the_forest_plot() -> None:
    columns = build_view(comparison("SHIP")).candidates[0].forest.columns
    assert columns[1:3] == ("q8", "q4")
    made = comparison("SHIP", names=["127.0.0.1-9301-m"])
    assert build_view(made).candidates[0].forest.columns[1:3] == ("Baseline", "Candidate")


def test_transitions_are_rows_of_the_baselines_outcome() -> None:
    (block,) = build_view(comparison("SHIP")).candidates
    table = block.transitions
    assert table is not None
    assert table.columns[1:] == (
        "With q8",
        "correct with q4",
        "incorrect with q4",
        "abstained with q4",
        "Total",
    )
    assert table.rows[0] == ("facts", "correct", "780", "10", "1", "791")
    assert [row[0] for row in table.rows[::3]] == ["facts", "longform", "all families"]
    (without,) = build_view(
        replace(
            comparison("SHIP"),
            results=tuple(
                replace(
                    one,
                    pooled=replace(one.pooled, transitions=None),
                    families=tuple(replace(f, transitions=None) for f in one.families),
                )
                for one in comparison("SHIP").results
            ),
        )
    ).candidates
    assert without.transitions is None
