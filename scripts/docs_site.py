"""Build the site of docs/ into build/docs/site, or show it: `docs_site.py [--serve]`.

The pages are written to be read where they lie, so they link to files all over the repository.
This copies them to build/docs/pages and makes each such link work there: to a page of its own
for a text (a configuration, a policy, a schema), to the file itself otherwise. The navigation
is made, too: a page that NAVIGATION does not name stands under "Guides". Then zensical builds,
and any link that leads nowhere ends it with an error.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "docs"
# Pages at the root of the repository, and what they are called in the site.
ROOT_PAGES = {
    "README.md": "readme.md",
    "README.zh.md": "readme.zh.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
# Where a page's heading does not tell it from another one.
TITLES = {"index.md": "Is this for me?", "readme.md": "At length", "readme.zh.md": "中文说明"}
GUIDES = "Guides"
DECISIONS = "Decisions"
# Section -> pages in their order; `*` stands for all others of that folder, by title.
NAVIGATION: dict[str, tuple[str, ...]] = {
    "Home": ("index.md", "readme.md", "readme.zh.md"),
    "Tutorials": ("tutorials/*",),
    GUIDES: (
        "endpoints.md",
        "preflight.md",
        "tasksets.md",
        "public-sets.md",
        "lm-eval.md",
        "judge.md",
        "gate.md",
        "history.md",
    ),
    "Reference": ("reference/*", "glossary.md"),
    "Background": (
        "statistics.md",
        "limits.md",
        "alternatives.md",
        "scorer-agreement.md",
        "benchmarks.md",
        "adr/*",
    ),
    "Project": ("project/*",),
}
STYLE = "/* A name in a table is not broken. */\ntd:first-child code { white-space: nowrap; }\n"
MARK = re.compile(r"^# navigation:.*$", re.MULTILINE)
# Code is left alone; then links and pictures, with what stands behind a `#`.
PIECE = re.compile(
    r"(?P<code>^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$"
    r"|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<open>\]\()(?P<target>[^()\s#]+)(?P<rest>(?:#[^()\s]*)?\))",
    re.MULTILINE | re.DOTALL,
)
TEXTS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".py": "python"}
TEXTS |= {".jsonl": "json", ".tsv": "text", ".j2": "jinja", ".sh": "sh"}
LARGEST_TEXT = 60_000


@dataclass
class Site:
    """The pages as they are copied.

    Attributes:
        pages: Path in the repository -> path in the site.
        waiting: Files that a page has linked to and that are still to be copied.
    """

    target: Path
    pages: dict[str, str]
    waiting: list[str] = field(default_factory=list)

    def place(self, name: str) -> str | None:
        """Return where something of the repository stands in the site; note that it is wanted.

        Args:
            name: Its path from the root.
        """
        path = ROOT / name
        if path.is_dir() and f"{name}/README.md" in self.pages:
            return self.pages[f"{name}/README.md"]
        if name in self.pages:
            return self.pages[name]
        if not path.exists():
            return None
        as_page = path.is_dir() or is_text(path)
        self.pages[name] = f"files/{name}.md" if as_page else f"files/{name}"
        self.waiting.append(name)
        return self.pages[name]

    def write(self, place: str, text: str) -> None:
        """Write a page."""
        path = self.target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def is_text(path: Path) -> bool:
    """Say whether a file is shown as a page."""
    return path.suffix in TEXTS and path.stat().st_size <= LARGEST_TEXT


def repository_pages() -> dict[str, str]:
    """Return all pages: path in the repository -> path in the site."""
    pages = {name: place for name, place in ROOT_PAGES.items() if (ROOT / name).exists()}
    docs = ROOT / "docs"
    for path in sorted((*docs.rglob("*.md"), *docs.glob("*.ipynb"))):
        inner = path.relative_to(docs).as_posix()
        pages[f"docs/{inner}"] = inner.replace(".ipynb", ".md")
    return pages


def relinked(text: str, name: str, site: Site) -> str:
    """Return a page with its links as the site needs them.

    Args:
        text: The page.
        name: Where it lies in the repository.
        site: Where it goes.
    """
    here = site.pages[name]

    def replace(match: re.Match[str]) -> str:
        target = match["target"]
        if match["code"] or target.startswith(("http://", "https://", "mailto:")):
            return match.group()
        there = os.path.normpath(os.path.join(os.path.dirname(name), target))  # noqa: PTH118, PTH120
        place = site.place(there)
        if place is None:
            return match.group()
        relative = os.path.relpath(place, os.path.dirname(here) or ".")  # noqa: PTH120
        return f"{match['open']}{relative}{match['rest']}"

    return PIECE.sub(replace, text)


def notebook_page(path: Path) -> str:
    """Return a notebook as a page."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    pieces = []
    for cell in cells:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        pieces.append(f"```python\n{source}\n```" if is_code else source)
    return "\n\n".join(pieces) + f"\n\nAs a notebook: [{path.name}](../files/docs/{path.name})\n"


