"""The one view-model: `comparison.json` as finished strings and plot numbers.

HTML, console, Markdown, JUnit and `--json` are made from it alone, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from evalkit.capacities import StoredCapacity
from evalkit.performance import Performance
from evalkit.report import numbers, verdicts
from evalkit.report.blocks import candidate_block
from evalkit.report.capacity_store import Fits, fits_of
from evalkit.report.estimates import scope_label
from evalkit.report.facts import detail
from evalkit.report.flat import HASH_LENGTH, date, flat, identity_value, iso, value_text
from evalkit.report.judge import judge_facts
from evalkit.report.model import ArmCard, CandidateBlock, Table, View
from evalkit.report.pareto import pareto_table
from evalkit.report.performance import performance_block
from evalkit.report.performance_gains import other_builds
from evalkit.report.performance_model import PerformanceBlock
from evalkit.report.release import release_block
from evalkit.report.soak import soak_view
from evalkit.report.soak_model import SoakView
from evalkit.report.soak_threat import of_comparison, soak_warning
from evalkit.report.text import one_line
from evalkit.report.trade import unfit
from evalkit.report.words import Words
from evalkit.results import ArmInfo, Comparison, VerdictState
from evalkit.stability import Stability
from evalkit.types import Sampling

_METHODS: Final = (
    "decision",
    "paired",
    "pooled",
    "recovery",
    "rates",
    "flips",
    "noise",
    "passes",
    "hallucination",
    "missing",
    "plans",
    "slices",
)
_SHOWN_FIRST: Final = (
    "model",
    "engine",
    "quantization",
    "base_url",
    "context_length",
    "template_hash",
    "weights_hash",
    "weights_bytes",
)
_NOTE_LENGTH: Final = 2000


def build_view(
    comparison: Comparison,
    lang: str = "en",
    performance: Performance | None = None,
    capacity: StoredCapacity | None = None,
    soak: Stability | None = None,
) -> View:
    """Return all that a report may show.

    Args:
        comparison: The content of `comparison.json`.
        lang: `en` or `zh`.
        performance: The content of `performance.json`, where it lies beside.
        capacity: The content of `capacity.json`, likewise.
        soak: The content of `soak.json`, the same.

    Raises:
        UnknownNameError: For a language without a catalogue.
    """
    words = Words(lang)
    others = other_builds(performance, comparison)
    if others:
        performance = None
    notes = [words("perf.other_build", endpoint=one_line(name)) for name in others]
    if soak is not None and not of_comparison(soak, comparison):
        notes.append(words("soak.other_build", endpoint=one_line(soak.endpoint)))
        soak = None
    soaked = None if soak is None else soak_view(words, soak)
    fits = None if capacity is None else fits_of(capacity, comparison)
    blocks = tuple(
        candidate_block(words, comparison, result, index, performance, fits, soak)
        for index, result in enumerate(comparison.results)
    )
    advice = _advice(words, comparison, blocks, fits, soaked)
    trade = _trade(comparison, blocks)
    state = verdicts.overall_state(comparison)
    baseline = one_line(comparison.baseline.endpoint)
    if len(blocks) == 1:
        sentence = blocks[0].sentence
    else:
        gate = verdicts.gate_sentence(words, state, comparison.exit_code)
        sentence = _joined(words, advice, gate)
    recommended = comparison.recommendation.endpoint
    return View(
        lang=lang,
        html_lang=words.html_lang,
        title=f"{', '.join(block.endpoint for block in blocks)} vs {baseline}",
        subject=one_line(str(comparison.baseline.identity.get("model") or "")),
        gate=verdicts.gate(words, state, comparison.exit_code),
        sentence=sentence,
        recommendation=_joined(words, advice, trade),
        trade=trade if len(blocks) > 1 else "",
        action=comparison.recommendation.action,
        recommended=one_line(recommended) if recommended is not None else None,
        baseline=baseline,
        candidates=blocks,
        arms=tuple(_arms(words, comparison)),
        provenance=tuple(_provenance(words, comparison)),
        tasksets=_tasksets(words, comparison),
        skipped=tuple(
            words(
                "skipped",
                taskset=one_line(item.taskset),
                family=scope_label(words, item.family),
                reason=one_line(item.reason),
            )
            for item in comparison.skipped
        ),
        notes=(
            *(one_line(note, _NOTE_LENGTH) for note in comparison.notes),
            *notes,
            *_unclear(words, fits),
        ),
        methods=tuple(
            (words(f"method.{m}.name"), words(f"method.{m}"))
            for m in _METHODS
            if m != "passes" or any(block.passes for block in blocks)
        ),
        details=tuple(_details(words, comparison)),
        created=date(comparison.created),
        timestamp=iso(comparison.created),
        evalkit_version=one_line(comparison.evalkit_version),
        policy_hash=one_line(comparison.policy_hash),
        redacted=words("redacted") if comparison.redacted else "",
        release=release_block(words, comparison.against),
        performance=_performance(words, comparison, performance, fits),
        soak=soaked,
        ui=words.ui(),
    )


def _performance(
    words: Words, comparison: Comparison, found: Performance | None, fits: Fits | None
) -> PerformanceBlock | None:
    if found is None:
        return None
    return performance_block(words, found, pareto_table(words, comparison, found, fits))


def _unclear(words: Words, fits: Fits | None) -> Iterator[str]:
    for code, facts in () if fits is None else fits.unclear:
        yield words(f"fits.{code}", **{key: one_line(text) for key, text in facts.items()})


def _advice(
    words: Words,
    comparison: Comparison,
    blocks: Sequence[CandidateBlock],
    fits: Fits | None,
    soaked: SoakView | None,
) -> str:
    """Return what to do, and where that does not fit or does not last."""
    wanted = comparison.recommendation.endpoint
    advice = verdicts.recommendation(words, comparison)
    warning = soak_warning(words, soaked, None if wanted is None else one_line(wanted))
    # The sentence of a single candidate says what does not fit already.
    if wanted is None or (len(blocks) == 1 and wanted != comparison.baseline.endpoint):
        return _joined(words, advice, warning)
    return _joined(words, advice, unfit(words, fits, wanted), warning)


def _trade(comparison: Comparison, blocks: Sequence[CandidateBlock]) -> str:
    """Return what the candidate in question buys, at what price."""
    wanted = comparison.recommendation.endpoint
    pairs = list(zip(blocks, comparison.results, strict=True))
    chosen = [block for block, result in pairs if result.endpoint == wanted]
    for block in chosen or (blocks if len(blocks) == 1 else ()):
        if block.gate.state != VerdictState.INVALID:
            return block.bought
    return ""


def _joined(words: Words, *sentences: str) -> str:
    return ("" if words.lang == "zh" else " ").join(filter(None, sentences))


def _arms(words: Words, comparison: Comparison) -> Iterator[ArmCard]:
    yield _arm(words, "role.baseline", comparison.baseline)
    for arm in comparison.candidates:
        yield _arm(words, "role.candidate", arm)


def _arm(words: Words, role: str, arm: ArmInfo) -> ArmCard:
    identity = dict(arm.identity)
    engine = [identity.get("engine"), identity.pop("engine_version", None)]
    identity["engine"] = " ".join(str(part) for part in engine if part) or None
    facts = [(name, identity.pop(name, None)) for name in _SHOWN_FIRST]
    shown = [
        (words(f"fact.{name}"), identity_value(name, value))
        for name, value in facts
        if value not in (None, "")
    ]
    answered = words(
        "answered", answered=numbers.count(arm.n_answered), asked=numbers.count(arm.n_requests)
    )
    shown.append((words("fact.requests"), answered))
    if arm.errors:
        shown.append((words("fact.errors"), detail(arm.errors)))
    shown += [
        (one_line(name), value_text(value))
        for name, value in sorted(identity.items())
        if name not in ("kind",) and value not in (None, "", {}, [])
    ]
    return ArmCard(words(role), one_line(arm.endpoint), one_line(arm.label), tuple(shown))


def _provenance(words: Words, comparison: Comparison) -> Iterator[tuple[str, str]]:
    identity = comparison.baseline.identity
    engine = [identity.get("engine"), identity.get("engine_version")]
    text = " ".join(str(part) for part in engine if part)
    yield words("prov.engine"), one_line(text) or numbers.DASH
    sampling = _sampling(comparison.sampling)
    yield words("prov.sampling"), detail(sampling) or numbers.DASH
    seed = comparison.sampling.get("seed", comparison.settings.get("seed"))
    yield words("prov.seed"), one_line(str(seed)) if seed is not None else numbers.DASH
    yield words("prov.policy"), one_line(comparison.policy_hash)[:HASH_LENGTH]
    yield words("prov.version"), one_line(comparison.evalkit_version)
    yield words("prov.created"), date(comparison.created)


def _sampling(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was set, in the order of the type; a stored mapping comes back in another."""
    order = [field.name for field in fields(Sampling) if field.name not in ("seed", "max_tokens")]
    order += sorted(values.keys() - set(order) - {"seed"})
    return {key: values[key] for key in order if values.get(key) not in (None, "", (), [], {})}


