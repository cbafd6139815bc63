"""PromQL of each rule: what is read, against its limit, where there is traffic enough.

A comparison with NaN (no traffic) is false in PromQL, and each rule also asks for a least
amount of traffic. All is told apart by job and instance: a figure is of one server.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.alerts import Threshold
from evalkit.operations.engines import ACCEPTED, DRAFTED, GENERATED, LLAMA, RUNNING, VLLM
from evalkit.report.text import without_surrogates

_BY = "by (job, instance)"
_LONG = "30m"
_LEAST_DRAFTED = 1000
# A closed loop has a little fewer in flight than it asks for, as each one ends.
_BUSY = 0.9
_STRING = re.compile(r"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`""")
_NAMES_MODEL = re.compile(r"(?:^|,)\s*model_name\s*[=!]")


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose series are read.

    Attributes:
        model: Name under which vLLM serves the model; llama.cpp tells none.
        selector: Further label matchers.
        tokens: Completion tokens that a window must have at least.
    """

    engine: str
    model: str | None
    selector: str
    window: str
    least_requests: int
    tokens: int

    def series(self, name: str, *more: str, own: bool = True, window: str = "") -> str:
        """Return a selector; `own` series bear the model's name."""
        matchers = []
        # A selector that names the model stands for ours: both together may match nothing.
        theirs = _NAMES_MODEL.search(_STRING.sub("", self.selector))
        if own and self.engine == VLLM and self.model and not theirs:
            matchers.append(f"model_name={quoted(self.model)}")
        matchers += [part for part in (self.selector, *more) if part]
        braces = f"{{{','.join(matchers)}}}" if matchers else ""
        return f"{name}{braces}{f'[{window}]' if window else ''}"

    def summed(self, what: str, name: str, *more: str, own: bool = True, window: str = "") -> str:
        """Return e.g. the summed rate of a counter over a window."""
        inner = self.series(name, *more, own=own, window=window or self.window)
        return f"sum {_BY} ({what}({inner}))"

    def of_ours(self) -> str:
        """Keep instances that serve this model, for series that do not bear its name."""
        return f"and on (job, instance) max {_BY} ({self.series(RUNNING[self.engine])})"


def quoted(text: str) -> str:
    r"""Write a string as PromQL reads it.

    >>> print(quoted('a"b'))
    "a\"b"
    """
    plain = without_surrogates(text)
    for sign, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        plain = plain.replace(sign, escape)
    return f'"{plain}"'


def number(value: float) -> str:
    """Write a number as PromQL reads it, with six digits that say something."""
    return f"{value:.6g}"


def latency(scope: Scope, name: str, share: float, limit: Threshold) -> str:
    """A quantile of a histogram above its limit, which is a bound of that histogram."""
    rates = scope.series(f"{name}_bucket", window=scope.window)
    return _lines(
        f"histogram_quantile({share:g}, sum by (job, instance, le) (rate({rates})))",
        f"  > {number(limit.limit)}",
        _enough(scope, f"{name}_count"),
    )


def decode(scope: Scope, limit: Threshold) -> str:
    """The mean decode speed of requests below its limit: exact, since no bucket is read."""
    if scope.engine == LLAMA:
        over, under = GENERATED[LLAMA], "llamacpp:tokens_predicted_seconds_total"
        enough = _tokens(scope)
    else:
        time = "vllm:request_time_per_output_token_seconds"
        over, under, enough = f"{time}_count", f"{time}_sum", _enough(scope, f"{time}_count")
    return _lines(
        f"{scope.summed('rate', over)}",
        f"  / {scope.summed('rate', under)}",
        f"  < {number(limit.limit)}",
        enough,
    )


def prefill(scope: Scope, limit: Threshold) -> str:
    """The mean prefill speed below its limit; of llama.cpp, which has no histogram."""
    return _lines(
        scope.summed("rate", "llamacpp:prompt_tokens_total"),
        f"  / {scope.summed('rate', 'llamacpp:prompt_seconds_total')}",
        f"  < {number(limit.limit)}",
        _tokens(scope),
    )


def throughput(scope: Scope, limit: Threshold) -> str:
    """What comes out in all below its limit, while as many are in flight as were then."""
    running = scope.series(RUNNING[scope.engine], window=scope.window)
    busy = number(_BUSY * (limit.level or 1.0))
    return _lines(
        scope.summed("rate", GENERATED[scope.engine]),
        f"  < {number(limit.limit)}",
        f"and sum {_BY} (avg_over_time({running})) >= {busy}",
    )


def memory(scope: Scope, limit: Threshold) -> str:
    """Resident memory above its limit."""
    held = scope.series("process_resident_memory_bytes", own=False)
    return _lines(f"max {_BY} ({held}) > {limit.limit:.0f}", scope.of_ours())


def kv_cache(scope: Scope, limit: Threshold) -> str:
    """The KV cache nearly full."""
    used = scope.series("vllm:kv_cache_usage_perc")
    return f"max {_BY} ({used}) > {number(limit.limit)}"


def preemptions(scope: Scope) -> str:
    """Requests thrown out of a full KV cache, to be computed again."""
    return f"{scope.summed('increase', 'vllm:num_preemptions_total', window='15m')} > 0"


def errors(scope: Scope, limit: Threshold) -> str:
    """The share of requests that end in a fault of the server; three of them at least."""
    asked = 'handler=~"/v1/(chat/)?completions"'
    faults = (asked, 'status=~"5.."')
    name = "http_requests_total"
    return _lines(
        scope.summed("rate", name, *faults, own=False),
        f"  / {scope.summed('rate', name, asked, own=False)}",
        f"  > {number(limit.limit)}",
        f"and {scope.summed('increase', name, *faults, own=False, window='15m')} >= 3",
        scope.of_ours(),
    )


def restarts(scope: Scope) -> str:
    """A server that began anew: its counter too; not every vLLM tells when its process began."""
    counter = scope.series(GENERATED[scope.engine], window=_LONG)
    return f"max {_BY} (resets({counter})) > 0"


def acceptance(scope: Scope, limit: Threshold) -> str:
    """The share of drafted tokens that are accepted below its limit."""
    drafted = DRAFTED[scope.engine]
    return _lines(
        scope.summed("rate", ACCEPTED[scope.engine], window=_LONG),
        f"  / {scope.summed('rate', drafted, window=_LONG)}",
        f"  < {number(limit.limit)}",
        f"and {scope.summed('increase', drafted, window=_LONG)} >= {_LEAST_DRAFTED}",
    )


def _enough(scope: Scope, counter: str) -> str:
    return f"and {scope.summed('increase', counter)} >= {scope.least_requests}"


def _tokens(scope: Scope) -> str:
    return f"and {scope.summed('increase', GENERATED[scope.engine])} >= {scope.tokens}"


def _lines(*parts: str) -> str:
    kept: Sequence[str] = [part for part in parts if part]
    return "\n".join(kept)
