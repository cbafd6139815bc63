import math

import pytest

from evalkit.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123, "+1.2"),
        (-0.0123, "−1.2"),
        (0.0, "0.0"),
        (-0.0001, "0.0"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "+∞"),
        (-math.inf, "−∞"),
    ],
)
def test_points(value: float | None, text: str) -> None:
    assert numbers.points(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.02, "2.0"), (0.005, "0.5"), (0.0125, "1.25"), (0.1, "10.0")]
)
def test_margins(value: float, text: str) -> None:
    assert numbers.size_in_points(value) == text


def test_counts_and_percents() -> None:
    assert numbers.count(1234567) == "1,234,567"
    assert numbers.count(None) == "–"
    assert numbers.percent(0.9934, 1) == "99.3%"
    assert numbers.percent(None) == "–"
    assert numbers.interval("–", "–") == ""
    assert numbers.interval("−1.0", "+2.0") == "[−1.0, +2.0]"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [(100, 54, "−46%"), (100, 131, "+31%"), (100, 100.1, "0%"), (0, 5, "–"), (5, None, "–")],
)
def test_change(before: float, after: float | None, text: str) -> None:
    assert numbers.change(before, after) == text


@pytest.mark.parametrize(
    ("value", "text"), [(999, "999 B"), (144_811_072, "144.8 MB"), (3.2e13, "32.0 TB")]
)
def test_size(value: float, text: str) -> None:
    assert numbers.size(value) == text


def test_durations_and_p_values() -> None:
    assert numbers.seconds(0.98) == "980 ms"
    assert numbers.seconds(1.42) == "1.42 s"
    assert numbers.seconds(84.2) == "84 s"
    assert numbers.pvalue(0.0002).replace("\u00a0", " ") == "p < 0.001"
    assert numbers.pvalue(None).replace("\u00a0", " ") == "p = –"
