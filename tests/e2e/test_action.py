"""action.yml as a whole, played by a small runner: install, cache, decide, upload, try again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.github_runner import ROOT, Job, Store, python_that_installs
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer, Fault

N = 40
STEPS = [
    "Install evalkit",
    "Restore what was answered",
    "Decide",
    "Keep what was answered",
    "Upload the report",
]


def test_a_job_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    """The candidate refuses in the first attempt; the second asks only what is missing."""
    store = Store(tmp_path)
    write_quiz(tmp_path / "quiz", N)
    words = f"--tasks={tmp_path / 'quiz'}\n--aa=0\n--max-connections=4\n"
    python = str(python_that_installs(tmp_path))
    refuses = script(N, wrong=range(20), faults=(Fault("401", after=40),))
    with FakeServer(script(N)) as released, FakeServer(refuses) as candidate:
        targets = f"{released.url}#fake\n{candidate.url}#fake"
        first = Job(tmp_path / "first", store)
        found = first.run(targets=targets, arguments=words, python=python)
        assert first.failed
        assert (found["verdict"], found["exit-code"]) == ("INVALID", "5"), first.said
        assert first.ran == STEPS, "what was answered is kept and shown although it failed"
        asked = (first.folder / "temp/evalkit-venv/bin/python.asked").read_text()
        assert asked.split()[-1] == str(ROOT)
        kept = next(iter(store.caches.values()))
        assert list(kept.rglob("completions.jsonl"))
        before = len(released.server.log)
        # Another run of the same workflow, and a server that is well again.
        candidate.server.script = script(N, wrong=range(20))
        second = Job(tmp_path / "second", store, run_id="8")
        found = second.run(targets=targets, arguments=words, python=python, artifact_name="again")
        assert (found["verdict"], found["exit-code"]) == ("HOLD", "3"), second.said
        assert second.failed, "the step fails with the gate"
        again = len(released.server.log) - before
        assert again < N, "the answers of the first attempt were not asked again"
    assert len(store.caches) == 2, "each run keeps its own"
    assert store.artifacts["again"] == {
        "report.html",
        "report.md",
        "comparison.json",
        "evalkit-junit.xml",
    }
    assert (second.workspace / found["report"]).is_file()
    assert json.loads((second.workspace / "evalkit-gate" / "comparison.json").read_text())


def test_a_gate_without_cache_and_upload(tmp_path: Path, held: Path) -> None:
    job = Job(tmp_path / "job", Store(tmp_path))
    (tmp_path / "job" / "workspace").mkdir(parents=True)
    (job.workspace / "evalkit-gate").symlink_to(held)
    found = job.run(
        command="gate",
        cache="false",
        upload="false",
        python=str(python_that_installs(tmp_path)),
        policy="strict",
    )
    assert job.ran == ["Install evalkit", "Decide"]
    assert found["verdict"] == "HOLD", job.said
    assert not job.store.caches
    assert not job.store.artifacts


def test_a_failed_install_decides_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path / "job", Store(tmp_path))
    found = job.run(python="/bin/false")
    assert job.failed
    assert "Decide" not in job.ran
    assert found == dict.fromkeys(("verdict", "exit-code", "report", "junit"), "")


def test_what_the_runner_does_not_know_is_an_error(tmp_path: Path) -> None:
    job = Job(tmp_path / "job", Store(tmp_path))
    with pytest.raises(AssertionError, match="not played"):
        job.uses({"uses": "actions/setup-python@v6", "with": {}}, {})
