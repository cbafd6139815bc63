"""`evalkit probe`: from the words of the command line to performance.json and its report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from evalkit.performance import Slo
from evalkit.probe.plan import read_levels, read_parts, read_rates, read_slo, read_tokens
from evalkit.report.performance_store import load_performance
from evalkit.report.schema import schema_of
from tests.cli.conftest import Refused, Run
from tests.servers.clocked import ClockedServer, Pace, in_thread
from tests.servers.speculating import Drafting, SpeculatingServer

QUICK = ("--repeats", "5", "--requests", "1", "--output-tokens", "4", "--concurrency", "1")


def test_two_endpoints_side_by_side(evalkit: Run, tmp_path: Path) -> None:
    a = ClockedServer(Pace(first=0.01, gap=0.004, context=100))
    b = ClockedServer(Pace(first=0.01, gap=0.002))
    with in_thread(a, b):
        words = ("--contexts", "64,1K,2K", "--slo", "ttft=9s", "-o", str(tmp_path))
        ended = evalkit("probe", a.target, b.target, *QUICK, *words)
    assert ended.code == 0, ended.err
    assert "Time to first token" in ended.out
    assert "1,024 tokens were asked for; the endpoint holds 100" in " ".join(ended.out.split())
    assert "2,048 tokens are left out" in " ".join(ended.out.split())
    body = json.loads((tmp_path / "performance.json").read_text("utf-8"))
    jsonschema.validate(body, schema_of("performance"))
    assert [point["context"] for point in body["points"]] == [64, 96]
    assert body["slo"] == {"ttft": 9.0, "itl": None, "e2e": None}


def test_json_is_the_file_and_prefixes_are_shared_on_purpose(evalkit: Run, tmp_path: Path) -> None:
    server = ClockedServer(Pace(first=0.002, gap=0.001))
    with in_thread(server):
        words = ("--contexts", "64", "--prefix-cache", "--json", "-o", str(tmp_path))
        ended = evalkit("probe", server.target, *QUICK, *words)
    assert ended.json == json.loads((tmp_path / "performance.json").read_text("utf-8"))
    assert "PREFIX_CACHE" in {remark["code"] for remark in ended.json["remarks"]}
    assert len({one.prompt[:150] for one in server.streamed}) == 1
    assert len({one.prompt for one in server.streamed}) == len(server.streamed)


def test_speculation_on_and_off_gives_figures_and_routes(evalkit: Run, tmp_path: Path) -> None:
    pace = Pace(first=0.003, gap=0.001, context=4096)
    off, on = SpeculatingServer(pace, Drafting()), SpeculatingServer(pace, Drafting((2, 0, 3)))
    words: tuple[str | Path, ...] = ("--contexts", "64", "--requests", "1", "--output-tokens", "12")
    words += ("--concurrency", "1,2", "--prompts", "2", "--languages", "en", "-o", str(tmp_path))
    with in_thread(off, on):
        parts = (f"on={on.target}", f"off={off.target}")
        ended = evalkit("probe", "--speculation", *parts, *words)
    assert ended.code == 0, ended.err
    shown = " ".join(ended.out.split())
    assert "Which requests should speculate" in shown
    assert "Texts at temperature 0" in shown
    body = json.loads((tmp_path / "performance.json").read_text("utf-8"))
    jsonschema.validate(body, schema_of("performance"))
    assert [arm["label"] for arm in body["speculation"][0]["arms"]] == ["off", "on"]
    assert load_performance(tmp_path) is not None
    text = (tmp_path / "routing.yaml").read_text("utf-8")
    routes = yaml.safe_load(text)
    jsonschema.validate(routes, schema_of("routing"))
    (table,) = routes["tables"]
    assert table["arms"]["on"]["depth"] == 3
    cases = {route["case"]: route for route in table["routes"]}
    assert cases["interactive"]["choice"] == "on"
    assert "decode speed ÷ off: on " in cases["interactive"]["why"]
    # 64 tokens are no long prompt: nothing is said of one.
    assert cases["long_prompt_short_answer"]["choice"] is None
    assert cases["long_prompt_short_answer"]["why"] == "not measured"


def test_an_endpoint_that_answers_nothing_is_invalid(evalkit: Run, tmp_path: Path) -> None:
    server = ClockedServer(Pace(), lambda number, pace: Pace(status=500))
    with in_thread(server):
        ended = evalkit("probe", server.target, *QUICK, "--contexts", "64", "-o", str(tmp_path))
    assert ended.code == 5
    assert "answered nothing" in ended.out
    assert len(server.streamed) == 2, "what fails twice is not asked thirty times more"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--contexts", "1X"), "'1X' is not a number of tokens"),
        (("--contexts", "0.3K"), "not a number of tokens"),
        (("--contexts", ""), "empty place"),
        (("--concurrency", "0"), "no list of numbers"),
        (("--concurrency", "1,,2"), "empty place"),
        (("--rate", "-1"), "no list of requests a second"),
        (("--slo", "ttft=500"), "is not a target"),
        (("--slo", "ttft=1s,ttft=2s"), "is not a target"),
        (("--slo", "speed=1s"), "is not a target"),
        (("--slo", "itl=0ms"), "is no time"),
        (("--repeats", "4"), "4 is not in the range"),
        (("--price", "0"), "no price of an hour"),
        (("--speculation", "q4"), "each endpoint says what it is"),
        (("--prompts", "7"), "7 is not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    words: tuple[str, str], said: str, refused: Refused
) -> None:
    refused(["probe", "q8", *words], [said])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("off=q8",), "lacks an endpoint that speculates"),
        (("on=q8", "deep=q4"), "lacks off=..."),
        (("on=q8", "on=q4"), "'on' is given twice"),
        (("on=q8", "off=q8"), "given twice"),
        (("int4/on=q8", "int4/off=q4", "fp8/off=f16"), "that speculates of fp8"),
        (("on=q8", "q4"), "each endpoint says what it is"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    words: tuple[str, ...], said: str, refused: Refused
) -> None:
    refused(["probe", "--speculation", *words], [said])


def test_words_for_parts() -> None:
    assert read_parts(["http://a/v1?x=1#m"]) == (("http://a/v1?x=1#m",), ((None, "on"),))
    assert read_parts(["on=http://a#m", "off=b"]) == (
        ("b", "http://a#m"), ((None, "off"), (None, "on")),
    )  # fmt: skip
    targets, labels = read_parts(["int4/on=a", "fp8/on=c", "int4/off=b", "fp8/off=d"])
    assert targets == ("b", "a", "d", "c")
    assert labels == (("int4", "off"), ("int4", "on"), ("fp8", "off"), ("fp8", "on"))


def test_words_for_sizes() -> None:
    assert read_tokens("4k,1K, 64K,1024") == (1024, 4096, 65536)
    assert read_levels("4,1,4") == (1, 4)
    assert read_rates("2,0.5") == (0.5, 2.0)
    assert read_slo("ttft=500ms, itl=50ms,e2e=1.5s") == Slo(ttft=0.5, itl=0.05, e2e=1.5)
