"""One candidate's part of the view-model."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from statistics import fmean
from typing import Final

from evalkit.performance import Performance
from evalkit.report import cards, numbers, tables, verdicts
from evalkit.report.capacity_store import Fits
from evalkit.report.estimates import (
    as_difference,
    as_percent,
    as_ratio,
    metric_row,
    metric_state,
    scope_label,
)
from evalkit.report.lengths import length_curves
from evalkit.report.model import (
    ArmRates,
    CandidateBlock,
    Forest,
    ForestRow,
    Headline,
    Number,
    ScopeRow,
)
from evalkit.report.noise import noise_block, noise_facts
from evalkit.report.passrates import pass_block
from evalkit.report.performance_gains import candidate_gains
from evalkit.report.performance_model import CandidateGains
from evalkit.report.readings import missing_table, policies_table, policy_rows
from evalkit.report.remedies import remedy_items
from evalkit.report.reviews import review_block
from evalkit.report.slices import slices_of
from evalkit.report.soak_threat import with_soak
from evalkit.report.text import columns, one_line
from evalkit.report.threats import threat_items
from evalkit.report.trade import unfit
from evalkit.report.verdicts import Names
from evalkit.report.words import Words
from evalkit.results import (
    POOLED,
    ArmInfo,
    ArmSummary,
    CandidateResult,
    Comparison,
    ScopeResult,
    VerdictState,
)
from evalkit.stability import Stability

_NEEDED_STATES: Final = (VerdictState.INCONCLUSIVE,)
# What fits over a column of the forest plot.
_HEAD_COLUMNS: Final = 9


def candidate_block(
    words: Words,
    comparison: Comparison,
    result: CandidateResult,
    index: int,
    performance: Performance | None = None,
    fits: Fits | None = None,
    soak: Stability | None = None,
) -> CandidateBlock:
    """Return everything that is shown about one candidate.

    Args:
        words: The catalogue.
        comparison: What it is part of.
        result: The candidate's results.
        index: Its place, which makes its key in the page unique.
        performance: How fast the arms were measured to be.
        fits: What a capacity plan says of them.
        soak: How one of them stood hours of load.
    """
    names = verdicts.names_of(comparison, result)
    info = _arm(comparison, result.endpoint)
    pooled = pooled_row(words, names, result)
    verdict = result.verdict
    policies = policy_rows(words, result)
    bought = candidate_gains(words, performance, fits, comparison, result)
    measured = bought is not None and bought.measured
    by_product = tables.gains(words, comparison, result, info, measured=measured)
    sentence = verdicts.verdict_sentence(words, names, result)
    lack = unfit(words, fits, result.endpoint) if verdict.state == VerdictState.SHIP else ""
    if lack:
        sentence = ("" if words.lang == "zh" else " ").join((sentence, lack))
    return CandidateBlock(
        key=f"c{index + 1}-{re.sub('[^a-z0-9]+', '-', names.candidate.lower()).strip('-')}",
        endpoint=names.candidate,
        label=one_line(info.label) if info is not None else names.candidate,
        title=f"{names.candidate} vs {names.baseline}",
        gate=verdicts.gate(words, verdict.state, verdict.exit_code),
        sentence=sentence,
        reasons=verdicts.reasons(words, names, result),
        headlines=_headlines(words, result, pooled),
        forest=_forest(words, names, result),
        pooled=pooled,
        families=tuple(scope_row(words, names, scope) for scope in result.families),
        metrics=tuple(
            metric_row(words, metric, valid=verdict.state is not VerdictState.INVALID)
            for metric in verdicts.metrics_of(result)
        ),
        threats=with_soak(
            words, threat_items(words, comparison, result, lack), result, comparison, soak
        ),
        gains=(*(bought.rows if bought is not None else ()), *by_product),
        gains_note=_gains_note(words, bought),
        bought="" if bought is None else bought.sentence,
        outcomes=tables.outcomes(words, names, result),
        transitions=tables.transitions(words, names, result),
        causes=tables.causes(words, result.causes),
        needed=tuple(tables.needed(words, result)) if verdict.state in _NEEDED_STATES else (),
        regressions=cards.flips(words, names.baseline, result, "regression"),
        improvements=cards.flips(words, names.baseline, result, "improvement"),
        remedies=remedy_items(words, names, result),
        slices=slices_of(words, result),
        lengths=length_curves(words, names, result),
        review=review_block(words, names, result),
        noise=noise_block(words, result),
        passes=pass_block(words, comparison, names, result),
        policies=policies,
        policies_table=policies_table(words, policies),
        missing=missing_table(words, result),
        look=asdict(result.look) if result.look is not None else None,
    )


def scope_row(words: Words, names: Names, scope: ScopeResult) -> ScopeRow:
    """Return one row of the family table."""
    digits = numbers.digits_for(scope.flips.n)
    rise = scope.hallucination
    return ScopeRow(
        scope=scope.scope,
        label=scope_label(words, scope.scope),
        n=scope.flips.n,
        n_text=numbers.count(scope.flips.n),
        baseline=as_percent(words, scope.baseline.accuracy, digits),
        candidate=as_percent(words, scope.candidate.accuracy, digits),
        difference=as_difference(words, scope.accuracy.difference),
        recovery=as_ratio(words, scope.recovery),
        flips=f"{numbers.count(scope.flips.lost)} : {numbers.count(scope.flips.gained)}",
        regressions=scope.flips.lost,
        improvements=scope.flips.gained,
        mcnemar=numbers.pvalue(scope.mcnemar_midp.pvalue),
        rates=_rates(words, names, scope),
        hallucination_difference=as_difference(words, rise.difference) if rise else None,
        state=metric_state(words, scope.accuracy),
        gated=scope.accuracy.gated,
        identical=numbers.count(scope.identical_texts),
    )


def pooled_row(words: Words, names: Names, result: CandidateResult) -> ScopeRow:
    """Return the row of all families: accuracies are means over families, as the difference is."""
    digits = numbers.digits_for(result.pooled.flips.n)
    before, after = _mean_accuracies(result)
    return replace(
        scope_row(words, names, result.pooled),
        label=words("row.pooled"),
        baseline=_bare_percent(words, before, digits),
        candidate=_bare_percent(words, after, digits),
    )


def _mean_accuracies(result: CandidateResult) -> tuple[float | None, float | None]:
    """Average the families' accuracies with equal weight; `None` where there is none."""
    found = [scope for scope in result.families if scope.flips.n]
    pairs = [(s.baseline.accuracy.value, s.candidate.accuracy.value) for s in found]
    known = [(old, new) for old, new in pairs if old is not None and new is not None]
    if not known:
        return None, None
    return fmean(old for old, _ in known), fmean(new for _, new in known)


