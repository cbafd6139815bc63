"""From recorded runs to what the page embeds: the same pairs that the comparison counted."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from evalkit.errors import StoreError
from evalkit.report.explorer import Embedded
from evalkit.report.store import load_comparison
from evalkit.report.words import Words
from evalkit.results import Comparison
from evalkit.reviews import Review, Side
from evalkit.scoring.store import SCORES
from evalkit.stages import embedding
from evalkit.stages.embedding import Embedding, embedded_pairs
from evalkit.stages.places import PLACES
from evalkit.stages.redacting import redact_comparison, sealing
from evalkit.stages.rehearsal import read_recorded
from tests.recorded import Case, compared, long_cases
from tests.report.test_explorer import content, pairs

WORDS = Words("en")
SECRETS = ("Purple question", "alpha is purple", "omega is purple", "purple thought")


def cases() -> list[Case]:
    """Sixty: twelve regressions, five improvements, three without an answer."""

    def said(right: bool, number: int) -> str:
        return f"{'alpha' if right else 'omega'} is purple {number}"

    made = []
    for number in range(60):
        before: str | Exception = said(number not in range(20, 25), number)
        after: str | Exception = said(number not in range(12), number)
        if number in (40, 41):
            after = TimeoutError("too late")
        if number in (41, 42):
            before = TimeoutError("too late")
        prompt = f"Purple question {number}?"
        made.append(Case(f"p{number:02d}", prompt, before, after, reasoning="purple thought"))
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    compared(folder, cases())
    return folder / "out"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def embedded(folder: Path, embedding: Embedding | None = None, **given: Any) -> Embedded | str:
    comparison: Comparison = given.get("comparison") or load_comparison(folder)
    return embedded_pairs(folder, comparison, WORDS, embedding or Embedding())


def whole(found: Embedded | str) -> Embedded:
    assert isinstance(found, Embedded)
    return found


def test_pairs_are_those_that_the_comparison_counted(made: Path) -> None:
    found = whole(embedded(made))
    comparison = load_comparison(made)
    cells = comparison.results[0].pooled.flips
    assert found.totals == (
        {
            "regression": cells.lost,
            "improvement": cells.gained,
            "both_right": cells.both,
            "missing": 3,
        },
    )
    assert (cells.lost, cells.gained) == (12, 5)
    assert found.shown == found.totals
    index, texts = content(found.index), pairs(found)
    flips = {s.sample_id: s for s in comparison.results[0].samples}
    moved, cause = index["columns"]["transition"], index["columns"]["cause"]
    for at, name in enumerate(index["id"]):
        view = flips.get(name)
        if view is None:
            continue
        assert moved["values"][moved["codes"][at]] == view.transition
        assert cause["values"][cause["codes"][at]] == view.cause
        assert texts[at]["prompt"] == [[m["role"], m["content"]] for m in view.prompt]
        assert texts[at]["target"] == view.target
        for told, seen in zip(texts[at]["answers"], (view.baseline, view.candidate), strict=True):
            assert (told["text"], told["reasoning"]) == (seen.text, seen.reasoning)
            assert (told["answer"], told["explanation"]) == (seen.answer, seen.explanation)
            assert told["error"] == seen.error
    assert len(flips) == 20


def test_request_is_said_as_it_was_sent_and_holds_no_key(made: Path) -> None:
    index = content(whole(embedded(made)).index)
    one, other = index["requests"]
    assert one["url"] == "https://models.example/v1/chat/completions"
    assert (one["bodies"]["quiz"]["model"], other["bodies"]["quiz"]["model"]) == (
        "m-bf16",
        "m-int4",
    )
    assert one["bodies"]["quiz"]["max_tokens"] == 4096
    assert one["bodies"]["quiz"]["temperature"] == 0.0
    assert "authorization" not in orjson.dumps(index["requests"]).decode().lower()


def test_flips_alone(made: Path) -> None:
    found = whole(embedded(made, Embedding("flips")))
    assert found.shown == ({"regression": 12, "improvement": 5},)
    assert sum(found.totals[0].values()) == 60


def test_none_and_runs_that_are_gone(folder: Path) -> None:
    assert embedded(folder, Embedding("none")) == "none"
    shutil.rmtree(folder / "runs" / "int4")
    assert embedded(folder) == "gone"


def test_scores_that_changed_since_are_not_shown_beside_other_numbers(folder: Path) -> None:
    scores = folder / "runs" / "int4" / SCORES
    rows = [orjson.loads(line) for line in scores.read_bytes().splitlines()]
    right = next(row for row in rows if row["value"] == 1.0)
    right |= {"value": 0.0, "outcome": "incorrect"}
    scores.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    assert embedded(folder) == "changed"


def test_pairs_stay_when_reviewers_changed_the_verdict(made: Path) -> None:
    before = load_comparison(made)
    (result,) = before.results
    told = Side(result.verdict, 59, result.pooled.accuracy.difference, None)
    pooled = replace(result.pooled, flips=replace(result.pooled.flips, lost=99))
    review = Review((), told, told, None, followed=True)
    after = replace(before, results=(replace(result, pooled=pooled, review=review),))
    assert embedded(made, comparison=after) == embedded(made)
    other = replace(before, results=(replace(result, pooled=pooled),))
    assert embedded(made, comparison=other) == "changed"


def test_broken_journal_and_changed_taskset_are_a_sentence(folder: Path, made: Path) -> None:
    journal = folder / "runs" / "int4" / "completions.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:5], b"{}\n", *lines[6:]]))
    told: list[str] = []
    assert embedded(folder, Embedding(notify=told.append)) == "unreadable"
    assert "completions.jsonl, line 6" in told[0]
    journal.write_bytes(b"".join(lines))
    assert isinstance(embedded(folder), Embedded)
    samples = made.parent / "quiz" / "samples.jsonl"
    before = samples.read_bytes()
    samples.write_bytes(before.replace(b"Purple", b"Violet"))
    try:
        assert embedded(folder) == "unreadable"
    finally:
        samples.write_bytes(before)


def test_redacted_report_of_plain_runs_holds_no_text(made: Path) -> None:
    comparison = load_comparison(made)
    redacted = redact_comparison(comparison)
    sealed = Embedding(seal=sealing(comparison))
    found = whole(embedded(made, sealed, comparison=redacted))
    held = orjson.dumps([content(found.index), pairs(found)]).decode()
    assert not [text for text in SECRETS if text in held]
    texts = dict(zip(content(found.index)["id"], pairs(found), strict=True))
    for view in redacted.results[0].samples:
        assert texts[view.sample_id]["hash"] == view.prompt_hash
        assert texts[view.sample_id]["answers"][1]["hash"] == view.candidate.text_hash


def test_comparison_that_was_made_without_texts_shows_none(tmp_path: Path) -> None:
    made = compared(tmp_path, cases(), redact=True)
    assert made.content.redacted
    found = whole(embedded(made.folder))
    held = orjson.dumps([content(found.index), pairs(found)]).decode()
    assert not [text for text in SECRETS if text in held]
    texts = dict(zip(content(found.index)["id"], pairs(found), strict=True))
    for view in made.content.results[0].samples:
        assert texts[view.sample_id]["hash"] == view.prompt_hash
        assert texts[view.sample_id]["answers"][0]["hash"] == view.baseline.text_hash


def test_runs_elsewhere_are_found_again(tmp_path: Path) -> None:
    made = compared(tmp_path, cases(), elsewhere=True)
    assert not (made.folder / "runs").exists()
    assert isinstance(embedded(made.folder), Embedded)
    # Relative, so that both may be moved together.
    told = orjson.loads((made.folder / PLACES).read_bytes())
    assert told == {arm: f"../elsewhere/{arm}" for arm in ("bf16", "int4")}
    assert read_recorded(made.folder).answers
    (tmp_path / "elsewhere").rename(tmp_path / "away")
    assert embedded(made.folder) == "gone"


def test_answers_of_another_version_are_not_taken_for_none(tmp_path: Path) -> None:
    made = compared(tmp_path, cases())
    journal = made.folder / "runs" / "bf16" / "completions.jsonl"
    records = [orjson.loads(line) for line in journal.read_bytes().splitlines()]
    journal.write_bytes(
        b"".join(
            orjson.dumps({**record, "fingerprint": record["fingerprint"][::-1]}) + b"\n"
            for record in records
        )
    )
    with pytest.raises(StoreError, match="none to what its header says"):
        read_recorded(made.folder)


def test_small_budget_takes_flips_first_then_broken_then_a_draw_of_the_rest(
    tmp_path: Path,
) -> None:
    made = compared(tmp_path, list(long_cases(300)))
    cells = made.content.results[0].pooled.flips
    found = whole(embedded(made.folder, Embedding(budget=200_000)))
    assert found.shown[0]["regression"] == cells.lost
    assert found.shown[0]["improvement"] == cells.gained
    rest = found.shown[0]["both_right"], found.shown[0]["both_wrong"]
    assert 0 < rest[0] < cells.both
    # A draw: about as much of each as there is.
    assert abs(rest[0] / sum(rest) - cells.both / (cells.both + cells.neither)) < 0.12
    again = whole(embedded(made.folder, Embedding(budget=200_000)))
    assert again == found
    parts = Counter(pair["category"] for pair in pairs(found))
    assert len(parts) == 20


@pytest.fixture
def hundred_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "SAMPLE", 100)


@pytest.mark.usefixtures("hundred_do")
def test_by_default_all_flips_and_others_until_there_are_enough(tmp_path: Path) -> None:
    made = compared(tmp_path, list(long_cases(300)))
    cells = made.content.results[0].pooled.flips
    found = whole(embedded(made.folder))
    assert sum(found.shown[0].values()) == 100
    assert found.shown[0]["regression"] == cells.lost
    assert found.shown[0]["improvement"] == cells.gained
    assert 0 < found.shown[0]["both_right"] < cells.both
    assert sum(found.totals[0].values()) == 300
    assert sum(whole(embedded(made.folder, Embedding("all"))).shown[0].values()) == 300
    # Who names a budget wants it filled.
    filled = whole(embedded(made.folder, Embedding(budget=10_000_000)))
    assert sum(filled.shown[0].values()) == 300


def test_more_flips_than_are_enough_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "SAMPLE", 3)
    compared(tmp_path, cases())
    assert whole(embedded(tmp_path / "out")).shown == ({"regression": 12, "improvement": 5},)


@pytest.mark.usefixtures("hundred_do")
@pytest.mark.parametrize("made_of", [cases, lambda: list(long_cases(300))])
def test_what_a_comparison_has_in_memory_is_what_its_runs_say(
    tmp_path: Path, made_of: Callable[[], list[Case]]
) -> None:
    made = compared(tmp_path, made_of())
    assert made.pairs is not None
    told = [
        embedded_pairs(made.folder, made.content, WORDS, Embedding(), known)
        for known in (made.pairs, None)
    ]
    assert whole(told[0]) == whole(told[1])
    # Nothing is at hand for what is not the default: the runs are read.
    (made.folder / "runs" / "int4" / SCORES).unlink()
    assert embedded_pairs(made.folder, made.content, WORDS, Embedding(), made.pairs) == told[0]
    for other in (Embedding("all"), Embedding("flips"), Embedding(budget=10_000_000)):
        found = embedded_pairs(made.folder, made.content, WORDS, other, made.pairs)
        assert found == "unreadable"


def test_redacted_texts_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_REDACTION_KEY", "k" * 40)
    assert compared(tmp_path, cases(), redact=True).pairs is None
