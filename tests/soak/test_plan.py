"""What a soak is asked to do, and the requests that it makes."""

from __future__ import annotations

import asyncio

import pytest

from evalkit.errors import UsageError
from evalkit.soak.mix import calibrated
from evalkit.soak.plan import (
    SoakPlan,
    checked_seconds,
    read_duration,
    read_leak,
    read_percent,
    read_range,
)
from evalkit.soak.watching import began_anew, read_metrics
from evalkit.types import Message


def test_durations_ranges_and_limits() -> None:
    assert read_duration("8h") == 8 * 3600
    assert read_duration("1h30m") == 5400
    assert read_duration("90MIN") == 5400
    assert read_range("16-512", "tokens") == (16, 512)
    assert read_range("64", "tokens") == (64, 64)
    assert read_leak("0.5") == read_leak("0.5MB/min") == 5e5
    assert read_percent("2%", "--x") == read_percent("2", "--x") == 0.02


@pytest.mark.parametrize("text", ["", "h", "8", "-1h", "1e9h", "8x", "0.5s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_duration(text)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, 0.0])
def test_no_soak_lasts_so_long(seconds: float) -> None:
    with pytest.raises(UsageError):
        checked_seconds(seconds)


def test_what_is_no_range_or_limit_is_refused() -> None:
    for text in ("", "0", "9-3", "a-b", "1-2-3"):
        with pytest.raises(UsageError):
            read_range(text, "tokens")
    for text in ("", "0", "-1", "x"):
        with pytest.raises(UsageError):
            read_leak(text)
        with pytest.raises(UsageError):
            read_percent(text, "--x")


def test_looks_are_bounded_however_long_it_lasts() -> None:
    long, short = SoakPlan(seconds=30 * 86400.0), SoakPlan(seconds=5.0)
    assert (long.sample_every, long.canary_every) == (5.0, 60.0)
    assert (short.sample_every, short.canary_every) == (0.2, 0.5)


def test_the_mix_is_seeded_varied_and_fits() -> None:
    async def count(messages: tuple[Message, ...]) -> int:
        return 9 + len(messages[0].content) // 3

    mix = asyncio.run(calibrated(count, 3, (16, 512), (16, 128), 256))
    made = [mix.make(number) for number in range(400)]
    assert made == [mix.make(number) for number in range(400)]
    assert len({one.messages for one in made}) == len(made)
    counted = [asyncio.run(count(one.messages)) for one in made]
    sums = [tokens + one.output_tokens for tokens, one in zip(counted, made, strict=True)]
    assert max(sums) <= 256
    assert max(counted) > 3 * min(counted)
    assert max(one.output_tokens for one in made) > 3 * min(one.output_tokens for one in made)
    chinese = [one for one in made if "请" in one.messages[0].content]
    assert 100 < len(chinese) < 300
    reckoned = [one.prompt_tokens for one in made]
    assert all(abs(a - b) <= 0.2 * b + 4 for a, b in zip(reckoned, counted, strict=True))


def test_a_page_of_metrics_tells_a_new_beginning() -> None:
    page = '# HELP x\nasked_total{le="1"} 7\nasked_total{le="2"} 9 1700000000\nother 3'
    before = read_metrics(page)
    assert before == {'asked_total{le="1"}': 7.0, 'asked_total{le="2"}': 9.0}
    assert list(began_anew(before, read_metrics(page.replace("7", "8")))) == []
    one_series = {**before, 'asked_total{le="1"}': 0.0, "a_total": 5.0}
    assert list(began_anew({**before, "a_total": 5.0}, one_series)) == []
    anew = list(began_anew(before, dict.fromkeys(before, 0.0)))
    assert [sign for sign, _ in anew] == ["counters"]
    stamps = ({"process_start_time_seconds": 100.0}, {"process_start_time_seconds": 200.0})
    assert [sign for sign, _ in began_anew(*stamps)] == ["start_time"]
