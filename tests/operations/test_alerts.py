"""Alert rules: limits from measured figures, silent at the baseline, loud at a fault."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalkit.alerts import RuleSet
from evalkit.errors import EvalKitError, UsageError
from evalkit.estimates import Estimate
from evalkit.operations.checking import check_document, promtool_check
from evalkit.operations.document import render_rules
from evalkit.operations.engines import BUCKETS
from evalkit.operations.thresholds import Settings
from evalkit.report.golive import build_golive
from evalkit.report.golive_model import CheckItem
from evalkit.report.soak import open_names
from evalkit.report.soak_store import dump_soak
from evalkit.report.words import Words
from evalkit.speculation import Acceptance, Speculation, SpeculativeArm, WorkloadArm
from evalkit.stability import Fact, Stability
from evalkit.stages.alerting import rules_of, watching
from evalkit.stages.golive import golive_of
from evalkit.stages.measured_beside import accepted_drafts, soaked
from evalkit.stages.soaking import judge
from tests.operations.watched import MODEL, probed, served, write
from tests.soak.journals import Course

FIRST = "vllm:time_to_first_token_seconds"
GAP = "vllm:inter_token_latency_seconds"
TOKEN = "vllm:request_time_per_output_token_seconds"
ASKED = 'http_requests_total{handler="/v1/chat/completions",status="%s"}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = served()
    return write(tmp_path_factory.mktemp("watched") / "q8-vs-q4", made, probed(made))


def rules(folder: Path, engine: str | None = None, **settings: Any) -> RuleSet:
    return rules_of(watching(folder, None, None), engine, Settings(**settings))


def limits(found: RuleSet) -> dict[str, float]:
    return {rule.threshold.watched: rule.threshold.limit for rule in found.rules}


def test_each_limit_is_the_measured_figure_with_headroom(folder: Path) -> None:
    found = rules(folder, acceptance=0.62, headroom=0.25)
    at = limits(found)
    # 0.55 s at most 0.5% slower: the bound above 0.69 s. 25 ms: the bound above 31 ms.
    assert (at["ttft"], at["itl"]) == (0.75, 0.05)
    # 40 tokens a second, and 44 tokens in 0.8 s; the slow ends of their intervals.
    assert at["decode"] == pytest.approx(40 / 1.005 / 1.25, rel=0.002)
    assert at["throughput"] == pytest.approx(44 / 0.8 / 1.005 / 1.25, rel=0.002)
    assert at["memory"] == 10**10
    # None of 190 failed: 95% below 3/190 or so.
    assert at["errors"] == pytest.approx(1.25 * (1 - 0.05 ** (1 / 190)), rel=1e-6)
    assert at["acceptance"] == pytest.approx(0.62 / 1.25)
    assert all(rule.threshold.limit in BUCKETS["ttft"] for rule in found.rules[:1])
    assert "raised to the next bound" in found.rules[0].annotations["threshold"]
    assert found.rules[0].annotations["baseline"] == "553 ms, 1,024 tokens, load 4, 24 requests"
    assert "Roll back to: q8 (" in found.rules[0].annotations["runbook"]
    given = {r.threshold.watched for r in found.rules if r.labels["evidence"] == "given"}
    assert given == {"kv_cache", "preemptions", "restarts", "acceptance"}


def test_what_was_not_measured_is_named_and_not_invented(folder: Path, tmp_path: Path) -> None:
    told = render_rules(rules(folder))
    assert "# Not watched: acceptance of drafts: nothing was measured" in told
    made = served()
    other = probed(made, "processes")
    silent = replace(
        other,
        points=tuple(
            replace(
                point,
                arms={
                    name: replace(
                        arm,
                        quantiles={
                            **arm.quantiles,
                            "itl": tuple(
                                replace(one, value=None, low=None, high=None)
                                for one in arm.quantiles["itl"]
                            ),
                            "ttft": tuple(
                                replace(one, value=5000.0) for one in arm.quantiles["ttft"]
                            ),
                        },
                    )
                    for name, arm in point.arms.items()
                },
            )
            for point in other.points
        ),
    )
    found = rules(write(tmp_path / "silent", made, silent))
    assert {"ttft", "itl", "memory"}.isdisjoint(limits(found))
    told = render_rules(found)
    assert "above the last bound of the histogram (2560 s)" in told
    assert "inter-token latency: nothing was measured: run evalkit probe" in told
    assert "10400000000 bytes are the limit" in told


def test_llama_cpp_has_its_own_names_and_says_what_it_lacks(tmp_path: Path) -> None:
    made = served()
    place = write(tmp_path, made, probed(made, "processes"))
    found = rules(place, "llama.cpp", selector='job="x"', acceptance=0.62)
    told = render_rules(found)
    check_document(told)
    assert "vllm:" not in told
    assert 'rate(llamacpp:tokens_predicted_seconds_total{job="x"}[5m])' in told
    assert set(limits(found)) == {"prefill", "decode", "throughput", "restarts", "acceptance"}
    assert told.count("llama.cpp exports no such metric") == 5
    assert "memory: the measured peak is resident memory of the server's processes" in told


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("vLLM", ""),
        (None, "# The endpoint does not tell its engine: the names of metrics are vllm's."),
        ("llama.cpp (x)", "names of metrics are vllm's; for its own take --engine llama.cpp."),
        ("SGLang", "# Measured on SGLang, and the names of metrics are vllm's.\n"),
    ],
)
def test_names_that_are_not_those_of_the_engine_are_told(
    engine: str | None, said: str, tmp_path: Path
) -> None:
    made = served(engine=engine)
    told = render_rules(rules(write(tmp_path, made, probed(made))))
    assert said in told
    assert ("names of metrics" in told) == bool(said)


def test_one_point_may_be_named(folder: Path) -> None:
    assert limits(rules(folder, point=(1024, 1.0)))["throughput"] < 40
    with pytest.raises(UsageError, match="1024x9 was not measured") as refused:
        rules(folder, point=(1024, 9.0))
    assert "1024x1, 1024x4" in str(refused.value.hint)


@pytest.mark.parametrize("state", ["HOLD", "INCONCLUSIVE"])
def test_without_a_ship_the_baseline_is_watched(state: str, tmp_path: Path) -> None:
    made = served(state)
    found = rules(write(tmp_path, made, probed(made)))
    assert found.arm == "q8"
    assert "Roll back" not in found.rules[0].annotations["runbook"]


def test_what_cannot_be_done_is_refused(folder: Path, tmp_path: Path) -> None:
    made = served()
    with pytest.raises(EvalKitError, match="Nothing was measured") as refused:
        rules(write(tmp_path / "bare", made, None))
    assert "evalkit probe" in str(refused.value.hint)
    other = probed(served(model="another"))
    with pytest.raises(EvalKitError, match="other builds"):
        rules(write(tmp_path / "other", made, other))
    with pytest.raises(EvalKitError, match="q9"):
        watching(folder, "q9", None)


HOSTILE = 'm"} or vector(1) #\\\n{{ query "x" }}{{{ \u202e\x07'


def test_hostile_names_stay_texts(tmp_path: Path) -> None:
    made = served(model=HOSTILE)
    made = replace(
        made, baseline=replace(made.baseline, label=HOSTILE, endpoint=made.baseline.endpoint)
    )
    text = render_rules(rules(write(tmp_path, made, probed(made))))
    check_document(text)
    body = yaml.safe_load(text)
    for rule in body["groups"][0]["rules"]:
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", rule["expr"])
        assert "vector(1)" not in outside
        for told in (*rule["annotations"].values(), *rule["labels"].values()):
            templates = re.findall(r"\{\{(.*?)\}\}", told)
            assert all(one.strip().startswith(("$", '"{{"')) for one in templates), told
    if shutil.which("promtool"):
        assert promtool_check(text)


def series(minutes: int, *, fault: bool, traffic: float = 1.0) -> Iterator[dict[str, str]]:
    """A server as it was measured, or one that is slow, full and failing from the beginning."""
    one = f'model_name="{MODEL}",engine="0"'

    def counter(name: str, each: float, labels: str = one) -> dict[str, str]:
        head, _, own = name.partition("{")
        joined = ",".join(part for part in (own.rstrip("}"), labels) if part)
        step = each * traffic
        full = f'{head}{{{joined},job="j",instance="i"}}'
        return {"series": full, "values": f"0+{step:g}x{minutes}"}

    def gauge(name: str, value: float, labels: str = one) -> dict[str, str]:
        joined = ",".join(part for part in (labels, 'job="j"', 'instance="i"') if part)
        return {"series": f"{name}{{{joined}}}", "values": f"{value:g}+0x{minutes}"}

    for name, times in ((FIRST, (0.6, 2.0)), (GAP, (0.026, 0.09))):
        yield counter(f"{name}_count", 30)
        for bound in (*BUCKETS["ttft" if name == FIRST else "itl"], "+Inf"):
            reached = times[fault] <= float(bound)
            yield counter(f'{name}_bucket{{le="{bound}"}}', 30 if reached else 0)
    yield counter(f"{TOKEN}_count", 30)
    yield counter(f"{TOKEN}_sum", 30 * (0.05 if fault else 0.025))
    made = counter("vllm:generation_tokens_total", 1500 if fault else 3294)
    if fault:
        # The server ends and begins anew.
        made["values"] = f"{made['values'].partition('x')[0]}x{minutes - 11} " + (
            made["values"].replace(f"x{minutes}", "x10")
        )
    yield made
    yield gauge("vllm:num_requests_running", 4 if traffic else 0)
    yield gauge("process_resident_memory_bytes", 12e9 if fault else 8e9, "")
    yield gauge("vllm:kv_cache_usage_perc", 0.99 if fault else 0.4)
    yield counter("vllm:num_preemptions_total", 1 if fault else 0)
    yield counter(ASKED % "2xx", 30, "")
    yield counter(ASKED % "5xx", 2 if fault else 0, "")
    yield counter("vllm:spec_decode_num_draft_tokens_total", 1000)
    yield counter("vllm:spec_decode_num_accepted_tokens_total", 300 if fault else 620)


def test_rules_are_silent_at_the_baseline_and_fire_at_a_fault(folder: Path, tmp_path: Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    found = rules(folder, acceptance=0.62)
    (tmp_path / "rules.yaml").write_text(render_rules(found), encoding="utf-8")
    every: list[dict[str, Any]] = [
        {"labels": f'{{alertname="{rule.name}"}}', "value": 1} for rule in found.rules
    ]
    # Without traffic nothing but what needs none. A few slow requests are no reason for alerts of
    # latency; four in flight from which little comes are one.
    still = [rule for rule in every if re.search("Memory|KvCache", rule["labels"])]
    few = [
        rule
        for rule in every
        if re.search("Restarted|Preemptions|Acceptance|Throughput", rule["labels"])
    ]
    cases = [
        ({"fault": False}, []),
        ({"fault": True, "traffic": 0.05}, [*still, *few]),
        ({"fault": True}, every),
        ({"fault": True, "traffic": 0.0}, still),
    ]
    tests = []
    for how, expected in cases:
        tests.append(
            {
                "interval": "1m",
                "input_series": list(series(60, **how)),
                "promql_expr_test": [
                    {
                        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                        "eval_time": "58m",
                        "exp_samples": expected,
                    }
                ],
            }
        )
    body = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(body), encoding="utf-8")
    done = subprocess.run(
        [program, "test", "rules", "test.yaml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_selector_that_names_the_model_stands_for_ours(folder: Path) -> None:
    ours = render_rules(rules(folder, selector='job="x"'))
    theirs = render_rules(rules(folder, selector='job="x", model_name=~"canary.*"'))
    assert f'model_name="{MODEL}",job="x"' in ours
    assert f'model_name="{MODEL}"' not in theirs
    assert 'model_name=~"canary.*"' in theirs
    quoted = render_rules(rules(folder, selector='job="a,model_name=b"'))
    assert f'model_name="{MODEL}"' in quoted


def test_accepted_drafts_are_watched(tmp_path: Path) -> None:
    made = served()
    found = probed(made)
    assert accepted_drafts(found, "q4") is None

    def work(accepted: int, low: float) -> WorkloadArm:
        rate = Estimate(accepted / 100, low, accepted / 100 + 0.1, "w", 100)
        told = Acceptance(rate, (), 100, accepted, 30, None, "metrics")
        return WorkloadArm(12, {}, 80.0, 64.0, told, rate, rate, {})

    arms = (
        SpeculativeArm("off", "q8", None, {"code": replace(work(0, 0.0), acceptance=None)}, {}),
        SpeculativeArm("on", "q4", 4, {"code": work(60, 0.5), "long": work(40, 0.3)}, {}),
    )
    place = write(tmp_path, made, replace(found, speculation=(Speculation(None, arms, 32, ()),)))
    limit = next(r for r in rules(place).rules if r.threshold.watched == "acceptance").threshold
    assert (limit.evidence, limit.figure, limit.end) == ("measured", 0.5, 0.3)
    assert limit.limit == pytest.approx(0.3 / 1.3)
    assert limits(rules(place, acceptance=0.8))["acceptance"] == pytest.approx(0.8 / 1.3)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_checklist_says_of_a_soak_what_the_soak_says(tmp_path: Path, lang: str) -> None:
    place = write(tmp_path / "q8-vs-q4", served(), None)
    Course(hours=2).write(tmp_path)
    found = replace(judge(tmp_path), identity={"model": MODEL})
    steady = replace(found, trends=tuple(replace(one, state="steady") for one in found.trends))
    short = replace(found, trends=tuple(replace(one, state="open") for one in found.trends))
    leaks = replace(found, state="unstable", findings=(Fact("DOWN", {"began": "9.0"}),))
    missing = Words(lang)("golive.no_soak")

    def line(soak: Stability) -> CheckItem:
        (place / "soak.json").write_bytes(dump_soak(soak))
        subject = watching(place, None, None)
        told = build_golive(golive_of(subject, None, Settings(), traffic=None, draft=False), lang)
        start = missing[:4]
        return next(one for one in told.sections[0].lines if one.text.startswith(start))

    ran = "2.0 h"
    assert line(steady) == CheckItem("do", Words(lang)("golive.soak", ran=ran))
    assert line(leaks) == CheckItem("do", Words(lang)("golive.soak.bad", ran=ran))
    names = open_names(Words(lang), short)
    assert names
    assert line(short) == CheckItem(
        "missing", Words(lang)("golive.soak.open", ran=ran, names=names)
    )
    another = {"identity": {"model": "another"}}
    for none in ({"endpoint": "q8"}, another, {"state": "unmeasured", "findings": leaks.findings}):
        assert line(replace(steady, **none)) == CheckItem("missing", missing)
    for text in ("[]", "{", '{"endpoint": "q4", "state": "stable", "ran": 1}'):
        (place / "soak.json").write_text(text, encoding="utf-8")
        assert soaked(place, watching(place, None, None).info) is None


def test_schema_of_the_rules_is_plain_json(folder: Path) -> None:
    from evalkit.cli.stats import as_plain

    assert json.loads(json.dumps(as_plain(rules(folder)), allow_nan=False))["arm"] == "q4"
