"""What is embedded in the page: read back as the page's script does."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.report.explorer import (
    CHUNK,
    TRANSITIONS,
    ArmRequests,
    ArmTime,
    Embedded,
    Exploration,
    ExplorerRow,
    embed,
)
from evalkit.report.explorer_block import explorer_block
from evalkit.report.html import explorer_script, page_parts, render_html, source_hash
from evalkit.report.view import build_view
from evalkit.report.words import Words
from evalkit.results import AnswerView, SampleView
from tests.report.fixtures import comparison

WORDS = Words("en")


def answer(text: str | None = "forty-two", **changes: Any) -> AnswerView:
    plain = AnswerView(text, None, "42", "correct", 1.0, "names 42", (), "stop", 7, None)
    return replace(plain, **changes)


def row(
    number: int,
    moved: str = "both_right",
    *,
    candidate: int = 0,
    text: str = "forty-three",
    **changes: Any,
) -> ExplorerRow:
    sample = SampleView(
        sample_id=f"s{number:05d}",
        taskset="quiz",
        family="facts",
        language="en",
        category="boxes",
        epoch=0,
        transition=moved,  # type: ignore[arg-type]
        cause=None if moved == "both_right" else "wrong_result",
        prompt=({"role": "user", "content": f"Question {number}?"},),
        target="42",
        baseline=answer(),
        candidate=answer(text),
    )
    return ExplorerRow(
        candidate, replace(sample, **changes), "short", False, (ArmTime(0.5, 0.1), ArmTime(0.25))
    )


def exploration(rows: list[ExplorerRow], candidates: int = 1) -> Exploration:
    totals: list[dict[str, int]] = [{} for _ in range(candidates)]
    for one in rows:
        counts = totals[one.candidate]
        counts[one.sample.transition] = counts.get(one.sample.transition, 0) + 1
    names = ("bf16", *(f"int{n}" for n in range(candidates)))
    asked = ArmRequests("https://models.example/v1/chat/completions", {"quiz": {"model": "m"}})
    return Exploration(names, (asked,) * (candidates + 1), tuple(totals), rows)


def content(block: bytes | str) -> Any:
    raw = block.encode() if isinstance(block, str) else block
    found = re.fullmatch(
        rb'<script type="application/octet-stream" id="explorer-[a-z0-9-]+">'
        rb"([A-Za-z0-9+/=]*)</script>\n",
        raw,
    )
    assert found is not None
    return json.loads(zlib.decompress(base64.b64decode(found[1]), -15))


def pairs(embedded: Embedded) -> list[dict[str, Any]]:
    """Return the texts of all pairs in the order of the index."""
    index, chunks = content(embedded.index), [content(chunk) for chunk in embedded.chunks]
    return [chunks[at // index["chunk"]][at % index["chunk"]] for at in index["place"]]


def test_index_and_chunks_say_the_same() -> None:
    rows = [row(n, TRANSITIONS[n % 5]) for n in range(2 * CHUNK + 3)]
    embedded = embed(exploration(rows), WORDS, None)
    index = content(embedded.index)
    assert len(embedded.chunks) == 3
    by_id = {one.sample.sample_id: one for one in rows}
    assert sorted(index["id"]) == sorted(by_id)
    for name, pair in zip(index["id"], pairs(embedded), strict=True):
        assert pair["prompt"] == [["user", by_id[name].sample.prompt[0]["content"]]]
        assert [one["text"] for one in pair["answers"]] == ["forty-two", "forty-three"]
        assert [one["seconds"] for one in pair["answers"]] == [0.5, 0.25]
    moved = index["columns"]["transition"]
    listed = [moved["values"][code] for code in moved["codes"]]
    assert listed == sorted(listed, key=TRANSITIONS.index)
    assert embedded.shown == embedded.totals


def test_budget_takes_the_first_and_counts_what_it_takes() -> None:
    rng = random.Random(0)
    texts = [rng.randbytes(200).hex() for n in range(4 * CHUNK)]
    rows = [
        row(n, "regression" if n < CHUNK else "both_right", text=text)
        for n, text in enumerate(texts)
    ]
    whole = embed(exploration(rows), WORDS, None)
    budget = sum(map(len, whole.chunks)) // 2
    part = embed(exploration(rows), WORDS, budget)
    spent = len(part.index) + sum(map(len, part.chunks))
    assert 0.5 * budget < spent <= budget
    assert part.shown[0]["regression"] == CHUNK
    assert 0 < part.shown[0]["both_right"] < 3 * CHUNK
    assert len(content(part.index)["id"]) == sum(part.shown[0].values())
    block = explorer_block(WORDS, part)
    assert f"{sum(part.shown[0].values()):,} of {4 * CHUNK:,} pairs" in block.lead
    assert block.table is not None
    assert ("regression", f"{CHUNK}", f"{CHUNK}") in block.table.rows


def test_budget_of_nothing_embeds_nothing() -> None:
    embedded = embed(exploration([row(1)]), WORDS, 0)
    assert embedded.chunks == ()
    assert content(embedded.index)["id"] == []


def test_rows_are_made_only_as_far_as_the_budget_goes() -> None:
    made = 0

    def rows() -> Any:
        nonlocal made
        for number in range(100 * CHUNK):
            made += 1
            yield row(number)

    embed(replace(exploration([]), totals=({},), rows=rows()), WORDS, 30_000)
    assert made < 10 * CHUNK


@pytest.mark.parametrize("text", ["\ud800", "</script><script>x", "\x00\u2028]]>", "é" * 50_000])
def test_any_text_comes_through(text: str) -> None:
    rows = [row(1, text=text, target=text)]
    (pair,) = pairs(embed(exploration(rows), WORDS, None))
    shown = pair["answers"][1]["text"]
    if len(text) < 20_000:
        assert shown == text
    else:
        assert "… 30,000 characters cut …" in shown
        assert len(shown) < 20_100


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_chunks_are_inert_whatever_is_in_them(text: str) -> None:
    embedded = embed(exploration([row(1, text=text, sample_id=text, cause=text)]), WORDS, None)
    assert pairs(embedded)[0]["answers"][1]["text"] == text


def test_each_candidate_has_its_own_pairs() -> None:
    rows = [row(n, candidate=n % 2) for n in range(10)]
    embedded = embed(exploration(rows, candidates=2), WORDS, None)
    index = content(embedded.index)
    assert index["names"] == ["bf16", "int0", "int1"]
    assert index["candidate"] == [0] * 5 + [1] * 5
    block = explorer_block(WORDS, embedded)
    assert block.table is not None
    assert [line[0] for line in block.table.rows] == ["int0", "int1"]


def test_states_are_bits_of_either_answer() -> None:
    cut = answer(flags=("truncated", "loop"), value=0.0)
    rows = [
        row(1, baseline=cut),
        row(2, "missing", candidate=0, sample_id="gone"),
        row(3, baseline=answer(value=None, outcome=None)),
    ]
    failed = answer(None, error="Timeout: x", value=None, outcome=None)
    rows[1] = replace(rows[1], sample=replace(rows[1].sample, candidate=failed))
    index = content(embed(exploration(rows), WORDS, None).index)
    state = index["columns"]["state"]

    def of(name: str) -> set[str]:
        bits = state["codes"][index["id"].index(name)]
        return {value for at, value in enumerate(state["values"]) if bits >> at & 1}

    assert of("s00001") == {"differs", "truncated", "loop"}
    assert of("gone") == {"differs", "no_answer"}
    assert of("s00003") == {"differs", "unscored"}


def test_page_allows_its_own_script_by_its_hash_and_markup_from_no_text() -> None:
    embedded = embed(exploration([row(1)]), WORDS, None)
    view = replace(build_view(comparison("HOLD")), explorer=explorer_block(WORDS, embedded))
    page = b"".join(page_parts(view, embedded)).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    said = policy[1].replace("&#39;", "'")
    assert f"script-src '{source_hash(explorer_script())}'" in said
    assert "require-trusted-types-for 'script'" in said
    assert "unsafe" not in said
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    assert scripts == [explorer_script()]
    assert "</script" not in explorer_script().lower()
    assert page.index("explorer-index") < page.index("<script>") < page.index("explorer-chunk-0")


@pytest.mark.parametrize("why", ["none", "gone", "changed", "unreadable"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_page_without_pairs_says_why_and_has_no_script(why: str, lang: str) -> None:
    block = explorer_block(Words(lang), why)
    view = replace(build_view(comparison("HOLD"), lang), explorer=block)
    page = b"".join(page_parts(view, why)).decode()
    assert block.problem in html.unescape(page)
    assert "<script" not in page
    assert "<script" not in render_html(build_view(comparison("HOLD"), lang))


def test_script_makes_no_markup_and_asks_nobody() -> None:
    banned = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(|XMLHttp"
    assert re.findall(banned, explorer_script()) == []
