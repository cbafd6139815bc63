"""A short version of `python -m tests.simulate`; the enumerated figures are complete."""

from __future__ import annotations

import pytest

from tests.simulate import main, section_a, section_b, section_d


def off(rows):
    return [row for row in rows if not row.agrees]


def test_coverage_by_enumeration():
    rows = list(section_a(runs=0))
    assert len(rows) == 16 * 3
    assert off(rows) == []


def test_type_one_error_by_enumeration():
    rows = list(section_b())
    assert len(rows) == 7 * 6
    assert off(rows) == []


def test_clusters_by_simulation():
    rows = list(section_d(runs=60))
    assert len(rows) == 5 * 8
    assert off(rows) == []


@pytest.mark.slow
def test_all_of_it(capsys):
    assert main(["--runs", "100"]) == 0
    assert "0 figures off" in capsys.readouterr().out
