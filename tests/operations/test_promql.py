"""The reader of PromQL: what it takes Prometheus takes, and what is broken it refuses."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.operations.checking import check_document, promtool_check
from evalkit.operations.expressions import quoted
from evalkit.operations.promql import PromqlError, check_matchers, check_promql

RULE = """\
groups:
- name: g
  rules:
  - alert: A
    expr: {expr}
    for: 5m
    labels: {{severity: warning}}
    annotations: {{summary: s}}
"""
GOOD = [
    "up == 0",
    "a > 1e-3 and on (job) b",
    'sum by (job, instance) (rate(a_total{b="c\\"d",e=~"x|y"}[5m])) / 2 < -1',
    "histogram_quantile(0.9, sum by (le) (rate(a_bucket[1h30m]))) > .5",
    "max(a) > bool 0 or (b unless c)",
    "changes(vllm:x[30m]) != 0",
]
BAD = [
    "",
    "1",
    "1 > 0",
    "up == 0)",
    "(up",
    "sum by (job (a)",
    "rate(a) > 1",
    "a[5m] > 1",
    "rate(a[5x]) > 1",
    "rate(a[])",
    'a{b="c} > 1',
    "a{b=c} > 1",
    "{} > 1",
    'a{b=~"("} > 1',
    "sum(1)",
    "histogram_quantile(a, b)",
    "nosuch(a)",
    "a >",
    "a > > 1",
    "a and 1",
    "a > 5m",
    "a $ b",
    "(" * 60 + "a" + ")" * 60,
]


@pytest.mark.parametrize("text", GOOD)
def test_good_expressions_pass(text: str) -> None:
    check_promql(text)


@pytest.mark.parametrize("text", BAD)
def test_broken_expressions_are_refused(text: str) -> None:
    with pytest.raises(PromqlError):
        check_promql(text)


def test_promtool_agrees() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    quoted_yaml = [f"'{text}'" for text in GOOD]
    assert all(promtool_check(RULE.format(expr=text)) for text in quoted_yaml)
    with pytest.raises(UsageError, match="promtool"):
        promtool_check(RULE.format(expr="'up == 0)'"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "groups: []\nmore: 1",
        "groups: 3",
        "groups:\n- rules: []",
        RULE.format(expr="up ==").replace("5m", "5 minutes"),
        RULE.format(expr="up == 0").replace("for: 5m", "for: soon"),
        RULE.format(expr="up == 0").replace("severity: warning", "severity: 1"),
        RULE.format(expr="up == 0").replace("    for: 5m\n", ""),
        "groups: [",
    ],
)
def test_broken_documents_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no rules for Prometheus"):
        check_document(text)
    check_document(RULE.format(expr="up == 0"))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40))
def test_any_name_is_a_string_of_promql(name: str) -> None:
    check_promql(f"a{{b={quoted(name)}}} > 0")


@given(st.text(alphabet='up{}[]()=~"5m>,. and1', max_size=30))
def test_nothing_but_a_clear_refusal(text: str) -> None:
    try:
        check_promql(text)
    except PromqlError:
        return


def test_matchers_of_users() -> None:
    check_matchers('job="vllm",cluster=~"a|b"')
    for text in ("job=vllm", "}", 'job="a"} or up{a="b"', 'job="a"}, up{b="c"'):
        with pytest.raises(PromqlError):
            check_matchers(text)
