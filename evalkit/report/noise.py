"""The noise floor for readers: the baseline against itself, and the candidate beyond that."""

from __future__ import annotations

from evalkit.estimates import Estimate
from evalkit.noisefloor import NoiseFloor, NoiseScope
from evalkit.report import numbers
from evalkit.report.estimates import as_difference, as_percent, scope_label
from evalkit.report.model import NoiseBlock, Number, Table
from evalkit.report.words import Words
from evalkit.results import CandidateResult


def noise_block(words: Words, result: CandidateResult) -> NoiseBlock | None:
    """Return the noise floor as a sentence and a table; `None` when it was not measured."""
    noise = result.noise
    if noise is None:
        return None
    pooled = noise.pooled
    facts = noise_facts(words, noise)
    source = words(f"noise.source.{noise.source}")
    gap = "" if words.lang == "zh" else " "
    keys = ("family", "asked_twice", "noise", "same_text", "beside", "excess")
    scopes = [*noise.families, pooled] if len(noise.families) > 1 else [pooled]
    return NoiseBlock(
        lead=f"{words('noise.lead', **facts)}{gap}{source}",
        table=Table(
            words("table.noise"),
            tuple(words(f"col.{key}") for key in keys),
            tuple(_row(words, scope) for scope in scopes),
        ),
        repeat_flips=_rate(words, pooled.repeat_flips),
        same_text=_rate(words, pooled.same_text),
        candidate_flips=_rate(words, pooled.candidate_flips),
        excess=as_difference(words, pooled.excess),
    )


def noise_facts(words: Words, noise: NoiseFloor) -> dict[str, str]:
    """Return the fields that a sentence about the noise floor may use."""
    pooled = noise.pooled
    flips = _rate(words, pooled.repeat_flips)
    facts = {
        "n": numbers.count(pooled.repeat_flips.n),
        "flips": flips.full,
        "noise": words("noise.share", rate=flips.text, n=numbers.count(pooled.repeat_flips.n)),
        "same": _rate(words, pooled.same_text).text,
        "all_n": numbers.count(noise.all_flips.n),
        "all_flips": _rate(words, noise.all_flips).full,
    }
    excess = as_difference(words, pooled.excess)
    if excess.value is not None:
        facts["excess"] = excess.full
    return facts


def _row(words: Words, scope: NoiseScope) -> tuple[str, ...]:
    return (
        scope_label(words, scope.scope),
        numbers.count(scope.repeat_flips.n),
        _rate(words, scope.repeat_flips).told,
        _rate(words, scope.same_text).told,
        _rate(words, scope.candidate_flips).told,
        as_difference(words, scope.excess).told,
    )


def _rate(words: Words, estimate: Estimate) -> Number:
    return as_percent(words, estimate, numbers.digits_for(estimate.n))
