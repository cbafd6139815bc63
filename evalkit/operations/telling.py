"""What an alert tells the people on call: figures, where they come from, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalkit.alerts import LeftOut, RuleSet, Threshold, Watched
from evalkit.operations.engines import engine_of
from evalkit.operations.thresholds import Settings
from evalkit.report import numbers
from evalkit.report.performance_numbers import figure
from evalkit.report.text import one_line
from evalkit.report.words import Words

# What fires, how its value is written, and what to look at first.
_TOLD: Final[Mapping[Watched, tuple[str, str, str]]] = {
    "ttft": (
        "Time to first token is high",
        "{{ $value | humanizeDuration }}",
        "Look at requests that wait, and at the length of prompts: longer ones take longer.",
    ),
    "itl": (
        "The time between two tokens is high",
        "{{ $value | humanizeDuration }}",
        "Look at the load of the device, and at what else runs on it.",
    ),
    "decode": (
        "Decode speed is low",
        '{{ $value | printf "%.3g" }} tok/s',
        "Look at the load of the device, its clock and temperature, and at what else runs on it.",
    ),
    "prefill": (
        "Prefill speed is low",
        '{{ $value | printf "%.3g" }} tok/s',
        "Look at the load of the device, and at what else runs on it.",
    ),
    "throughput": (
        "Throughput is low although requests are in flight",
        '{{ $value | printf "%.3g" }} tok/s',
        "Look at preemptions and at the length of prompts: longer ones leave less for answers.",
    ),
    "memory": (
        "Resident memory is above its measured peak",
        "{{ $value | humanize1024 }}B",
        "Look for a leak, and drain the server before the system ends it.",
    ),
    "kv_cache": (
        "The KV cache is nearly full",
        "{{ $value | humanizePercentage }}",
        "Take load away, or shorten the context: what does not fit is preempted.",
    ),
    "preemptions": (
        "Requests are preempted",
        '{{ $value | printf "%.3g" }}',
        "The KV cache is too small for this load: take load away, or shorten the context.",
    ),
    "errors": (
        "Requests fail",
        "{{ $value | humanizePercentage }}",
        "Read the server's log, and roll back if a restart does not help.",
    ),
    "restarts": (
        "The server began anew",
        '{{ $value | printf "%.0f" }}',
        "Read the log of its end: memory that ran out shows there.",
    ),
    "acceptance": (
        "Fewer drafted tokens are accepted",
        "{{ $value | humanizePercentage }}",
        "Turn speculation off where it slows: draft and target may no longer belong together.",
    ),
}
_WORDS: Final[Mapping[Watched, str]] = {
    "ttft": "time to first token",
    "itl": "inter-token latency",
    "decode": "decode speed",
    "prefill": "prefill speed",
    "throughput": "throughput",
    "memory": "memory",
    "kv_cache": "KV cache",
    "preemptions": "preemptions",
    "errors": "failed requests",
    "restarts": "restarts",
    "acceptance": "acceptance of drafts",
}
_WHY: Final = {
    "NOT_MEASURED": "nothing was measured: {how}",
    "NOT_EXPORTED": "llama.cpp exports no such metric",
    "BEYOND_BUCKETS": "the limit of {wanted} lies above the last bound of the histogram ({last})",
    "TOO_MANY_FAILED": "so many requests failed while it was measured that no limit would hold",
    "READ_ELSEWHERE": (
        "the measured peak is {source}, which the server does not export; where another "
        "exporter tells it, {wanted} bytes are the limit"
    ),
}
_HOW: Final[Mapping[Watched, str]] = {
    "acceptance": "give what was measured with --acceptance",
    "memory": "no memory could be read of this endpoint",
}
_PROBE: Final = "run evalkit probe into this folder"


def annotations_of(
    limit: Threshold, source: str, rollback: str, settings: Settings
) -> Mapping[str, str]:
    """Return the annotations of a rule: Prometheus fills in its value."""
    summary, value, first = _TOLD[limit.watched]
    found = {
        "summary": f"{summary} ({{{{ $labels.instance }}}})",
        "description": f"Now {value}; the limit is {figure(limit.watched, limit.limit)}.",
        "threshold": _why(limit, settings),
        "baseline": _baseline(limit),
        "source": inert(source) if limit.evidence == "measured" else "a setting of evalkit alerts",
        "runbook": f"{first} Roll back to: {inert(rollback)}." if rollback else first,
    }
    if settings.runbook is not None:
        found["runbook_url"] = inert(settings.runbook)
    return found


def inert(text: str) -> str:
    """Write a text of others so that Prometheus's templates leave it alone.

    >>> inert("a {{ query }} b")
    'a {{"{{"}} query }} b'
    """
    return one_line(text, 300).replace("{{", '{{"{{"}}')


def why_left_out(one: LeftOut) -> str:
    """Say in one line what no rule watches, and why."""
    facts = {"how": _HOW.get(one.watched, _PROBE), **one.values}
    if "source" in facts:
        facts["source"] = Words("en").name("perf.memory", facts["source"])
    reason = _WHY[one.code].format(**{key: one_line(text) for key, text in facts.items()})
    return f"{_WORDS[one.watched]}: {reason}"


def engine_note(rules: RuleSet) -> str:
    """Say where the names are not those of the engine that was measured; else nothing."""
    known = engine_of(rules.measured_on)
    if known == rules.engine:
        return ""
    if rules.measured_on is None:
        return f"The endpoint does not tell its engine: the names of metrics are {rules.engine}'s."
    other = f"; for its own take --engine {known}" if known is not None else ""
    told = one_line(rules.measured_on)
    return f"Measured on {told}, and the names of metrics are {rules.engine}'s{other}."


def _why(limit: Threshold, settings: Settings) -> str:
    if limit.evidence == "given":
        if limit.figure is not None:
            told = figure(limit.watched, limit.figure)
            return f"{told} as given, with {numbers.percent(settings.headroom, 0)} of head-room"
        return "as set, not measured"
    base = "the figure" if limit.end is None else "the end of its 95% interval"
    if limit.watched == "errors":
        base = "its upper 95% bound"
    if limit.watched == "acceptance":
        base = "the low end of the work where it was lowest"
    told = f"{base} with {numbers.percent(settings.headroom, 0)} of head-room"
    if limit.limit != limit.wanted:
        wanted = figure(limit.watched, limit.wanted)
        told += f" is {wanted}; raised to the next bound of the histogram, which alone is exact"
    return told


def _baseline(limit: Threshold) -> str:
    if limit.figure is None:
        return "not measured"
    told = figure(limit.watched, limit.figure)
    if limit.end is not None:
        told += f" (95% interval to {figure(limit.watched, limit.end)})"
    if limit.context is not None and limit.level is not None:
        told += f", {numbers.count(limit.context)} tokens, load {limit.level:g}"
    unit = "drafted tokens" if limit.watched == "acceptance" else "requests"
    return f"{told}, {numbers.count(limit.n)} {unit}" if limit.n else told
