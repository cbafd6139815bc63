"""A soak's result for readers: the sentence, what was found, tables and plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evalkit.report import numbers
from evalkit.report.flat import date, flat
from evalkit.report.performance_numbers import significant
from evalkit.report.pieces import Gate, Table
from evalkit.report.soak_model import SoakView
from evalkit.report.soak_plots import soak_plots
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.stability import Fact, Stability, StabilityTrend

# By state: the key of the gate's colours, sign and exit code.
_GATES: Final = {
    "stable": ("SHIP", "✓", 0),
    "open": ("INCONCLUSIVE", "✓", 0),
    "unstable": ("HOLD", "✗", 3),
    "unmeasured": ("INVALID", "–", 5),
}
# Without these excluded, nothing is called stable; the others follow from them.
_MAIN: Final = ("memory.", "latency")
_SHOWN: Final = 80
_MOST_FINDINGS: Final = 30


def soak_view(words: Words, found: Stability) -> SoakView:
    """Return all that a report may show of a soak."""
    opened = open_names(words, found)
    key = "open" if opened else str(found.state)
    state, icon, code = _GATES[key]
    endpoint = one_line(found.endpoint)
    findings = _more(tuple(_finding(words, found, one) for one in found.findings))
    facts = {
        "endpoint": endpoint,
        "ran": numbers.elapsed(found.ran),
        "n": numbers.count(found.n_requests),
        "failed": numbers.count(found.n_failed),
        "findings": ("" if words.lang == "zh" else " ").join(findings[:3]),
    }
    if found.state == "unmeasured":
        facts["n"] = numbers.count(found.n_requests - found.n_failed)
    shown = found.settings
    return SoakView(
        lang=words.lang,
        html_lang=words.html_lang,
        title=one_line(found.label) or endpoint,
        endpoint=endpoint,
        gate=Gate(
            state, icon, words(f"soak.state.{key}"), code, words("exit", exit=str(code))
        ),
        sentence=words(f"soak.sentence.{key}", **facts),
        open=words("soak.open", names=opened) if opened else "",
        lead=words(
            "soak.lead",
            date=date(found.created),
            concurrency=one_line(str(shown.get("concurrency", numbers.DASH))),
            prompt=_range(shown.get("prompt_tokens")),
            output=_range(shown.get("output_tokens")),
        ),
        summary=facts["findings"],
        findings=findings,
        remarks=tuple(dict.fromkeys(_remark(words, found, one) for one in found.remarks)),
        tables=tuple(t for t in (_trends(words, found), _answers(words, found),
                                 _failures(words, found)) if t.rows),
        plots=soak_plots(words, found),
        settings=tuple((one_line(k), one_line(str(v))) for k, v in flat(dict(shown))),
        warm_up_word=words("soak.chart.warm_up"),
        restart_word=words("soak.chart.restart"),
        evalkit_version=one_line(found.evalkit_version),
        ui=words.ui(),
    )  # fmt: skip


def open_names(words: Words, found: Stability) -> str:
    """Name what the time was too short for, where nothing was found; empty for nothing."""
    if found.state != "stable":
        return ""
    names = [
        trend_name(words, one.name)
        for one in found.trends
        if one.state != "steady" and one.name.startswith(_MAIN)
    ]
    return ("、" if words.lang == "zh" else ", ").join(names)


def trend_name(words: Words, name: str) -> str:
    """Name a figure that was judged."""
    return words.name("soak.name", one_line(name))


def slope_texts(words: Words, one: StabilityTrend) -> dict[str, str]:
    """Return a trend as finished strings."""
    slope = one.slope
    grows = one.name.startswith("memory.")
    size = _megabytes if grows else _percent
    unit, field = ("soak.per_minute", "size") if grows else ("soak.per_hour", "share")

    def paced(value: float | None) -> str:
        return numbers.DASH if value is None else words(unit, **{field: size(value)})

    ends = (size(slope.low), size(slope.high))
    return {
        "name": trend_name(words, one.name),
        "slope": paced(slope.value),
        "interval": numbers.interval(*ends),
        "limit": paced(one.limit).lstrip("+"),
        "rise": size(one.rise),
        "span": numbers.elapsed(one.span),
    }


def _megabytes(value: float | None) -> str:
    return numbers.DASH if value is None else f"{_signed(value / 1e6)} MB"


def _percent(value: float | None) -> str:
    return numbers.DASH if value is None else f"{_signed(value * 100)}%"


def _signed(value: float) -> str:
    text = significant(abs(value))
    if float(text.replace(",", "")) == 0:
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def _trend(found: Stability, name: str) -> StabilityTrend | None:
    return next((one for one in found.trends if one.name == name), None)


def _finding(words: Words, found: Stability, fact: Fact) -> str:
    values = {key: one_line(value) for key, value in fact.values.items()}
    facts: dict[str, str] = {**values}
    for key in ("began", "ended", "at"):
        if key in values:
            facts[key] = _clock(values[key])
    if "signs" in values:
        known = [words.name("soak.sign", sign) for sign in values["signs"].split(",")]
        facts["signs"] = ", ".join(known)
    trend = _trend(found, fact.values.get("name", ""))
    if trend is not None:
        facts |= slope_texts(words, trend)
    facts |= _counts(found, fact)
    return _told(words, f"soak.finding.{fact.code}", fact, facts)


def _counts(found: Stability, fact: Fact) -> Mapping[str, str]:
    if fact.code == "FAILURES":
        share = found.failed
        ends = numbers.interval(numbers.bare_percent(share.low), numbers.bare_percent(share.high))
        return {
            "failed": numbers.count(found.n_failed),
            "n": numbers.count(found.n_requests),
            "share": numbers.percent(share.value),
            "interval": ends,
            "kinds": _kinds(found.failures),
        }
    if fact.code == "BURST":
        for place, burst in enumerate(found.bursts):
            if str(place) == fact.values.get("place"):
                return {
                    "failed": numbers.count(burst.n_failed),
                    "n": numbers.count(burst.n_requests),
                    "kinds": _kinds(burst.kinds),
                    "pvalue": numbers.pvalue(burst.pvalue),
                }
    if fact.code == "ANSWERS":
        for one in found.answers:
            if one.prompt == fact.values.get("prompt"):
                return {
                    "pvalue": numbers.pvalue(one.pvalue),
                    "before": one_line(one.before or "", _SHOWN),
                    "after": one_line(one.after or "", _SHOWN),
                }
    return {}


def _remark(words: Words, found: Stability, fact: Fact) -> str:
    facts = {key: one_line(value) for key, value in fact.values.items()}
    for key in ("at", "ran", "asked"):
        if key in facts:
            facts[key] = _clock(facts[key])
    facts.setdefault("ran", numbers.elapsed(found.ran))
    trend = _trend(found, fact.values.get("name", ""))
    if trend is not None:
        facts |= slope_texts(words, trend)
    return _told(words, f"soak.remark.{fact.code}", fact, facts)


def _told(words: Words, key: str, fact: Fact, facts: Mapping[str, str]) -> str:
    try:
        return words(key, **facts)
    except KeyError:
        # Of another version of evalkit: better its code than nothing.
        told = ", ".join(f"{name} {value}" for name, value in fact.values.items())
        return one_line(f"{fact.code}: {told}")


def _clock(seconds: str) -> str:
    try:
        return numbers.elapsed(float(seconds))
    except ValueError:
        return seconds


def _more(findings: tuple[str, ...]) -> tuple[str, ...]:
    surplus = len(findings) - _MOST_FINDINGS
    return findings if surplus <= 0 else (*findings[:_MOST_FINDINGS], f"+ {surplus}")


def _kinds(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(kind)} {numbers.count(n)}" for kind, n in kinds.items())


def _range(value: object) -> str:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        low, high = (one_line(str(end)) for end in value)
        return low if low == high else f"{low}–{high}"
    return numbers.DASH


def _trends(words: Words, found: Stability) -> Table:
    keys = ("what", "slope", "limit", "rise", "level", "counted", "verdict")
    columns = tuple(words(f"soak.col.{key}") for key in keys)
    return Table(words("soak.table.trends"), columns, tuple(_trend_rows(words, found)), words=(6,))


def _trend_rows(words: Words, found: Stability) -> Iterator[tuple[str, ...]]:
    for one in found.trends:
        texts = slope_texts(words, one)
        level = numbers.DASH
        if one.level is not None:
            memory = one.name.startswith("memory.")
            level = numbers.size(one.level) if memory else significant(one.level)
        counted = words(
            "soak.counted",
            settled=numbers.elapsed(one.settled),
            end=numbers.elapsed(one.settled + one.span),
        )
        yield (
            texts["name"],
            f"{texts['slope']} {texts['interval']}".strip(),
            texts["limit"],
            texts["rise"],
            level,
            counted,
            words.name("soak.trend", one.state),
        )


def _answers(words: Words, found: Stability) -> Table:
    rows = tuple(
        (
            one_line(one.prompt),
            numbers.count(one.n),
            numbers.count(one.n_texts),
            numbers.pvalue(one.pvalue),
        )
        for one in found.answers
    )
    columns = tuple(words(f"soak.col.{key}") for key in ("prompt", "n", "texts", "p"))
    return Table(words("soak.table.answers"), columns, rows)


def _failures(words: Words, found: Stability) -> Table:
    rows = tuple((one_line(kind), numbers.count(n)) for kind, n in found.failures.items())
    columns = tuple(words(f"soak.col.{key}") for key in ("kind", "count"))
    return Table(words("soak.table.failures"), columns, rows)
