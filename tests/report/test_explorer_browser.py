"""The explorer in a real browser: what it finds, what it shows, and how it is steered."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from evalkit.cli.results import show_comparison
from evalkit.report.explorer import TRANSITIONS, ExplorerRow, embed
from evalkit.report.explorer_block import explorer_block
from evalkit.report.html import page_parts
from evalkit.report.text import visible
from evalkit.report.view import build_view
from evalkit.report.words import Words
from evalkit.stages.writing import Destinations
from tests.recorded import Case, compared, long_cases
from tests.report.browsing import OUT, Opened
from tests.report.fixtures import comparison
from tests.report.hostile import HOSTILE
from tests.report.test_access import violations
from tests.report.test_explorer import answer, exploration, row

pytestmark = pytest.mark.browser

SHORT = [text for text in HOSTILE if len(text) < 10_000]


def few() -> list[Case]:
    """A hundred: the first eight are regressions, the next three improvements."""
    made = []
    for number in range(100):
        before = "omega" if 8 <= number < 11 else "alpha"
        after = "omega" if number < 8 else "alpha"
        language = "zh" if number % 2 else "en"
        cut = "我喜欢苹果和香蕉。" if number % 2 else "I like apples and pears."
        other = "我喜欢橙子和香蕉。" if number % 2 else "I like plums and pears."
        prompt = f"Box {number}: " + "long " * (0 if number % 4 else 200) + "?"
        thought = f"thinking of unicorn{number}" if number in (5, 60) else None
        made.append(
            Case(
                f"box/{number:03d} ü",
                prompt,
                f"{cut} {before}{number}",
                TimeoutError("late") if number == 50 else f"{other} {after}{number}",
                target=f"alpha{number}",
                language=language,
                reasoning=thought,
            )
        )
    return made


@pytest.fixture(scope="module", autouse=True)
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make all pages before the browser opens: while it is, nothing else can run a loop."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}

    def write(name: str, made: Any, lang: str = "en") -> None:
        also = Destinations(html=folder / f"{name}.html")
        show_comparison(made.content, made.folder, lang=lang, also=also, as_json=True)
        found[name] = folder / f"{name}.html"

    made = compared(folder / "few", few())
    write("few", made)
    write("zh", made, lang="zh")
    write("redacted", compared(folder / "redacted", few(), redact=True))
    for name, rows in (("several", several()), ("many", many())):
        found[name] = folder / f"{name}.html"
        found[name].write_bytes(b"".join(page(rows)))
    return found


def several() -> list[ExplorerRow]:
    return [row(n, "regression", candidate=n % 2, text=f"answer {n}") for n in range(10)]


def many() -> list[ExplorerRow]:
    return [
        row(
            number,
            TRANSITIONS[number % 5],
            text=str(case.candidate),
            sample_id=case.id,
            target=case.target,
            prompt=({"role": "user", "content": case.prompt},),
            baseline=answer(str(case.baseline)),
        )
        for number, case in enumerate(long_cases(5000))
    ]


def page(rows: list[ExplorerRow]) -> Iterator[bytes]:
    names = [f"int{n}" for n in range(1 + max(one.candidate for one in rows))]
    embedded = embed(exploration(rows, candidates=len(names)), Words("en"), None)
    view = build_view(comparison(*["HOLD"] * len(names), names=names))
    return page_parts(replace(view, explorer=explorer_block(Words("en"), embedded)), embedded)


class Explorer(Opened):
    """A page whose explorer is ready."""

    def __init__(self, browser: Any, file: Path, hash: str = "", **how: Any) -> None:
        how = {"width": 1280, "height": 900, "scheme": "light", **how}
        super().__init__(browser, file, **how)
        if hash:
            self.page.goto("about:blank")
            self.page.goto(self.url + hash)
        self.page.locator("#explorer-app").wait_for()

    def shown(self) -> int:
        return int(self.page.locator("#explorer-app").get_attribute("data-shown"))

    def chosen(self) -> str:
        return str(self.page.locator("#explorer-pair").inner_text())

    def address(self) -> str:
        found: str = self.page.evaluate("location.hash")
        return found

    def choose(self, name: str, value: str) -> int:
        label = {"transition": "Change", "language": "Language", "length": "Prompt length"}
        label |= {"state": "Status", "cause": "Cause"}
        self.page.get_by_label(label[name], exact=True).select_option(value)
        return self.shown()

    def search(self, text: str) -> int:
        self.page.fill("#explorer-search", text)
        self.page.keyboard.press("Enter")
        self.page.wait_for_timeout(300)
        self.page.locator(".x-line button").wait_for(state="hidden")
        return self.shown()

    def close(self) -> None:
        # A new page for each hash: both loads are of the page itself.
        self.requests = list(dict.fromkeys(u.partition("#")[0] for u in self.requests))
        self.requests = [url for url in self.requests if url != "about:blank"]
        self.check_quiet()
        self.page.close()


def call(opened: Explorer, name: str, *arguments: object) -> Any:
    return opened.page.evaluate(f"(a) => evalkitExplorer.{name}(...a)", list(arguments))


def test_texts_are_made_visible_as_python_does(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["few"])
    acting = [chr(code) for code in (*range(0x20), 0x7F, 0x85, 0x202E, 0x2066, 0xFFFE, 0xE0041)]
    for text in (*SHORT, *acting, "Zeile\r\n\tzwei", "👩‍👩‍👧"):
        escaped = json.dumps(text)
        # A lone surrogate comes through no protocol, but it does as an escape.
        seen = opened.page.evaluate("(t) => evalkitExplorer.visible(JSON.parse(t))", escaped)
        assert seen == visible(text)
    opened.close()


def test_diff_marks_words_and_characters_from_the_first_difference(
    browser: Any, pages: dict[str, Path]
) -> None:
    opened = Explorer(browser, pages["few"])

    def marked(one: str, other: str) -> tuple[list[str], list[str], int | None]:
        found = call(opened, "diff", one, other)
        sides = ([text for text, differs in found[side] if differs] for side in ("before", "after"))
        return (*sides, found["at"])  # type: ignore[return-value]

    assert marked("the red cat sat", "the red dog sat") == (["cat"], ["dog"], 8)
    assert marked("我喜欢苹果。", "我喜欢香蕉。") == (["苹果"], ["香蕉"], 3)
    assert marked("same", "same") == ([], [], None)
    assert marked("", "new words") == ([], ["new words"], 0)
    assert marked("a b", "a b c") == ([], [" c"], 3)
    assert marked("x 👩‍👩‍👧 y", "x 👩‍👩‍👦 y") == (["👩‍👩‍👧"], ["👩‍👩‍👦"], 2)
    # A word that both happen to share does not cut a phrase in two.
    phrases = "we sat on the bench all day", "they ran to the station at night"
    assert marked(*phrases) == ([phrases[0]], [phrases[1]], 0)
    rng = random.Random(4)
    words = ["red", "cat", "。", "猫", "犬", " ", "\n", "don't", "3.5", "é", "😀"]
    for size in (5, 40, 400):
        one, other = ("".join(rng.choices(words, k=size)) for _ in range(2))
        found = call(opened, "diff", one, other)
        assert "".join(text for text, _ in found["before"]) == one
        assert "".join(text for text, _ in found["after"]) == other
        # What is not marked is the same on both sides.
        kept = [
            "".join(text for text, differs in found[side] if not differs)
            for side in ("before", "after")
        ]
        assert kept[0] == kept[1]
    started = opened.page.evaluate("performance.now()")
    long = [" ".join(rng.choices(words, k=4000)) for _ in range(2)]
    assert call(opened, "diff", *long)["whole"] is False
    assert opened.page.evaluate("performance.now()") - started < 5000
    opened.close()


def test_command_says_to_a_shell_what_was_asked_and_never_the_key(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    opened = Explorer(browser, pages["few"])
    request = {
        "url": "https://h/v1'$(touch pwned)/chat",
        "bodies": {"t": {"model": "m", "seed": 4}},
    }
    long = "x'\"" * 50_000
    for text in (*(t for t in SHORT if "\ud800" not in t), long):
        command = call(opened, "curlCommand", request, "t", 3, [["user", text]])
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", command)
        script = 'curl() { printf "%s\\0" "$@"; [ "${!#}" = @- ] && cat; }\n' + command
        done = subprocess.run(
            ["bash", "-s"],
            input=script.encode(),
            env={"OPENAI_API_KEY": "sk-secret", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            cwd=tmp_path,
            check=False,
        )
        said = done.stdout.decode().split("\0")
        assert said[1] == request["url"]
        assert "Authorization: Bearer sk-secret" in said
        body = json.loads(said[-1] or said[-2])
        assert body == {"model": "m", "seed": 7, "messages": [{"role": "user", "content": text}]}
        assert "sk-secret" not in command
    assert list(tmp_path.iterdir()) == []
    nowhere = call(opened, "curlCommand", {**request, "url": None}, "t", 0, [["user", "x"]])
    assert '"$OPENAI_BASE_URL/chat/completions"' in nowhere
    opened.close()


def test_filters_count_as_python_does(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["few"])
    cases = few()
    assert opened.shown() == 8, "regressions first"
    assert opened.choose("transition", "improvement") == 3
    assert opened.choose("transition", "missing") == 1
    assert opened.choose("transition", "") == 100
    languages = Counter(case.language for case in cases)
    assert opened.choose("language", "zh") == languages["zh"]
    lengths = sum(case.language == "en" and len(case.prompt) > 500 for case in cases)
    assert opened.choose("language", "en") == languages["en"]
    assert opened.choose("length", "medium") == lengths
    assert opened.choose("length", "") == languages["en"]
    assert opened.choose("state", "no_answer") == 1
    opened.page.get_by_role("button", name="Show all").click()
    assert opened.shown() == 100
    opened.close()


def test_search_looks_into_prompts_answers_and_reasoning(
    browser: Any, pages: dict[str, Path]
) -> None:
    opened = Explorer(browser, pages["few"])
    opened.choose("transition", "")
    assert opened.search("UNICORN") == 2
    assert opened.search("box 77:") == 1
    assert opened.search("omega3") == 1
    assert opened.search("香蕉") == 50
    assert opened.search('"text"') == 0, "names of fields are no texts"
    assert opened.search("box/09") == 10, "ids too"
    assert opened.page.locator(".x-progress").inner_text() == "1 of 1 parts searched"
    assert "q=box" in opened.address()
    assert opened.search("") == 100
    opened.close()


def test_keys_and_focus(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["few"])
    page = opened.page
    focused = "document.activeElement.id"
    page.keyboard.press("j")
    page.locator("#explorer-pair").wait_for()
    assert opened.chosen() == "box/000 ü"
    assert page.evaluate(focused) == "explorer-list", "Tab goes on from here"
    for key, name in (("j", "001"), ("j", "002"), ("k", "001")):
        page.keyboard.press(key)
        page.get_by_role("heading", name=name).wait_for()
    page.keyboard.press("/")
    assert page.evaluate(focused) == "explorer-search"
    page.keyboard.type("j/k")
    assert page.input_value("#explorer-search") == "j/k"
    page.fill("#explorer-search", "")
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == "explorer-list"
    page.wait_for_timeout(300)
    page.keyboard.press("End")
    page.get_by_role("heading", name="007").wait_for()
    active = page.get_attribute("#explorer-list", "aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "explorer-pair"
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == "explorer-list"
    assert page.locator("#explorer-pair").count() == 0
    page.keyboard.press("Home")
    page.get_by_role("button", name="Next").focus()
    for name in ("001", "002"):
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=name).wait_for()
        page.wait_for_timeout(50)
        assert page.evaluate("document.activeElement.textContent") == "Next"
    page.keyboard.press("Escape")
    page.get_by_label("keys:").uncheck()
    page.locator("#explorer-list").focus()
    page.keyboard.press("j")
    assert page.locator("#explorer-pair").count() == 0
    opened.close()


def test_pair_shows_all_that_is_known(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["few"], hash=f"#/s/{quote('box/005 ü', safe='')}")
    page = opened.page
    page.locator("#explorer-pair").wait_for()
    told = page.locator(".x-detail").inner_text()
    for part in ("regression", "wrong result", "Box 5:", "bf16", "int4", "First difference"):
        assert part in told, part
    for part in ("Extracted", "Score", "Why", "Finish reason", "Tokens", "Latency"):
        assert told.count(part) == 2, part
    assert page.locator(".x-detail del").all_inner_texts() == ["苹果", "alpha5"]
    assert page.locator(".x-detail ins").all_inner_texts() == ["橙子", "omega5"]
    thought = page.locator(".x-detail details pre").first
    assert not thought.is_visible()
    page.locator(".x-detail summary").first.click()
    assert thought.inner_text() == "thinking of unicorn5"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as curl").last.click()
    page.get_by_text("Copied.").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith("curl -sS 'https://models.example/v1/chat/completions'")
    assert '"model":"m-int4"' in command
    opened.close()


def test_address_brings_everything_back(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["few"])
    opened.choose("language", "zh")
    opened.search("omega")
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("j")
    opened.page.keyboard.press("j")
    opened.page.get_by_role("heading", name="003").wait_for()
    hash, shown = opened.address(), opened.shown()
    assert shown == 4
    opened.close()
    again = Explorer(browser, pages["few"], hash=hash)
    again.page.locator("#explorer-pair").wait_for()
    again.page.locator(".x-line button").wait_for(state="hidden")
    assert (again.chosen(), again.shown(), again.address()) == ("box/003 ü", 4, hash)
    assert again.page.locator(".x-row.chosen").inner_text().startswith("✓ → ✗")
    # A link to another part of the page leaves the explorer as it is.
    again.page.locator("a.skip").evaluate("a => a.click()")
    assert (again.chosen(), again.shown()) == ("box/003 ü", 4)
    again.page.evaluate("location.hash = '#/s/nobody%22%3E?language=en'")
    again.page.get_by_text("'nobody\">' is not among the pairs").wait_for()
    assert again.shown() == 50
    again.close()


def test_one_of_several_candidates_is_chosen(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["several"])
    opened.page.keyboard.press("j")
    opened.page.get_by_role("heading", name="s00000").wait_for()
    opened.page.get_by_label("Candidate", exact=True).select_option("int1")
    assert opened.shown() == 5
    opened.page.keyboard.press("Escape")
    opened.page.locator("#explorer-list").focus()
    opened.page.keyboard.press("j")
    opened.page.get_by_role("heading", name="s00001").wait_for()
    assert "candidate=int1" in opened.address()
    link = opened.page.locator("#c2-regressions a, [id$=-regressions] a").last
    link.click()
    assert opened.page.get_by_label("Candidate", exact=True).input_value() == "1"
    opened.close()


def test_buttons_can_be_added_to_a_pair(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["few"])
    opened.page.evaluate(
        """() => document.addEventListener("explorer:pair", ({ detail }) => {
            window.told = [detail.taskset, detail.id, detail.epoch, detail.candidate];
            detail.bars.forEach(bar => bar.append("mark"));
        })"""
    )
    opened.page.keyboard.press("j")
    opened.page.locator("#explorer-pair").wait_for()
    assert opened.page.evaluate("window.told") == ["quiz", "box/000 ü", 0, "int4"]
    assert opened.page.locator(".x-bar").all_inner_texts() == ["Copy as curl\nmark"] * 2
    opened.close()


def test_redacted_pairs_show_hashes_and_no_text(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["redacted"])
    opened.page.keyboard.press("j")
    opened.page.locator("#explorer-pair").wait_for()
    told = opened.page.locator(".x-detail").inner_text()
    assert "redacted, hash" in told
    assert re.search(r"redacted: \d+ characters, hash [0-9a-f]{12}", told)
    assert "The answers differ." in told
    assert "Box" not in told
    assert opened.page.get_by_role("button", name="Copy as curl").count() == 0
    opened.close()


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("few", 1280, "light"), ("zh", 390, "dark"), ("redacted", 1280, "dark")],
)
def test_every_reader_can_use_it(
    browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    opened = Explorer(browser, pages[name], width=width, height=844, scheme=scheme)
    opened.page.keyboard.press("j")
    opened.page.locator("#explorer-pair").wait_for()
    assert opened.overflow() <= 0
    assert violations(opened) == []
    opened.page.screenshot(path=OUT / f"explorer-{name}.png")
    if name == "zh":
        told = opened.page.locator("#explorer").inner_text()
        assert not re.search(r"\b(Prompt|Target|Score|Search|Status|pairs|Next)\b", told)
    opened.close()


def test_without_javascript_its_place_says_so(browser: Any, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["few"].as_uri())
    assert page.get_by_text("The explorer needs JavaScript").is_visible()
    assert page.locator("h1").is_visible()
    assert page.locator("details.sample").first.is_visible()
    context.close()


def test_thousands_of_pairs_are_quick_and_light(browser: Any, pages: dict[str, Path]) -> None:
    def seconds(url: str, ready: str) -> float:
        page = browser.new_page()
        page.goto(url)
        page.locator(ready).first.wait_for()
        took: float = page.evaluate("performance.now()") / 1000
        page.close()
        return took

    empty = min(seconds("data:text/html,<title>x</title><p>x", "p") for _ in range(3))
    usable = min(seconds(pages["many"].as_uri(), ".x-row") for _ in range(3))
    # Fifty thousand may take 1.5 s where an empty page takes 0.4 s; a loaded machine more.
    assert usable < 3.75 * empty + 1.5
    opened = Explorer(browser, pages["many"], hash="#/")
    page = opened.page
    assert opened.shown() == 5000
    for at in (0, 50_000, 139_000):
        page.locator("#explorer-list").evaluate("(list, at) => { list.scrollTop = at }", at)
        page.wait_for_timeout(100)
        assert 10 < page.locator(".x-row").count() < 80
    assert opened.search("alpha4321") == 1
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.get_by_role("heading", name="case-004321").wait_for()
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    assert session.send("Runtime.getHeapUsage")["usedSize"] < 30e6
    assert "alpha4321" in page.locator(".x-detail .target").inner_text()
    opened.close()


def test_search_can_be_stopped_and_keeps_what_it_has(browser: Any, pages: dict[str, Path]) -> None:
    opened = Explorer(browser, pages["many"], hash="#/")
    page = opened.page
    page.evaluate(
        """() => {
            const { explorer } = evalkitExplorer;
            document.getElementById("explorer-search").value = "?";
            explorer.filter();
            setTimeout(() => document.querySelector(".x-line button").click(), 0);
        }"""
    )
    page.get_by_text("(stopped)").wait_for()
    assert opened.shown() < 5000
    opened.close()


def test_page_that_was_cut_off_says_so(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    page = pages["few"].read_bytes()
    index, chunk = page.index(b'id="explorer-index">'), page.index(b'id="explorer-chunk-0">')
    damaged = tmp_path / "damaged.html"
    damaged.write_bytes(page[: index + 40] + b"A" + page[index + 40 :])
    opened = Opened(browser, damaged, width=1280, height=900, scheme="light")
    opened.page.get_by_text("this page is damaged").wait_for()
    opened.page.close()
    damaged.write_bytes(page[: chunk + 200])
    cut = Explorer(browser, damaged)
    assert cut.shown() == 8
    cut.page.keyboard.press("j")
    cut.page.get_by_text("This part of the page cannot be read.").wait_for()
    cut.close()
