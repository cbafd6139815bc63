"""A reviewer at work: `evalkit view` in a real browser, from a wrong score to two verdicts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.quiz import script, write_quiz
from tests.report.browsing import OUT, Opened, launched
from tests.report.test_access import violations
from tests.servers.fake import FakeServer

pytestmark = pytest.mark.browser

N = 60


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def folder(evalkit: Run, tmp_path: Path) -> Path:
    quiz = write_quiz(tmp_path / "quiz", N)
    with FakeServer(script(N, wrong=[1])) as a, FakeServer(script(N, wrong=[2, 3])) as b:
        ended = evalkit(
            "compare", f"{a.url}#fake", f"{b.url}#fake", "-t", quiz, "-o", "out", "-j", "16"
        )
    assert ended.code == 4, ended.err
    return tmp_path / "out"


@pytest.fixture
def served(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "evalkit", "view", str(folder)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Report: http://127.0.0.1:"), process.stderr
        yield line.split()[1], process
        if process.poll() is None:
            process.kill()


def open_page(browser: Any, url: str, width: int = 1280) -> Opened:
    return Opened(browser, url, width=width, height=800, scheme="light")


def marks(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "review.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def fill(page: Any, form: Any, reason: str, outcome: str | None = None) -> None:
    if outcome is not None:
        form.locator("select").select_option(outcome)
    form.locator("textarea").fill(reason)
    form.locator("input").fill("Ada <b>")
    form.get_by_role("button", name="Save mark").click()


def test_a_reviewer_marks_takes_back_and_sees_both_verdicts(
    browser: Any, folder: Path, served: tuple[str, Any]
) -> None:
    url, process = served
    opened = open_page(browser, url)
    page = opened.page
    page.locator(".x-review").filter(has_text="No mark").wait_for()
    page.locator(".x-row").filter(has_text="box-0002").click()
    button = (
        page.locator("#explorer-app .answer").nth(1).get_by_role("button", name="Score is wrong…")
    )
    button.click()
    form = page.locator(".x-mark:visible")
    form.get_by_role("button", name="Save mark").click()
    assert "needs a reason" in form.locator("[role=alert]").inner_text()
    assert not (folder / "review.jsonl").exists()
    OUT.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=OUT / "marking.png")
    assert violations(opened) == []
    fill(page, form, "omega2 </script><script>alert(1)</script> is right too", "correct")
    page.locator(".x-made").wait_for()
    (mark,) = marks(folder)
    assert (mark["sample_id"], mark["outcome"], mark["reviewer"]) == (
        "box-0002",
        "correct",
        "Ada <b>",
    )
    assert page.evaluate("document.activeElement.textContent") == "Score is wrong…"

    page.get_by_role("button", name="Prompt is bad…").click()
    page.keyboard.type("jk/ typed, no key")
    page.keyboard.press("Escape")
    assert page.locator(".x-mark:visible").count() == 0, "Esc leaves the form"
    assert page.locator("#explorer-pair").inner_text() == "box-0002", "and not the pair"

    page.get_by_role("button", name="Show the verdict with them").click()
    section = page.locator("section[id$=-review]")
    section.wait_for()
    section.screenshot(path=OUT / "review.png")
    text = section.inner_text()
    assert "after adjudication" in text
    assert "Ada <b>" in text
    assert "All of them help" in text, "one-sidedness is pointed out"
    page.locator(".x-row").filter(has_text="box-0002").first.click()
    page.get_by_role("button", name="Take back…").click()
    fill(page, page.locator(".x-mark:visible"), "I erred.")
    page.locator(".x-made").wait_for(state="detached")
    assert [one["kind"] for one in marks(folder)] == ["score", "withdrawal"]
    assert [m for m in opened.messages if "favicon" not in m] == []
    assert all(asked.startswith(url) or asked == "data:," for asked in opened.requests)
    page.close()

    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert "Traceback" not in process.stderr.read()


def test_a_mark_that_cannot_be_saved_says_why(
    browser: Any, folder: Path, served: tuple[str, Any]
) -> None:
    url, _ = served
    page = open_page(browser, url, width=390).page
    page.locator(".x-row").first.click()
    page.get_by_role("button", name="Prompt is bad…").click()
    (folder / "review.jsonl").write_text('{"no": "mark"}\n', encoding="utf-8")
    fill(page, page.locator(".x-mark:visible"), "It has two answers.")
    trouble = page.locator(".x-mark [role=alert]")
    trouble.filter(has_text="line 1").wait_for()
    assert trouble.inner_text().startswith("Not saved.")
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    OUT.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=OUT / "marked-phone.png", full_page=False)
    assert page.evaluate(width) <= 0
    page.close()


def test_a_folder_without_runs_is_one_sentence(evalkit: Run, folder: Path) -> None:
    (folder / "runs").rename(folder / "gone")
    ended = evalkit("view", "out")
    assert ended.code == 2
    assert "the scores lie in the runs" in ended.err
