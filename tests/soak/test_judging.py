"""Hours of load in a moment: journals with known faults, judged by the whole analysis."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from evalkit.errors import StoreError, UsageError
from evalkit.soak.journal import JOURNAL
from evalkit.stability import Stability, StabilityTrend
from evalkit.stages.soaking import judge
from tests.soak.journals import HOUR, MB, Course

RUNS = 12
LEAK = Course(hours=1, memory=lambda t: MB * t / 60)
SLOW = Course(hours=4, slower=0.05)


def judged(folder: Path, course: Course) -> Stability:
    course.write(folder)
    return judge(folder)


def trend(found: Stability, name: str) -> StabilityTrend:
    return next(one for one in found.trends if one.name == name)


def codes(found: Stability) -> list[str]:
    return [one.code for one in found.findings]


def test_a_leak_of_a_megabyte_a_minute_is_found_within_an_hour(tmp_path: Path) -> None:
    hit = 0
    for seed in range(RUNS):
        found = judged(tmp_path / str(seed), replace(LEAK, seed=seed))
        one = trend(found, "memory.processes")
        hit += codes(found) == ["LEAK"]
        assert one.slope.value == pytest.approx(MB, rel=0.15)
        assert found.state == ("unstable" if found.findings else "stable")
    assert hit >= RUNS - 1


def test_a_slow_down_of_five_percent_an_hour_is_found_within_four(tmp_path: Path) -> None:
    hit = 0
    for seed in range(RUNS):
        found = judged(tmp_path / str(seed), replace(SLOW, seed=seed))
        one = trend(found, "latency")
        hit += "SLOWER" in codes(found) and "LEAK" not in codes(found)
        assert one.slope.value == pytest.approx(0.05, rel=0.25)
    assert hit >= RUNS - 1


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    """Clean hours, a collector's saw, a filling cache, a day's wave, failures by chance."""
    courses = {
        "clean": Course(),
        "saw": Course(memory=lambda t: 200 * MB * (t / 700 % 1)),
        "cache": Course(memory=lambda t: 2e9 * (1 - math.exp(-t / 900))),
        "wave": Course(memory=lambda t: 300 * MB * math.sin(t / HOUR * 2 * math.pi)),
        "failures": Course(fails=lambda t: 0.004),
        "noisy": Course(canary=lambda t, rng: rng.choice(("Paris.", "Paris", "It is Paris."))),
    }
    found = {
        f"{name} {seed}": codes(judged(tmp_path / f"{name}{seed}", replace(course, seed=seed)))
        for name, course in courses.items()
        for seed in range(5)
    }
    # At most 5% of clean soaks may say something: of 30, four with a chance of 6%.
    assert sum(map(bool, found.values())) <= 4, {k: v for k, v in found.items() if v}


def test_a_leak_under_a_saw_is_one_and_a_restart_ends_it(tmp_path: Path) -> None:
    saw = Course(hours=3, memory=lambda t: MB * t / 60 + 60 * MB * (t / 600 % 1))
    assert codes(judged(tmp_path / "saw", saw)) == ["LEAK"]
    events = ((1.0 * HOUR, "process", "7 → 8"), (1.0 * HOUR + 3, "counters", "a 9 → 1"))
    anew = replace(saw, memory=lambda t: MB * (t % HOUR) / 60, events=events)
    found = judged(tmp_path / "anew", anew)
    assert "RESTART" in codes(found)
    (restart,) = found.restarts
    assert restart.signs == ("process", "counters")
    assert trend(found, "memory.processes").settled > HOUR


def test_bursts_outages_and_too_many_failures(tmp_path: Path) -> None:
    burst = Course(fails=lambda t: 0.6 if 3000 < t < 3200 else 0.001)
    found = judged(tmp_path / "burst", burst)
    assert "BURST" in codes(found)
    (one,) = found.bursts
    assert one.began <= 3060
    assert one.ended >= 3140
    assert set(one.kinds) == {"ServerError"}
    down = Course(fails=lambda t: float(4000 < t < 4300))
    found = judged(tmp_path / "down", down)
    assert codes(found)[0] == "OUTAGE"
    assert "BURST" not in codes(found), "an outage is told once"
    gone = judged(tmp_path / "gone", Course(fails=lambda t: float(t > 5000)))
    assert codes(gone)[0] == "DOWN"
    assert codes(judged(tmp_path / "bad", Course(fails=lambda t: 0.05))) == ["FAILURES"]


def test_changed_answers_are_told_from_noise(tmp_path: Path) -> None:
    def becomes(t: float, rng: random.Random) -> str:
        return rng.choice(("Paris.", "Paris")) if t < HOUR else rng.choice(("Rome.", "Paris"))

    found = judged(tmp_path, Course(canary=becomes))
    assert codes(found) == ["ANSWERS"]
    (one,) = found.answers
    assert one.changed_at == pytest.approx(HOUR, abs=HOUR / 4)
    assert one.after == "Rome."


def test_lengths_that_drift_are_no_slow_down(tmp_path: Path) -> None:
    course = Course(seed=4)
    course.write(tmp_path)
    path = tmp_path / JOURNAL
    # The mix as it happens to fall must not matter: longer answers in the second half.
    lines = path.read_text().splitlines()
    kept = [
        line
        for line in lines
        if '"k":"r"' not in line or ('"t":' in line and _long(line) == (_time(line) > HOUR))
    ]
    path.write_text("\n".join(kept) + "\n")
    found = judge(tmp_path)
    assert trend(found, "latency").state != "found"


def _time(line: str) -> float:
    return float(line.split('"t":')[1].split(",")[0])


def _long(line: str) -> bool:
    return int(line.split('"o":')[1].split(",")[0].rstrip("}")) > 72


def test_too_little_is_said_to_be_so(tmp_path: Path) -> None:
    found = judged(tmp_path, Course(hours=0.005))
    assert (found.state, codes(found)) == ("unmeasured", ["UNMEASURED"])


def test_a_broken_journal_is_refused_and_a_torn_end_is_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no soak"):
        judge(tmp_path)
    Course(hours=0.3).write(tmp_path)
    path = tmp_path / JOURNAL
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"k":"r","t":')
    assert judge(tmp_path).n_requests == judge(tmp_path).n_requests > 0
    for wrong in (
        b"[]\n",
        b'{"k":"r","t":1}\n',
        b'{"k":"r","t":true,"e":1}\n',
        b'{"k":"r","t":1,"e":"x"}\n',
        b'{"k":"z","t":1}\n',
        b"\xff\n",
    ):
        path.write_bytes(whole + wrong)
        with pytest.raises(StoreError, match="cannot be read"):
            judge(tmp_path)


def test_a_client_that_grows_busy_is_not_the_server(tmp_path: Path) -> None:
    SLOW.write(tmp_path)
    path = tmp_path / JOURNAL
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert trend(judge(tmp_path), "latency").state == "found"
    for line in lines:
        if line["k"] == "m":
            line["lag"] = 0.2 * line["t"] / (4 * HOUR)
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert trend(judge(tmp_path), "latency").state == "open"
