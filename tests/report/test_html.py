import re
from html.parser import HTMLParser
from typing import Any

import pytest

from evalkit.report.cards import MAX_CARDS
from evalkit.report.html import render_html, source_hash
from evalkit.report.view import build_view
from evalkit.resources import resource_dir
from tests.report.fixtures import STATES, comparison
from tests.report.hostile import HOSTILE

VOID = {"meta", "link", "br", "img", "path", "line", "circle"}


class Page(HTMLParser):
    """Elements, attributes and text of a page, with a check that tags are balanced."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def page(*states: str, lang: str = "en", hostile: str | None = None) -> Page:
    return Page(render_html(build_view(comparison(*states, hostile=hostile), lang)))


@pytest.mark.parametrize("state", STATES)
def test_one_balanced_document(state: str) -> None:
    made = page(state)
    assert made.open == []
    assert made.count("h1") == 1
    assert made.count("script") == 0


def test_policy_allows_one_style_sheet_by_its_hash_and_nothing_else() -> None:
    source = render_html(build_view(comparison("HOLD")))
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', source)
    assert found is not None
    policy = found[1].replace("&#39;", "'")
    style = re.findall(r"<style>(.*?)</style>", source, flags=re.S)
    assert len(style) == 1
    assert f"style-src '{source_hash(style[0])}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert source.index("Content-Security-Policy") < source.index("<style>")


def test_hash_is_that_of_the_standard() -> None:
    # The example of the Content Security Policy specification, level 3.
    wanted = "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
    assert source_hash("alert('Hello, world.');") == wanted


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_external_reference(lang: str) -> None:
    made = page("SHIP", "HOLD", lang=lang)
    for tag, attributes in made.elements:
        for name, value in attributes.items():
            assert not re.search(r"(?i)https?:|^//", value or ""), (tag, name)
            if name in ("href", "src"):
                assert value is not None
                assert value.startswith(("#", "data:,")), (tag, value)
    css = (resource_dir("templates") / "styles.css").read_text(encoding="utf-8")
    assert not re.search(r"url\(|@import|https?:", css)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_inert(text: str) -> None:
    plain = page("HOLD", hostile="harmless")
    made = page("HOLD", hostile=text)
    assert made.open == []
    # Facts of empty values may vanish, so only kinds of elements and attributes are compared.
    kinds = {tag for tag, _ in made.elements}
    assert kinds <= {tag for tag, _ in plain.elements}
    names = {name for _, attributes in made.elements for name in attributes}
    assert names <= {name for _, attributes in plain.elements for name in attributes}
    shown = "".join(made.text)
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def test_hostile_text_is_still_readable() -> None:
    shown = "".join(page("HOLD", hostile="<script>window.pwned=1</script>\x00\u202e").text)
    assert "<script>window.pwned=1</script>␀⟦U+202E⟧" in shown


def test_long_texts_are_cut_with_a_marker() -> None:
    source = render_html(build_view(comparison("HOLD", hostile="x" * 1_000_000)))
    assert "… 996,000 characters cut …" in source
    assert len(source) < 10_000_000


def test_first_twenty_regressions_are_open_and_the_others_folded() -> None:
    made = page("HOLD")
    samples = [a for tag, a in made.elements if tag == "details" and a.get("class") == "sample"]
    assert sum("open" in a for a in samples) == 20
    assert 20 < len(samples) <= 2 * MAX_CARDS


def test_tables_have_headers_with_scope_and_charts_have_words() -> None:
    made = page("SHIP")
    headers = [a for tag, a in made.elements if tag == "th"]
    assert headers
    assert all(a.get("scope") in ("col", "row") for a in headers)
    charts = [a for tag, a in made.elements if tag == "svg"]
    ids = {a["id"] for _, a in made.elements if "id" in a}
    # The forest plot, wide and narrow, and two curves over length.
    assert len(charts) == 4
    for chart in charts:
        assert chart["role"] == "img"
        assert set((chart["aria-labelledby"] or "").split()) <= ids
    every = [a["id"] for _, a in page("SHIP", "HOLD", "SHIP").elements if "id" in a]
    assert len(every) == len(set(every))


def test_links_inside_the_page_lead_somewhere() -> None:
    made = page("SHIP", "HOLD")
    ids = {a["id"] for _, a in made.elements if "id" in a}
    links = {(a["href"] or "")[1:] for tag, a in made.elements if tag == "a"}
    assert links <= ids


def test_language_is_declared() -> None:
    assert dict(page("SHIP", lang="zh").elements)["html"]["lang"] == "zh-Hans"


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast(theme: int) -> None:
    css = (resource_dir("templates") / "styles.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", b)) for b in css.split("@media")[:2]]
    colors = themes[theme]
    states = ("ship", "hold", "inconclusive", "invalid")
    pairs = [(name, ground) for name in ("ink", "soft", *states, "link") for ground in ("bg",)]
    pairs += [(name, "raised") for name in ("ink", "soft")]
    pairs += [(state, f"{state}-tint") for state in states]
    pairs += [("ink", f"{state}-tint") for state in states]
    low = {p: contrast(colors[p[0]], colors[p[1]]) for p in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}
