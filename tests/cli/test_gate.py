"""`evalkit gate` and what `compare` tells a pipeline: exit codes, files, GitHub."""

from __future__ import annotations

import json
import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import jsonschema
import orjson
import pytest

from evalkit.cli import main
from evalkit.report.schema import schema_of
from evalkit.report.store import dump_comparison
from tests.cli.conftest import Run
from tests.gated import compare_quiz
from tests.report.fixtures import comparison

Gate = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    return compare_quiz(folder, 60, range(0), range(2), range(30), words=())


@pytest.fixture
def gate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Gate:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)

    def _gate(*words: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["gate", *map(str, words)])
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    return _gate


def content(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_one_line_a_candidate_and_nothing_is_written(gate: Gate, held: Path, several: Path) -> None:
    before = content(held)
    code, out, err = gate(held)
    assert (code, err) == (3, "")
    (line,) = out.splitlines()
    assert line.startswith("✗ HOLD  int4 vs fp8: int4 is worse than fp8")
    assert content(held) == before
    code, out, _ = gate(several)
    assert code == 4
    lines = out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "◔ INCONCLUSIVE",
        "✗ HOLD",
        "◔ INCONCLUSIVE",
    ]
    code, out, _ = gate(held, several)
    assert code == 4, "the gravest decides"
    assert len(out.splitlines()) == 4
    assert gate(held, "-q") == (3, "", "")


def test_a_process_exits_with_the_verdict(evalkit: Run, held: Path) -> None:
    ended = evalkit("gate", held, "--json")
    assert ended.code == 3
    assert ended.json["comparisons"][0]["checked"] == "runs"


def test_folders_that_cannot_be_judged(gate: Gate, held: Path, tmp_path: Path) -> None:
    whole = (held / "comparison.json").read_bytes()
    newer = orjson.dumps({**orjson.loads(whole), "schema_version": 99})
    for data, words in (
        (None, "not a comparison folder"),
        (whole[: len(whole) // 2], "broken JSON"),
        (b"", "broken JSON"),
        (newer, "newer evalkit"),
        (b"[]", "no schema version"),
    ):
        if data is not None:
            (tmp_path / "comparison.json").write_bytes(data)
        code, out, err = gate(tmp_path)
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert words in err
    assert gate(tmp_path / "nowhere")[0] == 2
    assert gate(held, "--policy", "lenient")[0] == 2
    code, _, err = gate(held, tmp_path / "nowhere")
    assert code == 2, "a folder that cannot be read never passes beside one that can"


def test_json_and_the_written_forms(gate: Gate, several: Path, tmp_path: Path) -> None:
    junit, markdown = tmp_path / "a" / "j.xml", tmp_path / "a" / "m.md"
    code, out, err = gate(several, "--json", "--junit", junit, "--markdown", markdown)
    assert (code, err) == (4, "")
    body = json.loads(out)
    jsonschema.validate(body, schema_of("gate"))
    assert body["exit_code"] == 4
    assert [c["verdict"] for c in body["comparisons"][0]["candidates"]] == ["INCONCLUSIVE", "HOLD"]
    root = ET.parse(junit).getroot()
    assert [suite.attrib["name"] for suite in root] == ["int4 vs fp8", "int3 vs fp8"]
    assert markdown.read_text(encoding="utf-8").startswith("## ")
    assert gate(several, "--junit", tmp_path)[0] == 2


@pytest.mark.parametrize(("word", "failures"), [("skipped", 0), ("failed", 4)])
def test_undecided_is_skipped_or_failed(
    gate: Gate, several: Path, tmp_path: Path, word: str, failures: int
) -> None:
    assert gate(several, "--junit", tmp_path / "j.xml", "--inconclusive", word)[0] == 4
    suite = ET.parse(tmp_path / "j.xml").getroot()[0]
    # The verdict, and what it needs: three pooled metrics. Families can only raise an alarm.
    assert len(suite.findall("testcase/failure")) == failures
    assert int(suite.attrib["failures"]) == failures
    assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))


def test_a_forged_verdict_never_passes(gate: Gate, held: Path, tmp_path: Path) -> None:
    raw = orjson.loads((held / "comparison.json").read_bytes())
    (tmp_path / "comparison.json").write_bytes(orjson.dumps({**raw, "exit_code": 0}))
    code, out, err = gate(tmp_path)
    assert (code, out) == (2, "")
    assert "was changed, or does not belong to its folder" in err


HOSTILE_NAME = "::error::a%0Ab, `x` <b>@all</b>"


def test_github_gets_a_summary_and_at_most_ten_annotations(
    gate: Gate, several: Path, held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    code, out, err = gate(several, held, several)
    assert (code, err) == (4, "")
    lines = out.splitlines()
    stop = lines[0].removeprefix("::stop-commands::")
    assert len(stop) == 32
    told = lines[lines.index(f"::{stop}::") + 1 :]
    assert len(told) == 10
    assert told[0].startswith("::warning title=◔ INCONCLUSIVE%3A int4 vs fp8::int4 is not shown")
    assert told[1].startswith("::error title=✗ HOLD%3A int3 vs fp8::")
    assert "95%25 CI" in told[1]
    assert told[-1].startswith("::notice title=Verdict::+")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n## ")
    assert len(text.encode()) < 61_000
    code, out, err = gate(held, "--json")
    json.loads(out)
    assert err.startswith("::error title=")


def test_a_summary_that_is_full_or_cannot_be_written_changes_no_verdict(
    gate: Gate, held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    full = tmp_path / "full.md"
    full.write_bytes(b"x" * (1024 * 1024 - 100))
    for target, words in ((full, "is full"), (tmp_path, "cannot be written")):
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
        code, _, err = gate(held)
        assert code == 3
        assert words in err
    assert full.stat().st_size == 1024 * 1024 - 100
    monkeypatch.setenv("GITHUB_ACTIONS", "1")
    assert "::" not in gate(held)[1], "only 'true' means GitHub"


def test_github_hears_why_there_is_no_verdict(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, err = gate(tmp_path / "100%::error::")
    assert (code, out) == (2, "")
    told = [line for line in err.splitlines() if line.startswith("::")]
    assert len(told) == 1
    assert told[0].startswith("::error title=evalkit::")
    assert "100%25::error::' does not exist" in told[0]


def test_a_hostile_name_commands_nothing(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = comparison("HOLD", names=[HOSTILE_NAME])
    (tmp_path / "comparison.json").write_bytes(dump_comparison(made))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path)])
    code, out, err = gate(tmp_path)
    assert code == 3
    obeyed = commands(out) + commands(err)
    assert obeyed
    assert all(re.match("::(error|warning|notice) title=[^,:]*::", one) for one in obeyed)


def commands(printed: str) -> list[str]:
    """What GitHub obeys of it: nothing between `stop-commands` and its token."""
    found, token = [], ""
    for line in printed.splitlines():
        if token:
            token = "" if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.startswith("::"):
            found.append(line)
    assert not token
    return found


def test_compare_tells_github_too(evalkit: Run, held: Path, tmp_path: Path) -> None:
    shutil.copytree(held / "runs", tmp_path / "runs")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "s.md")}
    ended = evalkit(
        "compare", "runs/fp8", "runs/int4", "-o", "again", "-q", env={**os.environ, **env}
    )
    assert ended.code == 3, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    assert len([line for line in lines if line.startswith("::error title=")]) == 5
    assert (tmp_path / "s.md").read_text(encoding="utf-8").startswith("## ✗ HOLD")
