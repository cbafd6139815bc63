"""`--embed` and `--embed-budget`: what the page of `compare` and `report` holds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evalkit.cli import main
from evalkit.cli.options import size as parsed
from tests.cli.conftest import Refused
from tests.recorded import compared, long_cases


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    return compared(folder, list(long_cases(120))).folder


def report(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["report", *map(str, words)])
    return int(ended.value.code or 0)


def chunks(folder: Path) -> int:
    return (folder / "report.html").read_bytes().count(b'id="explorer-chunk-')


def test_report_builds_the_explorer_again_as_it_is_told(made: Path) -> None:
    sizes = {}
    for flags in ((), ("--embed", "all"), ("--embed", "flips"), ("--embed-budget", "60kB")):
        assert report(made, *flags) == 0
        sizes[flags] = (made / "report.html").stat().st_size
        assert chunks(made) >= 1
    assert sizes[()] == sizes["--embed", "all"]
    assert sizes["--embed", "flips"] < sizes["--embed-budget", "60kB"] < sizes[()]
    assert report(made, "--embed", "none") == 0
    assert chunks(made) == 0
    assert "--embed none" in (made / "report.html").read_text("utf-8")


def test_all_within_a_budget(made: Path) -> None:
    assert report(made, "--embed", "all", "--embed-budget", "0.06 MB") == 0
    page = (made / "report.html").read_text("utf-8")
    assert "of 120 pairs are in this page" in page


def test_report_works_when_the_runs_are_gone(made: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(made / "comparison.json", alone)
    assert report(alone) == 0
    page = (alone / "report.html").read_text("utf-8")
    assert "the run folders of this comparison are not where they were" in page
    assert "<script" not in page


def test_redacted_report_says_nothing_of_prompts_and_answers(made: Path) -> None:
    assert report(made, "--redact") == 0
    assert chunks(made) == 1
    # Texts are compressed, so that only their size can tell here: hashes are all there is.
    assert (made / "report.html").stat().st_size < 300_000


@pytest.mark.parametrize("size", ["20", "1.5 MB", "2GiB", "300kb", "90 KiB", "7B"])
def test_sizes(size: str) -> None:
    wanted = {"20": 20, "7B": 7, "1.5 MB": 1_500_000, "2GiB": 2 * 1024**3, "300kb": 300_000}
    assert parsed("--embed-budget", size) == wanted.get(size, 90 * 1024)


@pytest.mark.parametrize("size", ["", "-1MB", "20 megabytes", "MB", "1e9", "20MB; rm", "∞", "5iB"])
def test_what_is_no_size_is_refused_in_a_sentence(made: Path, refused: Refused, size: str) -> None:
    words = ["report", str(made), f"--embed-budget={size}"]
    refused(words, ["--embed-budget", "is no size", "Write 20MB or 500kB"])