def listed(name: str) -> str:
    """Return the page that stands for a folder."""
    path = ROOT / name
    names = sorted(p.name for p in path.iterdir() if not p.name.startswith((".", "__")))
    return f"# {name}/\n\n" + "".join(f"- [{inner}]({name}/{inner})\n" for inner in names)


def shown(name: str) -> str:
    """Return the page that shows a text."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8").rstrip("\n")
    ticks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"# {name}\n\n{ticks}{TEXTS[path.suffix]}\n{text}\n{ticks}\n"


def copy_pages(target: Path) -> Site:
    """Copy all pages, and what they link to."""
    site = Site(target, repository_pages())
    for name in list(site.pages):
        path = ROOT / name
        if path.suffix == ".ipynb":
            notebook = target / "files" / "docs" / path.name
            notebook.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, notebook)
            site.write(site.pages[name], notebook_page(path).replace("../files", "files"))
        else:
            text = path.read_text(encoding="utf-8")
            site.write(site.pages[name], relinked(text, name, site))
    while site.waiting:
        name = site.waiting.pop()
        path, place = ROOT / name, site.pages[name]
        if path.is_dir():
            # Its links are from the root.
            text = relinked_from_root(listed(name), name, site)
            site.write(place, text)
        elif place.endswith(".md"):
            site.write(place, shown(name))
        else:
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / place)
    return site


def relinked_from_root(text: str, name: str, site: Site) -> str:
    """Return the page of a folder, whose links are paths from the root, as the site needs it."""
    up = "../" * name.count("/") or ""
    return relinked(re.sub(r"\]\(", f"]({up}", text), name, site)


def title_of(path: Path) -> str:
    """Return a page's first heading."""
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", found[1]) if found else path.stem


def navigation(site: Site) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return sections, each with the titles and places of its pages."""
    left = {place for place in site.pages.values() if place.endswith(".md")}
    left = {place for place in left if not place.startswith("files/")}
    chosen: dict[str, list[str]] = {}
    for section, patterns in NAVIGATION.items():
        chosen[section] = []
        for pattern in patterns:
            found = {place for place in left if fnmatchcase(place, pattern)}
            chosen[section] += sorted(found, key=lambda p: order(site, p))
            left -= found
    chosen[GUIDES] += sorted(left, key=lambda p: order(site, p))
    return [
        (section, [(TITLES.get(place) or title_of(site.target / place), place) for place in places])
        for section, places in chosen.items()
    ]


def order(site: Site, place: str) -> tuple[bool, str]:
    """Return what pages of one pattern are sorted by: a folder's own page comes first."""
    numbered = re.match(r"\d+", Path(place).name)
    return not place.endswith(("README.md", "index.md")), (
        place if numbered else title_of(site.target / place).lower()
    )


def quoted(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def nav_lines(sections: list[tuple[str, list[tuple[str, str]]]]) -> Iterator[str]:
    """Yield the navigation as TOML."""
    yield "nav = ["
    for section, pages in sections:
        yield f"  {{ {quoted(section)} = ["
        # Many, and seldom read one after the other: folded into one entry.
        decisions = [page for page in pages if page[1].startswith("adr/")]
        yield from (nav_line(page) for page in pages if page not in decisions)
        if decisions:
            yield f"    {{ {quoted(DECISIONS)} = ["
            yield from map(nav_line, decisions)
            yield "    ] },"
        yield "  ] },"
    yield "]"


def nav_line(page: tuple[str, str]) -> str:
    """Return a page's line: its title and its place."""
    title, place = page
    return f"    {{ {quoted(title)} = {quoted(place)} }},"


def stage(out: Path = OUT) -> Site:
    """Write pages and configuration, ready to be built."""
    shutil.rmtree(out, ignore_errors=True)
    site = copy_pages(out / "pages")
    config = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    nav = "\n".join(nav_lines(navigation(site)))
    (out / "pages" / "site.css").write_text(STYLE, encoding="utf-8")
    (out / "zensical.toml").write_text(MARK.sub(lambda _: nav, config), encoding="utf-8")
    return site


def build(out: Path = OUT) -> Path:
    """Build the site; return its folder.

    Raises:
        SystemExit: When a page has a fault, with what zensical says of it.
    """
    stage(out)
    words = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    env = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=out, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        said = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
        raise SystemExit(said.partition("Traceback")[0])
    return out / "site"


def main() -> None:
    """Build, and show it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--serve", action="store_true", help="Show it on 127.0.0.1:8765.")
    given = parser.parse_args()
    folder = build()
    print(f"The site is in {folder}")
    if given.serve:
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 8765), handler) as server:
            print("http://127.0.0.1:8765")
            server.serve_forever()


if __name__ == "__main__":
    main()
