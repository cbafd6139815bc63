"""The ledger of looks as a file: appended, chained, and safe against a second writer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.decision.looks import Asked
from evalkit.errors import StoreError
from evalkit.results import Comparison
from evalkit.stages.ledger import LEDGER, Ledger, Subject
from tests.report.fixtures import comparison


def subject(*prompts: str, run: str = "r1") -> Subject:
    return Subject("base", "cand", Asked({"t": prompts}, {"t": len(prompts)}, 1, ("r0", run)))


def made(state: str = "INCONCLUSIVE") -> Comparison:
    return replace(comparison(state), policy={"plan": "single"})


def test_lines_are_added_and_chained(tmp_path: Path) -> None:
    ledger = Ledger.read(tmp_path)
    assert ledger.entries == ()
    ledger.add(made(), {"q4": subject("a")})
    ledger.add(made(), {"q4": subject("a")})
    ledger.add(made(), {"q4": subject("a", "b")})
    lines = [json.loads(line) for line in (tmp_path / LEDGER).read_text().splitlines()]
    assert [line["prompts"]["t"][0] for line in lines] == [1, 2]
    assert lines[1]["previous"] == lines[0]["hash"]
    again = Ledger.read(tmp_path)
    assert [past.prompts["t"][0] for past in again.history(subject("c"))] == [1, 2]
    assert again.history(replace(subject("c"), candidate="other")) == []


def test_what_was_invalid_is_kept_and_no_look(tmp_path: Path) -> None:
    ledger = Ledger.read(tmp_path)
    ledger.add(made("INVALID"), {"q4": subject("a")})
    assert len(ledger.entries) == 1
    assert Ledger.read(tmp_path).history(subject("a")) == []


def test_a_second_writer_is_noticed(tmp_path: Path) -> None:
    one, other = Ledger.read(tmp_path), Ledger.read(tmp_path)
    one.add(made(), {"q4": subject("a")})
    with pytest.raises(StoreError, match="Another process wrote"):
        other.add(made(), {"q4": subject("b")})
    assert len(Ledger.read(tmp_path).entries) == 1


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_line_that_is_taken_out_or_changed_is_noticed(tmp_path: Path, line: int) -> None:
    ledger = Ledger.read(tmp_path)
    for size in (1, 2, 3):
        ledger.add(made(), {"q4": subject(*"abc"[:size])})
    path = tmp_path / LEDGER
    lines = path.read_bytes().splitlines(keepends=True)
    changed = lines[line].replace(b'"INCONCLUSIVE"', b'"INVALID"')
    path.write_bytes(b"".join([*lines[:line], changed, *lines[line + 1 :]]))
    with pytest.raises(StoreError, match=f"line {line + 1} is not as it was written"):
        Ledger.read(tmp_path)
    if line < 2:
        path.write_bytes(b"".join([*lines[:line], *lines[line + 1 :]]))
        with pytest.raises(StoreError, match="not as it was written"):
            Ledger.read(tmp_path)


@pytest.mark.parametrize("junk", [b"[]\n", b"7\n", b'{"hash": 1}\n', b"\xff\n", b"{}\n"])
def test_junk_is_refused_in_one_sentence(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / LEDGER).write_bytes(junk)
    with pytest.raises(StoreError, match="line 1 is not as it was written"):
        Ledger.read(tmp_path)


def test_a_torn_last_line_is_cut_off_by_the_next(tmp_path: Path) -> None:
    ledger = Ledger.read(tmp_path)
    ledger.add(made(), {"q4": subject("a")})
    with (tmp_path / LEDGER).open("ab") as file:
        file.write(b'{"torn')
    again = Ledger.read(tmp_path)
    assert len(again.entries) == 1
    again.add(made(), {"q4": subject("a", "b")})
    assert len(Ledger.read(tmp_path).entries) == 2
