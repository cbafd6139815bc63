"""`evalkit stats`: the numbers for people and for programs, and what it refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.cli.main import cli
from evalkit.results import MetricState
from tests.cli.conftest import Refused, Run


def stats(*words: str) -> str:
    result = CliRunner().invoke(
        cli, ["stats", *words], catch_exceptions=False, standalone_mode=False
    )
    return result.stdout


def strict_json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_people_read_points_and_percent(evalkit: Run) -> None:
    ended = evalkit("stats", "1240", "20", "35", "24")
    assert ended.code == 0
    assert ended.err == ""
    # Golden rows 18 and 29, in points.
    assert "Tango score 95%                       −1.14 [−2.30, −0.04]" in ended.out
    assert "Tango score 90%                       −1.14 [−2.10, −0.22]" in ended.out
    assert "p = 0.0697  z = 1.478" in ended.out
    assert "baseline right                         1,275 = 96.66%" in ended.out
    assert "candidate right                        1,260 = 95.53%" in ended.out
    assert "35 losses, 20 gains" in ended.out


def test_programs_read_fractions() -> None:
    body = strict_json(stats("1240", "20", "35", "24", "--json"))
    assert body["difference"]["low"] == pytest.approx(-0.023028, abs=1e-6)
    assert body["difference_90"]["confidence_level"] == 0.9
    assert body["noninferiority"]["pvalue"] == pytest.approx(0.069739, abs=1e-6)
    assert body["margin"] == 0.02
    assert body["state"] == "worse, size unresolved"
    assert body["needed"]["floor"] == 133
    assert body["conclusion"].startswith("At a margin of 2 points the candidate is worse")


def test_what_is_no_gate_is_marked() -> None:
    lines = stats("1240", "30", "21", "28").splitlines()
    for method in ("Newcombe", "Agresti-Min", "Bonett-Price 95%", "Wald"):
        assert "cross-check" in next(line for line in lines if method in line)
    assert "do not use" in next(line for line in lines if "unpaired" in line)
    assert any(line.startswith("Second opinions, never the gate") for line in lines)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ("900 60 20 20", "the candidate is superior: the 95% interval lies above zero"),
        ("1240 30 21 28", "the candidate is non-inferior: a loss of 2 points or more is ruled out"),
        ("9000 200 300 500", "is non-inferior but measurably worse: a loss of 2 points or more"),
        ("800 10 60 130", "the candidate is inferior: the loss is more than 2 points (p < 0.0001)"),
        ("45 0 0 5", "50 pairs can never prove 2 points from equal answers: even with no flip, at"),
        ("350 30 30 90", "if the two are truly equal, 1,903 pairs decide with 80% chance"),
        ("1240 20 35 24", "if the difference is as seen, 3,638 pairs decide with 80% chance"),
        ("1000 20 40 0", "is worse, size unresolved"),
        ("9 0 0 0", "9 pairs are too few pairs: nothing is decided on fewer than 10"),
        ("0 0 1 0", "1 pair is too few pairs"),
    ],
)
def test_the_last_line_says_what_the_counts_show(counts: str, words: str) -> None:
    assert words in stats(*counts.split()).splitlines()[-1]


def test_a_difference_at_the_margin_is_not_settled_by_more_pairs() -> None:
    # 20 of 1000 net losses are just the margin.
    text = stats("900", "10", "30", "60")
    assert "no number of pairs decides" in text
    assert "so near the margin that more pairs will not settle it" in text.splitlines()[-1]


def test_a_refused_ratio_says_why() -> None:
    text = stats("2", "1", "1", "96")
    assert "not given: under 10% or 30 right answers of the baseline" in text
    assert "log ratio" not in text


def test_margins_are_points() -> None:
    body = strict_json(stats("900", "7", "12", "81", "--margin", "1", "--json"))
    # Golden row 34, as losses and gains of "did not hallucinate".
    assert body["noninferiority"]["pvalue"] == pytest.approx(0.138797, abs=1e-6)
    assert "At a margin of 0.5 points" in stats("1240", "30", "21", "28", "--margin", "0.5")
    assert "At a margin of 1 point the" in stats("900", "7", "12", "81", "--margin", "1")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["5", "-1", "2", "3"], ["B counts pairs", "'-1' is negative"]),
        (["5.5", "1", "2", "3"], ["N11", "'5.5' is not a whole number"]),
        (["5", "1", "x", "3"], ["C counts pairs", "'x'"]),
        (["5", "1", "2", "1e3"], ["N00", "'1e3'"]),
        (["0", "0", "0", "0"], ["All four counts are zero"]),
        (["1", "2", "3"], ["Four counts are needed, not 3", "evalkit stats N11 B C N00"]),
        ([], ["Four counts are needed, not 0"]),
        (["1", "2", "3", "4", "5"], ["not 5"]),
        (["1", "2", "3", "4", "--margin", "0"], ["--margin is 0"]),
        (["1", "2", "3", "4", "--margin", "-2"], ["--margin is -2"]),
        (["1", "2", "3", "4", "--margin", "100"], ["--margin is 100"]),
        (["1", "2", "3", "4", "--margin", "nan"], ["--margin is nan"]),
        (["1", "2", "3", "4", "--margn", "2"], ["--margn", "--margin"]),
        (["9" * 400, "2", "3", "4"], ["N11 has 400 digits"]),
        ([str(10**12), "1", "0", "0"], ["more than 1,000,000,000,000 pairs"]),
    ],
)
def test_bad_counts_are_one_sentence(
    words: list[str], expected: list[str], refused: Refused
) -> None:
    refused(["stats", *words], expected)


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(*[st.one_of(st.integers(0, 3), st.integers(0, 10**7))] * 4).filter(any),
    st.sampled_from(["0.01", "2", "50", "99"]),
)
def test_any_table_is_printed_without_negative_zero_or_broken_json(
    counts: tuple[int, ...], margin: str
) -> None:
    words = [*map(str, counts), "--margin", margin]
    text = stats(*words)
    assert not re.search(r"[-−]0+(\.0+)?(?![\d.])", text), text
    assert "nan" not in text
    body = stats(*words, "--json")
    assert "-0.0," not in body
    assert strict_json(body)["state"] in set(MetricState)
