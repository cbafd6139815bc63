"""The explorer: from run folders to a page, and that page in a real browser.

As a program (`python -m tests.bench.explorer FOLDER most|all`) it builds the page of one
comparison as `evalkit report` does and prints its figures as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from tests.bench.meters import ROOT
from tests.bench.tables import Table

PAIRS, ROUNDS = 50_000, 5


def measure(prompts: int | None) -> Table:
    from tests.recorded import compared, long_cases

    n = prompts or PAIRS
    rows = []
    with tempfile.TemporaryDirectory() as name:
        made = compared(Path(name), list(long_cases(n)))
        for what in ("most", "all"):
            built = _built(made.folder, what)
            with chromium() as browser:
                seen = look(browser, made.folder / "report.html")
            rows.append(
                (
                    "--embed all" if what == "all" else "--embed-budget 20MB",
                    f"{built['shown']:,} of {n:,}",
                    f"{built['bytes'] / 1e6:.1f}",
                    f"{built['page']:.2f} (≤ 0.5)",
                    f"{built['cpu']:.1f} (≤ 60)",
                    f"{seen['usable']:.2f}, {seen['usable'] / seen['empty']:.1f} × (≤ 3.75 ×)",
                    f"{seen['heap']:.0f} (≤ 100)",
                    f"{seen['search']:.1f}",
                )
            )
    head = "embedded", "pairs", "MB", "page, CPU-s", "in all, CPU-s"
    return Table((*head, "usable, s and of an empty page's", "heap, MB", "search of all, s"), rows)


def _built(folder: Path, what: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.explorer", str(folder), what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def build(folder: Path, what: Literal["most", "all"]) -> dict[str, Any]:
    """Build a page; the imports and the reading of `comparison.json` count in `cpu`."""
    from evalkit.collect.writer import write_atomic
    from evalkit.report.explorer_block import explorer_block
    from evalkit.report.html import page_parts
    from evalkit.report.store import load_comparison
    from evalkit.report.view import build_view
    from evalkit.report.words import Words
    from evalkit.stages.embedding import BUDGET, Embedding, embedded_pairs

    words, comparison = Words("en"), load_comparison(folder)
    # By default a page this large holds a sample: the budget that it may fill costs more.
    embedding = Embedding(what, None if what == "all" else BUDGET)
    embedded = embedded_pairs(folder, comparison, words, embedding)
    if isinstance(embedded, str):
        raise SystemExit(f"nothing is embedded: {embedded}")
    begun = time.process_time()
    view = replace(build_view(comparison), explorer=explorer_block(words, embedded))
    parts = list(page_parts(view, embedded))
    write_atomic(folder / "report.html", parts)
    return {
        "page": time.process_time() - begun,
        "cpu": time.process_time(),
        "bytes": sum(map(len, parts)),
        "shown": sum(embedded.shown[0].values()),
    }


@contextmanager
def chromium() -> Iterator[Any]:
    from tests.report.browsing import launched

    yield from launched()


def look(browser: Any, file: Path) -> dict[str, float]:
    """Open a page as often as an empty one, in turns; then search it for what is not there.

    The best of each counts: what else the machine does only adds.
    """
    empty, usable = [], []
    for _ in range(ROUNDS):
        empty.append(seconds(browser, "data:text/html,<title>x</title><p>x", "p"))
        usable.append(seconds(browser, file.as_uri(), ".x-row"))
    page = browser.new_page()
    page.goto(file.as_uri() + "#/")
    page.locator(".x-row").first.wait_for()
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    begun = time.perf_counter()
    page.fill("#explorer-search", "nowhere to be found")
    page.get_by_text("No pair in this page passes.").wait_for()
    page.locator(".x-line button").wait_for(state="hidden", timeout=120_000)
    took = time.perf_counter() - begun
    page.close()
    return {"empty": min(empty), "usable": min(usable), "heap": heap, "search": took}


def seconds(browser: Any, url: str, ready: str) -> float:
    """Return the wall time from asking for a page in a new tab to the sight of an element."""
    begun = time.perf_counter()
    page = browser.new_page()
    page.goto(url, wait_until="commit")
    page.locator(ready).first.wait_for(timeout=120_000)
    took = time.perf_counter() - begun
    page.close()
    return took


if __name__ == "__main__":
    print(json.dumps(build(Path(sys.argv[1]), cast(Literal["most", "all"], sys.argv[2]))))
