"""The agreement that is promised, where the public data are at hand."""

from __future__ import annotations

import pytest

from tests.agreement import MODULES, data_dir, measure


@pytest.mark.public_data
@pytest.mark.parametrize("name", MODULES)
def test_scorers_agree_with_the_verdicts_of_others(name: str) -> None:
    data = data_dir()
    if data is None:
        pytest.skip("no public data here: EVALKIT_PUBLIC_DATA names their folder")
    rows = measure(name)(data)
    assert rows
    low = [row for row in rows if row.least is not None and row.agreement < row.least]
    assert not low
    assert not any("unexplained" in row.differences for row in rows)
