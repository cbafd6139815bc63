"""`review.jsonl`: only ever added to, and only what can be understood later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import EvalKitError, StoreError, UsageError
from evalkit.stages.marks import REVIEW, add_mark, read_marks

SCORE: dict[str, Any] = {
    "kind": "score",
    "taskset": "facts",
    "sample_id": "a-1",
    "epoch": 0,
    "arm": "q4",
    "outcome": "correct",
    "answer_hash": "0" * 32,
    "reason": "Paris is right.",
    "reviewer": "Ada",
}


def test_marks_come_back_in_their_order_with_who_and_when(tmp_path: Path) -> None:
    assert read_marks(tmp_path) == ()
    first = add_mark(tmp_path, SCORE)
    second = add_mark(
        tmp_path,
        {
            "kind": "prompt",
            "taskset": "facts",
            "sample_id": "a-2",
            "reason": "题目有误",
            "reviewer": "李",
        },
    )
    assert read_marks(tmp_path) == (first, second)
    assert first.time
    assert first.mark_id != second.mark_id
    assert (second.arm, second.outcome, second.epoch) == (None, None, 0)


def test_a_mark_is_taken_back_once_by_another_line(tmp_path: Path) -> None:
    first = add_mark(tmp_path, SCORE)
    before = (tmp_path / REVIEW).read_bytes()
    back = {**SCORE, "kind": "withdrawal", "withdraws": first.mark_id, "reason": "I erred."}
    add_mark(tmp_path, back)
    assert (tmp_path / REVIEW).read_bytes().startswith(before)
    with pytest.raises(UsageError, match="no such mark"):
        add_mark(tmp_path, back)
    with pytest.raises(UsageError, match="no such mark"):
        add_mark(tmp_path, {**back, "withdraws": "f" * 32})


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "opinion"},
        {"kind": None},
        {"reviewer": "  "},
        {"reason": ""},
        {"reason": None},
        {"reason": "x" * 2_001},
        {"reviewer": 7},
        {"outcome": "great"},
        {"outcome": None},
        {"arm": None},
        {"answer_hash": None},
        {"epoch": "0"},
        {"epoch": True},
        {"sample_id": ""},
        {"score": 1},
    ],
)
def test_what_is_no_mark_is_refused_and_not_written(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        add_mark(tmp_path, {**SCORE, **wrong})
    assert not (tmp_path / REVIEW).exists()


def test_a_changed_line_is_noticed(tmp_path: Path) -> None:
    add_mark(tmp_path, SCORE)
    path = tmp_path / REVIEW
    path.write_bytes(path.read_bytes().replace(b"Paris", b"Lyons"))
    with pytest.raises(StoreError, match="line 1"):
        read_marks(tmp_path)
    with pytest.raises(StoreError, match="line 1"):
        add_mark(tmp_path, SCORE)


def test_a_torn_last_line_is_no_mark(tmp_path: Path) -> None:
    first = add_mark(tmp_path, SCORE)
    path = tmp_path / REVIEW
    path.write_bytes(path.read_bytes() + b'{"kind":"sco')
    assert read_marks(tmp_path) == (first,)
    second = add_mark(tmp_path, {**SCORE, "sample_id": "a-3"})
    assert read_marks(tmp_path) == (first, second)


def test_lone_surrogates_do_no_harm(tmp_path: Path) -> None:
    made = add_mark(tmp_path, {**SCORE, "reason": "a\ud800b"})
    assert made.reason == "a?b"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(EvalKitError):
        add_mark(tmp_path / "out", SCORE)
