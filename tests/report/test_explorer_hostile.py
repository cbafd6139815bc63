"""Answers that attack: from a server that gives them, through a run, into every output."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.recorded import Case, write_cases
from tests.report.browsing import OUT, Opened
from tests.report.hostile import HOSTILE
from tests.servers.fake import FakeServer, Script

TEN_MEGABYTES = "<b>&\u202e" * 1_600_000
ATTACKS = (*HOSTILE, TEN_MEGABYTES)
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# What the page may hold of a pair: no other element, whatever an answer says.
ELEMENTS = {
    "header", "h3", "h4", "p", "div", "span", "bdi", "pre", "button", "details", "summary",
    "dl", "dt", "dd", "del", "ins",
}  # fmt: skip


@dataclass(frozen=True)
class Outputs:
    folder: Path
    console: str


@pytest.fixture(scope="module", autouse=True)
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """Compare a server that answers well with one that attacks, on the command line."""
    folder = tmp_path_factory.mktemp("hostile")
    cases = [
        Case(f"attack-{n:02d}", f"{_prompt(text)} {n}?", "alpha", text)
        for n, text in enumerate(ATTACKS)
    ]
    tasks = write_cases(folder / "quiz", cases)
    good, bad = ({c.prompt: getattr(c, side) for c in cases} for side in ("baseline", "candidate"))
    with FakeServer(Script(answers=good)) as one, FakeServer(Script(answers=bad)) as other:
        targets = [f"{one.url}#fake", f"{other.url}#fake"]
        command = [sys.executable, "-m", "evalkit", "compare", *targets, "-t", str(tasks)]
        command += ["-o", str(folder / "out"), "--allow-confounded", "--display", "plain"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert done.returncode in (3, 4, 5), done.stderr.decode()
    return Outputs(folder / "out", done.stdout.decode() + done.stderr.decode())


def _prompt(text: str) -> str:
    return text[:2000].encode("utf-8", "replace").decode()


def test_console_markdown_and_junit_hold_nothing_that_acts(outputs: Outputs) -> None:
    markdown = (outputs.folder / "report.md").read_text("utf-8")
    junit = (outputs.folder / "junit.xml").read_text("utf-8")
    for text in (outputs.console, markdown, junit):
        assert ACTS.findall(text) == []
    ElementTree.fromstring(junit)
    assert len(markdown.encode()) <= 60_000
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    own = {"h2", "p", "strong", "ul", "li", "ol", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(re.findall(r"<([a-z]+[0-9]?)", page)) <= own | {"code", "details", "summary"}
    assert not re.search(r"<[^>]* (href|src|on[a-z]+)=", page)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_page_and_explorer_stay_what_they_are(browser: Any, outputs: Outputs, width: int) -> None:
    file = outputs.folder / "report.html"
    # The ten megabytes, and the other long ones, are cut.
    assert file.stat().st_size < 5_000_000
    opened = Opened(browser, file, width=width, height=844, scheme="light")
    page = opened.page
    page.add_init_script(
        "window.violations = 0;"
        "document.addEventListener('securitypolicyviolation', () => { window.violations++ })"
    )
    page.reload()
    opened.requests.pop()
    page.locator("#explorer-app").wait_for()
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert opened.overflow() <= 0
    seen = set()
    for _ in ATTACKS:
        page.keyboard.press("j")
        page.locator("#explorer-pair").wait_for()
        page.wait_for_timeout(60)
        seen.add(page.locator("#explorer-pair").inner_text())
        elements = page.evaluate(
            "[...new Set([...document.querySelectorAll('.x-detail *')].map(e => e.localName))]"
        )
        assert set(elements) <= ELEMENTS
        assert opened.overflow() <= 0
        box = page.locator(".x-detail .answer pre").last.bounding_box()
        assert box["height"] < 600
    assert len(seen) == len(ATTACKS)
    page.fill("#explorer-search", "onerror=")
    page.locator(".x-line button").wait_for(state="hidden")
    page.screenshot(path=OUT / f"hostile-{width}.png")
    assert page.evaluate("window.pwned === undefined && window.violations === 0")
    assert page.locator("h1").is_visible()
    opened.check_quiet()
    page.close()
