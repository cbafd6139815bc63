"""docs/tutorials: every block is run, in order, as a reader would."""

from __future__ import annotations

import json
import os
import re
import tomllib
from contextlib import ExitStack
from pathlib import Path

import click
import pytest

from evalkit.registry import _entry_points
from evalkit.scoring.base import SCORERS
from tests.docs.test_statistics_page import NUMBER
from tests.docs.walkthrough import (
    BLOCK,
    DOCS,
    Walk,
    blocks_of,
    every_command,
    in_process,
    parse,
)
from tests.servers.fake import FakeServer, Script

PAGES = sorted(path.name for path in (DOCS / "tutorials").glob("*.md"))


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return Walk(tmp_path)


def test_compare_recorded_runs(walk: Walk) -> None:
    page = "tutorials/compare-recorded-runs.md"
    # What the servers say is made by the page's own script.
    for block in blocks_of(page):
        if block.title == "make_boxes.py":
            exec(compile(block.text, block.title, "exec"), {})
    with ExitStack() as stack:
        for port, name in ((8101, "fp8"), (8102, "int4")):
            script = Script(answers=json.loads(Path(f"{name}.json").read_text())["answers"])
            walk.places |= {f"http://127.0.0.1:{port}": stack.enter_context(FakeServer(script)).url}
        walk.follow(page)


def test_gate_int4_on_vllm(walk: Walk) -> None:
    walk.follow("tutorials/gate-int4-on-vllm.md")
    # What it warns of is refused with the suggestion that it shows.
    words = ["plan", "-c", "evalkit.yaml", "--set", "policy.margin.accuracy=2"]
    _, error, code = in_process(words)
    assert code == 2
    assert "margins" in error


def test_the_comparison_with_other_tools(walk: Walk) -> None:
    walk.follow("alternatives.md")
    text = (DOCS / "alternatives.md").read_text(encoding="utf-8")
    assert re.search(r"^As of 20\d\d-\d\d-\d\d, ", text, re.MULTILINE), "facts are dated"
    groups = re.findall(r"\[(\d(?:, \d)*)\]", text.partition("## Sources")[0])
    cited = {number for group in groups for number in group.split(", ")}
    listed = set(re.findall(r"^(\d)\. ", text.partition("## Sources")[2], re.MULTILINE))
    assert cited
    assert cited <= listed


def test_write_a_scorer(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "tutorials/write-a-scorer.md"
    place = walk.folder / "json-fields-scorer"
    # What pip would do with the page's package, without pip.
    project = next(b for b in blocks_of(page) if b.title and b.title.endswith("pyproject.toml"))
    content = tomllib.loads(project.text)
    ((name, value),) = content["project"]["entry-points"]["evalkit.scorers"].items()
    installed = place / "json_fields_scorer-0.1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: json-fields-scorer\n")
    (installed / "entry_points.txt").write_text(f"[evalkit.scorers]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(place)
    _entry_points.cache_clear()
    try:
        walk.follow(page)
        two = json.loads((walk.folder / "scores.jsonl").read_text().splitlines()[1])
        assert two["explanation"] == "wrong: count"
        assert two["value"] == pytest.approx(2 / 3)
    finally:
        _entry_points.cache_clear()
        SCORERS._things.pop(name, None)


@pytest.mark.parametrize("page", ["taskset-in-chinese.md", "taskset-in-chinese.zh.md"])
def test_write_a_taskset_in_chinese(walk: Walk, page: str) -> None:
    walk.follow(f"tutorials/{page}")


def test_both_languages_show_the_same() -> None:
    one, other = (blocks_of(f"tutorials/taskset-in-chinese{end}") for end in (".md", ".zh.md"))
    assert one == other
    assert any(block.why is None for block in one)


def test_read_a_report_speaks_of_the_report_that_ships() -> None:
    page = (DOCS / "tutorials" / "read-a-report.md").read_text(encoding="utf-8")
    report = (DOCS.parent / "reports/examples/q8-vs-q4.html").read_text(encoding="utf-8")
    assert "INCONCLUSIVE" in report
    for heading in re.findall(r'^## "(.+)"$', page, re.MULTILINE):
        assert heading in report


@pytest.mark.parametrize("page", PAGES)
def test_numbers_in_the_text_stand_in_what_was_printed(page: str) -> None:
    """As in docs/statistics.md, but for whole numbers below a hundred and what code holds."""
    text = (DOCS / "tutorials" / page).read_text(encoding="utf-8")
    shown = " ".join(block.text for block in blocks_of(f"tutorials/{page}"))
    known = {number.replace(",", "") for number in NUMBER.findall(shown)}
    prose = re.sub(r"\(#?[^)]*\)|`[^`]*`|\b[A-Za-z]+-?\d+\b", " ", BLOCK.sub("", text))
    loose = {n for n in NUMBER.findall(prose) if n.replace(",", "") not in known}
    assert {n for n in loose if "." in n or len(n) > 2} == set()


@pytest.mark.parametrize("page", sorted({page for _, page in every_command()}))
def test_every_command_of_every_page_is_one(page: str) -> None:
    """Also where it is not run: its verb and its options exist."""
    for command, where in every_command():
        if where == page:
            try:
                parse(command)
            except click.ClickException as error:
                pytest.fail(f"{page}: {command}: {error.format_message()}")


def test_a_page_that_drifts_is_seen(walk: Walk) -> None:
    (walk.folder / "page.md").write_text("```console\n$ evalkit --version\nevalkit, 9\n```\n")
    with pytest.raises(AssertionError):
        walk.follow(os.path.relpath(walk.folder / "page.md", DOCS))
    with pytest.raises(click.ClickException):
        parse("evalkit compare a b --no-such-option")
