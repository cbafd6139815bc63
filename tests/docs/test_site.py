"""The site of docs/ builds without a warning, holds every page, and asks nobody for anything."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from scripts import docs_site

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
        link = f'href="../{address}/"' if address else 'href=".."'
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
    with pytest.raises(subprocess.CalledProcessError):
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