def _tasksets(words: Words, comparison: Comparison) -> Table:
    rows = tuple(
        (
            f"{one_line(item.name)} v{item.version}"
            + (f" @ {one_line(item.revision)[:HASH_LENGTH]}" if item.revision else ""),
            scope_label(words, item.family),
            numbers.count(item.n),
            ", ".join(
                f"{words.name('language', one_line(lang))} {numbers.count(n)}"
                for lang, n in item.languages.items()
            ),
            numbers.size_in_points(item.margin),
            numbers.count(item.max_tokens),
            f"{one_line(item.scorer)} v{item.scorer_version}",
            one_line(item.content_hash)[:HASH_LENGTH],
        )
        for item in comparison.tasksets
    )
    keys = ("taskset", "family", "samples", "languages", "margin", "max_tokens", "scorer", "hash")
    columns = tuple(words(f"col.{key}") for key in keys)
    return Table(words("table.tasksets"), columns, rows, words=(1, 3, 6, 7))


def _details(
    words: Words, comparison: Comparison
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    yield words("detail.judge"), tuple(judge_facts(words, comparison))
    policy_hash = (words("fact.hash"), one_line(comparison.policy_hash))
    yield words("detail.policy"), (policy_hash, *flat(comparison.policy))
    yield words("detail.sampling"), flat(comparison.sampling)
    yield words("detail.settings"), flat(comparison.settings)
    walls = tuple(
        (one_line(arm.endpoint), numbers.seconds(arm.wall_seconds)) for arm in comparison.timing
    )
    yield words("detail.timing"), walls
