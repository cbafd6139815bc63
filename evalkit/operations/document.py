"""Alert rules as a file for Prometheus, with what it leaves out as comments."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from evalkit import __version__
from evalkit.alerts import AlertRule, RuleSet
from evalkit.operations.telling import engine_note, inert, why_left_out
from evalkit.report import numbers
from evalkit.report.text import one_line


class _Dumper(yaml.SafeDumper):
    """Writes expressions on several lines as they are."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else "")


_Dumper.add_representer(str, _text)


def render_rules(rules: RuleSet) -> str:
    """Return the rules as YAML."""
    group = {
        "name": f"evalkit: {inert(rules.arm)}",
        "rules": [_rule(rule) for rule in rules.rules],
    }
    body = yaml.dump(
        {"groups": [group]}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2000
    )
    head = "".join(f"# {one_line(line, 1000)}\n" for line in _head(rules))
    return f"{head}{body}"


def _head(rules: RuleSet) -> Iterator[str]:
    share = numbers.percent(rules.headroom, 0)
    yield f"Alert rules of '{rules.arm}' ({rules.engine}), written by evalkit {__version__}."
    yield (
        f"Limits: what was measured, with {share} of head-room; latencies at "
        f"p{rules.quantile * 100:g}, over {rules.window}, for {rules.hold}."
    )
    if rules.engine == "vllm":
        yield (
            "Latency limits lie on the default bounds of vLLM's histograms; with other bounds "
            "(ObservabilityConfig.custom_histogram_buckets) move them."
        )
    note = engine_note(rules)
    if note:
        yield note
    for one in rules.left_out:
        yield f"Not watched: {why_left_out(one)}."


def _rule(rule: AlertRule) -> dict[str, object]:
    return {
        "alert": rule.name,
        "expr": rule.expr,
        "for": rule.hold,
        "labels": {key: inert(text) for key, text in rule.labels.items()},
        "annotations": dict(rule.annotations),
    }