def _bare_percent(words: Words, value: float | None, digits: int) -> Number:
    note = words("warn.no_data") if value is None else ""
    return Number(numbers.percent(value, digits), note=note, value=value)


def _rates(words: Words, names: Names, scope: ScopeResult) -> tuple[ArmRates, ArmRates] | None:
    if scope.baseline.hallucination is None or scope.candidate.hallucination is None:
        return None

    def rates(arm: str, summary: ArmSummary) -> ArmRates:
        digits = numbers.digits_for(summary.n)
        return ArmRates(
            arm=arm,
            hallucination=as_percent(words, summary.hallucination, digits),
            abstention=as_percent(words, summary.abstention, digits),
            attempted=as_percent(words, summary.hallucination_attempted, digits),
        )

    return rates(names.baseline, scope.baseline), rates(names.candidate, scope.candidate)


def _headlines(
    words: Words, result: CandidateResult, pooled: ScopeRow
) -> tuple[Headline, Headline, Headline]:
    margin = numbers.size_in_points(result.pooled.accuracy.margin)
    arms = {"baseline_rate": result.pooled.baseline, "candidate_rate": result.pooled.candidate}
    digits = numbers.digits_for(result.pooled.flips.n)
    rates = {
        key: numbers.percent(arm.accuracy.value, digits)
        for key, arm in arms.items()
        if arm.accuracy.value is not None
    }
    noise = {} if result.noise is None else noise_facts(words, result.noise)
    return (
        Headline(
            words("headline.difference"),
            pooled.difference,
            words("unit.points"),
            words("headline.difference.detail", margin=margin),
        ),
        Headline(
            words("headline.recovery"),
            pooled.recovery,
            words("unit.none"),
            words("headline.recovery.detail", **rates),
        ),
        Headline(
            words("headline.flips"),
            as_flips(pooled),
            words("unit.none"),
            words("headline.flips.detail", **{**noise, "n": pooled.n_text, "p": pooled.mcnemar}),
        ),
    )


def as_flips(row: ScopeRow) -> Number:
    """Write flips as a number without an interval."""
    return Number(row.flips)


def _forest(words: Words, names: Names, result: CandidateResult) -> Forest:
    before, after = _mean_accuracies(result)
    digits = numbers.digits_for(result.pooled.flips.n)
    pooled = replace(
        _forest_row(words, result.pooled),
        label=words("row.pooled"),
        baseline=numbers.percent(before, digits),
        candidate=numbers.percent(after, digits),
    )
    rows = (*(_forest_row(words, scope) for scope in result.families), pooled)
    heads = names
    if max(columns(names.baseline), columns(names.candidate)) > _HEAD_COLUMNS:
        heads = Names(words("role.baseline"), words("role.candidate"))
    described = " ".join(
        words(
            "forest.row",
            label=row.label,
            difference=row.difference.text,
            interval=row.difference.interval or f"({row.difference.note})",
            margin=numbers.size_in_points(row.margin),
            state=row.state.text,
        )
        for row in rows
    )
    return Forest(
        title=words("forest.title", baseline=names.baseline, candidate=names.candidate),
        description=words("forest.description", rows=described),
        columns=(
            words("forest.col.n"),
            words("forest.col.baseline", name=heads.baseline),
            words("forest.col.candidate", name=heads.candidate),
            words("forest.col.difference"),
            words("forest.col.state"),
        ),
        axis=words("forest.axis", candidate=names.candidate),
        rows=rows,
    )


def _forest_row(words: Words, scope: ScopeResult) -> ForestRow:
    metric = scope.accuracy
    digits = numbers.digits_for(scope.flips.n)
    return ForestRow(
        label=scope_label(words, scope.scope),
        n=numbers.count(scope.flips.n),
        baseline=numbers.percent(scope.baseline.accuracy.value, digits),
        candidate=numbers.percent(scope.candidate.accuracy.value, digits),
        difference=as_difference(words, metric.difference),
        low90=metric.difference_90.low,
        high90=metric.difference_90.high,
        margin=metric.margin,
        margin_label=words("forest.margin", margin=numbers.size_in_points(metric.margin)),
        state=metric_state(words, metric),
        pooled=scope.scope == POOLED,
        gated=metric.gated,
    )


def _gains_note(words: Words, bought: CandidateGains | None) -> str:
    if bought is not None and bought.measured:
        return bought.note
    by_product = words("gains.by_product")
    return by_product if bought is None else f"{bought.note} {by_product}"


def _arm(comparison: Comparison, endpoint: str) -> ArmInfo | None:
    return next((arm for arm in comparison.candidates if arm.endpoint == endpoint), None)
