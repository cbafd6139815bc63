"""`evalkit plan`: what a run costs and can prove, from a configuration or an earlier run."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from evalkit.cli.options import share
from evalkit.errors import UsageError
from evalkit.report.store import dump_comparison
from tests.cli.conftest import Refused, Run
from tests.quiz import question, script, write_quiz
from tests.report.fixtures import comparison
from tests.servers.fake import FakeServer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6%", 0.06), ("6 %", 0.06), ("0.06", 0.06), (".06", 0.06), ("6", 0.06), ("6.", 0.06),
        ("0", 0.0), ("0.5", 0.5), ("0.5%", 0.005), ("1", 0.01), ("1%", 0.01), ("100", 1.0),
        ("100%", 1.0), ("0.999", 0.999),
    ],
)  # fmt: skip
def test_a_share_is_percent_from_one_on_and_with_the_sign(text: str, value: float) -> None:
    assert share("--flips", text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "%", "six", "-6", "6%%", "101", "100.5%", "nan", "inf", "1e1"]
)
def test_what_is_no_share_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(UsageError, match="--flips") as caught:
        share("--flips", text)
    assert "below 1" in str(caught.value)


def test_fifty_prompts_are_told_before_anything_is_spent(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 50)
    ended = evalkit("plan", "-t", quiz, "--margin", "2", "--flips", "6%")
    assert ended.code == 0, ended.err
    assert (
        "These 50 prompts can never prove 2 points of pooled accuracy from equal answers: even "
        "with no flip, at least 133 are needed."
    ) in ended.out
    assert "even identical endpoints do not end in SHIP" in ended.out


def test_what_it_costs(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 100)
    words = (
        "plan",
        "-t",
        str(quiz),
        "-n",
        "60",
        "--epochs",
        "2",
        "--arms",
        "3",
        "--aa",
        "0",
        "--json",
    )
    cost = evalkit(*words, "--rate", "120").json["cost"]
    assert cost["requests"] == 3 * 60 * 2
    # The quiz allows 16 tokens an answer.
    assert cost["completion_tokens"] == 3 * 60 * 2 * 16
    assert cost["completions_measured"] is False
    assert cost["wall_seconds"] == pytest.approx(3 * 60 * 2 * 16 / 120)
    # Four characters a token: no question is shorter or longer than these two.
    least, most = len(question(0)) / 4, len(question(99)) / 4
    assert 360 * least <= cost["prompt_tokens"] <= 360 * most
    assert evalkit(*words).json["cost"]["wall_seconds"] is None


def test_large_sets_gate_and_reach_the_sizes_of_the_table(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 1000)
    body = evalkit("plan", "-t", quiz, "--flips", "6", "--json").json
    rows = {(row["metric"], row["scope"]): row for row in body["metrics"]}
    assert {(key, row["gated"]) for key, row in rows.items()} == {
        (("accuracy", "pooled"), True),
        (("hallucination", "pooled"), True),
        (("degenerate", "pooled"), True),
        (("accuracy", "facts"), True),
        (("hallucination", "facts"), True),
    }
    assert rows["accuracy", "pooled"]["needed"] == 982
    assert rows["accuracy", "pooled"]["power"] == pytest.approx(0.807, abs=0.02)
    assert rows["accuracy", "facts"]["needed"] == 188
    assert rows["degenerate", "pooled"]["floor"] == 539
    assert body["identical_endpoints_ship"] is True
    assert body["two_stage"]["boundary_2"] == pytest.approx(1.659655, abs=1e-6)
    ended = evalkit("plan", "-t", quiz, "--flips", "6", "--power", "90")
    assert "1,349 give 90%" in ended.out  # golden row 38: 1348.01


def test_margin_and_power_win_over_a_policy_file(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 50)
    (tmp_path / "policy.yaml").write_text("margins: {accuracy: 5, families: {facts: 3}}\n")
    body = evalkit(
        "plan", "-t", quiz, "--policy", "policy.yaml", "--margin", "1", "--power", "0.9", "--json"
    ).json
    rows = {(row["metric"], row["scope"]): row for row in body["metrics"]}
    assert rows["accuracy", "pooled"]["margin"] == pytest.approx(0.01)
    assert rows["accuracy", "facts"]["margin"] == pytest.approx(0.03)
    assert rows["accuracy", "facts"]["gated"] is True
    assert body["power"] == 0.9


def test_an_earlier_comparison_gives_flips_tokens_and_speed(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 60)
    with FakeServer(script(60)) as a, FakeServer(script(60, wrong=range(6))) as b:
        ended = evalkit("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out")
        assert ended.code in (3, 4), ended.err
    body = evalkit("plan", "out", "--json").json
    assert body["flips_from"] == "measured"
    rows = {(row["metric"], row["scope"]): row for row in body["metrics"]}
    # Six of sixty flipped, and one is added; so the size is the one that the report names.
    assert rows["accuracy", "pooled"]["flip_rate"] == pytest.approx(7 / 62)
    assert rows["degenerate", "pooled"]["flip_rate"] == pytest.approx(1 / 62)
    pooled = json.loads((tmp_path / "out" / "comparison.json").read_text())["results"][0]["pooled"]
    needed = pooled["accuracy"]["prompts_needed"]
    assert rows["accuracy", "pooled"]["needed"] == needed["equal_models"]
    assert rows["accuracy", "pooled"]["floor"] == needed["floor"]
    assert rows["accuracy", "pooled"]["prompts"] == 60
    assert body["cost"]["requests"] == 126, "six of them repeats of the baseline"
    assert body["cost"]["prompts_measured"] is True
    assert body["cost"]["completions_measured"] is True
    assert body["cost"]["tokens_per_second"] > 0

    # Its policy is taken with it; flags change what they name.
    other = evalkit("plan", "out", "--margin", "3", "--flips", "2%", "--json").json
    assert other["flips_from"] == "given"
    first = other["metrics"][0]
    assert (first["margin"], first["flip_rate"]) == (pytest.approx(0.03), pytest.approx(0.02))

    # Other prompts at the measured rates.
    larger = evalkit("plan", "out", "-t", write_quiz(tmp_path / "more", 600), "--json").json
    assert larger["metrics"][0]["prompts"] == 600
    assert larger["metrics"][0]["flip_rate"] == pytest.approx(7 / 62)

    # One run has no flips to measure.
    run = next((tmp_path / "out" / "runs").iterdir())
    alone = evalkit("plan", run, "--json").json
    assert alone["flips_from"] == "assumed"
    assert alone["cost"]["prompts_measured"] is True
    assert alone["cost"]["requests"] == 126


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--flips", "120%"], ["--flips", "more than 100%"]),
        (["--flips", "-3"], ["--flips", "'-3'"]),
        (["--power", "1"], ["--power", "between 50% and 100%"]),
        (["--power", "100%"], ["--power"]),
        (["--rate", "0"], ["--rate is 0"]),
        (["--rate", "nan"], ["--rate is nan"]),
        (["--margin", "0"], ["margins.accuracy"]),
        (["--arms", "0"], ["--arms"]),
        (["nowhere"], ["'nowhere' does not exist"]),
        (["."], ["neither a run folder nor a comparison folder"]),
        (["-t", "fact"], ["Unknown taskset 'fact'", "facts"]),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], expected: list[str], refused: Refused) -> None:
    refused(["plan", *words], expected)


def test_the_chart_is_a_page_of_its_own_with_every_number(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 50)
    ended = evalkit("plan", "-t", quiz, "--html", "new/plan.html")
    page = (tmp_path / "new" / "plan.html").read_text(encoding="utf-8")
    assert page.count("<polyline") == 4
    body = page[page.index("<pre") : page.index("</pre>")]
    for line in ended.out.splitlines():
        assert html.escape(line) in body
    (tmp_path / "file").write_text("x")
    assert evalkit("plan", "-t", quiz, "--html", "file/plan.html").code == 2


@pytest.mark.parametrize(
    ("key", "value"), [("margin", 0), ("margin", 2), ("n", -5)], ids=["zero", "points", "negative"]
)
def test_a_damaged_comparison_is_one_sentence(
    evalkit: Run, tmp_path: Path, key: str, value: int
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    raw = json.loads(dump_comparison(comparison("INCONCLUSIVE")))
    for scope in raw["results"][0]["families"]:
        scope["accuracy"][key] = value
        scope["accuracy"]["difference"]["n_clusters"] = None
    (folder / "comparison.json").write_text(json.dumps(raw))
    ended = evalkit("plan", "out")
    assert ended.code == 2, ended.out
    assert "damaged" in ended.err
    assert "Traceback" not in ended.err


def test_of_several_candidates_the_one_that_flips_most_is_planned_for(
    evalkit: Run, tmp_path: Path
) -> None:
    both = comparison("SHIP", "HOLD")
    (tmp_path / "comparison.json").write_bytes(dump_comparison(both))
    body = evalkit("plan", ".", "--json").json
    assert body["cost"]["arms"] == 3
    assert body["cost"]["prompt_tokens"] is None
    rates = {
        row["scope"]: row["flip_rate"] for row in body["metrics"] if row["metric"] == "accuracy"
    }
    for one, other in zip(both.results[0].families, both.results[1].families, strict=True):
        most = max(
            (scope.flips.gained + scope.flips.lost + 1) / (scope.flips.n + 2)
            for scope in (one, other)
        )
        assert rates[one.scope] == pytest.approx(most)


def test_names_from_a_foreign_folder_do_not_act_on_the_terminal(
    evalkit: Run, tmp_path: Path
) -> None:
    raw = json.loads(dump_comparison(comparison("INCONCLUSIVE")))
    for result in raw["results"]:
        result["families"][0]["accuracy"]["scope"] = "\x1b[2Jfacts"
    raw["skipped"][0]["reason"] = "\x1b]0;gone\x07"
    (tmp_path / "comparison.json").write_text(json.dumps(raw))
    ended = evalkit("plan", ".")
    assert ended.code == 0, ended.err
    assert "\x1b" not in ended.out
    assert "\x07" not in ended.out
