"""The site of docs/ builds without a warning, holds every page, and asks nobody for anything."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scripts import docs_site
from tests.report.browsing import Opened, launched

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Strict: a warning is an error here.
    return docs_site.build(tmp_path_factory.mktemp("docs"))


def test_every_page_is_in_the_navigation(site: Path) -> None:
    front = (site / "readme" / "index.html").read_text(encoding="utf-8")
    for name, place in docs_site.repository_pages().items():
        address = re.sub(r"(?:index|README)?\.md$", "", place).rstrip("/")
        page = site / address / "index.html" if address else site / "index.html"
        assert page.is_file(), name
        link = f'href="../{address}/"' if address else 'href="./.."'
        assert link in front or address == "readme", f"{name} is not in the navigation"


LOADED = re.compile(
    r"<(?:script|img|iframe|source|video)\b[^>]*\ssrc=[\"']?(?:https?:)?//[^>]*"
    r"|<link\b[^>]*rel=[\"']?(?:stylesheet|preconnect|preload|icon)\b[^>]*(?:https?:)?//[^>]*"
)
STYLED = re.compile(r"url\([\"']?(?:https?:)?//|@import")


def test_nothing_is_asked_of_anybody_else(site: Path) -> None:
    """What a page loads comes with it; links may lead elsewhere."""
    for page in (*site.rglob("*.html"), *site.rglob("*.css")):
        if "files" not in page.parts:
            text = page.read_text(encoding="utf-8")
            assert not (LOADED if page.suffix == ".html" else STYLED).search(text), page
    assert LOADED.search('<script defer src="https://a.example/x.js"></script>')
    assert STYLED.search("src: url(https://a.example/f.woff2)")


def test_the_search_knows_chinese_pages(site: Path) -> None:
    index = (site / "search.json").read_text(encoding="utf-8")
    assert "题集" in index
    assert any("zh" in item.get("location", item.get("url", "")) for item in items(index))


@pytest.mark.browser
def test_it_works_in_a_browser(site: Path) -> None:
    """On a phone and in the dark; the search finds Chinese words inside of sentences."""
    with serving(site) as base:
        for chromium in launched():
            for scheme, width, place in (
                ("light", 1280, ""),
                ("dark", 1280, "tutorials/taskset-in-chinese.zh/"),
                ("light", 390, "reference/cli/"),
                ("dark", 390, "alternatives/"),
            ):
                opened = Opened(chromium, base + place, width=width, height=800, scheme=scheme)
                opened.page.locator("h1").wait_for()
                wide = opened.page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, place
                if not place:
                    opened.page.locator(".md-search__button").click()
                    opened.page.locator("input:visible").first.fill("题集")
                    found = opened.page.locator("li a", has_text="用中文编写题集")
                    found.filter(has_text="自己的题目").first.wait_for()
                assert opened.messages == [], place
                asked = [url for url in opened.requests if url.startswith("http")]
                assert all(url.startswith(base) for url in asked), asked
                opened.page.close()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def items(text: str) -> list[dict[str, str]]:
    content = json.loads(text)
    found: list[dict[str, str]] = content.get("items") or content.get("docs")
    return found


def test_a_link_that_leads_nowhere_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[gone](gone.md)\n")
    (tmp_path / "zensical.toml").write_text((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    monkeypatch.setattr(docs_site, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=r"gone\.md"):
        docs_site.build(tmp_path / "out")


def test_links_out_of_docs_become_pages_and_files() -> None:
    text = "[a](../configs/launch.yaml) `[b](../x)` [c](https://x.org) [d](gate.md#it)\n"
    pages = {"docs/endpoints.md": "endpoints.md", "docs/gate.md": "gate.md"}
    site = docs_site.Site(Path("unused"), pages)
    found = docs_site.relinked(text, "docs/endpoints.md", site)
    assert found == (
        "[a](files/configs/launch.yaml.md) `[b](../x)` [c](https://x.org) [d](gate.md#it)\n"
    )
    assert site.waiting == ["configs/launch.yaml"]
