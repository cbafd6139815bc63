"""A real Chromium for tests of pages: from file://, with the page's own policy on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.report.html import render_html
from evalkit.report.view import build_view
from tests.report.fixtures import comparison

OUT = Path(__file__).resolve().parent.parent / "out" / "report"
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launched() -> Iterator[Any]:
    """Start Chromium and end it; skips where there is none."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGS)
        yield chromium
        chromium.close()


class Opened:
    """A page with everything that it said and asked for."""

    def __init__(
        self, browser: Any, file: Path | str, *, width: int, height: int, scheme: str
    ) -> None:
        self.page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = file if isinstance(file, str) else file.as_uri()
        self.page.goto(self.url)

    def check_quiet(self) -> None:
        assert self.messages == []
        assert [url for url in self.requests if url != "data:,"] == [self.url]

    def overflow(self) -> int:
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width


def written(name: str, *states: str, lang: str = "en", hostile: str | None = None) -> Path:
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / f"{name}.html"
    view = build_view(comparison(*states, hostile=hostile), lang)
    file.write_text(render_html(view), encoding="utf-8")
    return file
