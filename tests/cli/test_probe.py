"""`evalkit probe`: from the words of the command line to performance.json and its report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from evalkit.performance import Slo
from evalkit.probe.plan import read_levels, read_rates, read_slo, read_tokens
from evalkit.report.schema import schema_of
from tests.cli.conftest import Refused, Run
from tests.servers.clocked import ClockedServer, Pace, in_thread

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
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    words: tuple[str, str], said: str, refused: Refused
) -> None:
    refused(["probe", "q8", *words], [said])


def test_words_for_sizes() -> None:
    assert read_tokens("4k,1K, 64K,1024") == (1024, 4096, 65536)
    assert read_levels("4,1,4") == (1, 4)
    assert read_rates("2,0.5") == (0.5, 2.0)
    assert read_slo("ttft=500ms, itl=50ms,e2e=1.5s") == Slo(ttft=0.5, itl=0.05, e2e=1.5)
