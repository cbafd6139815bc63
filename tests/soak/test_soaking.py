"""Soaks of real servers in processes of their own: seconds that stand for hours.

The rates of what ails a server are scaled with the time: 1 MB/min over an hour is 60 MB, here
within seconds; 5% an hour over eight hours is 40%.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.api.soaking import soak
from evalkit.config import check_config
from evalkit.soak.journal import JOURNAL
from evalkit.soak.plan import SoakPlan
from evalkit.stability import Stability
from tests.servers.ailing import Ails, ailing
from tests.servers.embedded import needs_model

CONFIG = check_config({}, where="a test")
# The machine that runs tests is busy with others: only faults far beyond its noise count.
QUICK = SoakPlan(seconds=9.0, concurrency=3, max_slowdown=60.0, max_leak=30e6)


def soaked(port: int, folder: Path, plan: SoakPlan = QUICK) -> Stability:
    return soak(f"http://127.0.0.1:{port}#m", CONFIG, plan, output=folder).found


def codes(found: Stability) -> set[str]:
    return {one.code for one in found.findings}


def test_a_sound_server_is_stable(tmp_path: Path) -> None:
    with ailing(Ails(noisy=True)) as (_, port):
        found = soaked(port, tmp_path)
    assert found.findings == ()
    assert found.state == "stable"
    assert found.n_failed == 0
    assert found.n_requests > 100
    assert {one.name for one in found.trends} >= {"memory.processes", "latency", "throughput"}
    assert sum(one.n_requests for one in found.windows) == found.n_requests
    assert len(found.answers) == 3
    assert found.answers[0].n_texts == 2


def test_a_leak_and_a_slow_down_are_found(tmp_path: Path) -> None:
    with ailing(Ails(leak=7e6, slower=0.15)) as (_, port):
        found = soaked(port, tmp_path)
    assert codes(found) >= {"LEAK", "SLOWER"}
    leak = next(one for one in found.trends if one.name == "memory.processes")
    assert leak.slope.value == pytest.approx(7e6 * 60, rel=0.1)
    latency = next(one for one in found.trends if one.name == "latency")
    assert latency.rise is not None
    assert 0.3 < latency.rise < 1.5


def test_a_burst_and_other_answers_are_found(tmp_path: Path) -> None:
    with ailing(Ails(other_after=5.0, failing=(8.0, 60.0))) as (_, port):
        found = soaked(port, tmp_path, replace(QUICK, seconds=11.0))
    assert codes(found) >= {"ANSWERS", "BURST"}
    assert "LEAK" not in codes(found)


def test_a_restart_is_seen_by_every_sign(tmp_path: Path) -> None:
    with ailing() as (first, port):
        later: list[subprocess.Popen[str]] = []
        stop = threading.Event()

        def restart() -> None:
            stop.wait(3.0)
            first.kill()
            first.wait()
            stop.wait(1.5)
            with ailing(Ails(port=port, version="2")) as (second, _):
                later.append(second)
                stop.wait(60.0)

        thread = threading.Thread(target=restart)
        thread.start()
        try:
            found = soaked(port, tmp_path)
        finally:
            stop.set()
            thread.join()
    assert codes(found) >= {"RESTART", "OUTAGE"}
    signs = {sign for one in found.restarts for sign in one.signs}
    assert signs >= {"process", "start_time", "identity"}
    (outage,) = found.outages
    assert outage.ended is not None
    assert 1.0 <= outage.ended - outage.began <= 5.0


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    plan = replace(QUICK, seconds=5.0)
    with ailing() as (_, port):
        first = soaked(port, tmp_path, plan)
        # Longer than before: the rest is asked; another load is refused.
        longer = soaked(port, tmp_path, replace(plan, seconds=10.0))
        began = time.perf_counter()
        again = soaked(port, tmp_path, replace(plan, seconds=10.0))
        assert time.perf_counter() - began < 3.0, "what is recorded is not asked again"
        with pytest.raises(Exception, match="concurrency 3, not 2"):
            soaked(port, tmp_path, replace(plan, concurrency=2))
    assert longer.n_requests > first.n_requests
    assert again.n_requests == longer.n_requests
    assert "RESUMED" in {one.code for one in longer.remarks}
    assert longer.restarts == ()


def test_open_loop_keeps_its_rate_and_its_bound(tmp_path: Path) -> None:
    plan = replace(QUICK, seconds=5.0, rate=20.0, concurrency=16)
    with ailing() as (_, port):
        found = soaked(port, tmp_path, plan)
    assert 60 <= found.n_requests <= 140
    assert found.n_failed == 0


@pytest.mark.model
@pytest.mark.slow
@needs_model
def test_the_embedded_engine_is_stable(tmp_path: Path) -> None:
    from tests.servers.embedded import served

    with served("q4", "--context", "512") as url:
        plan = SoakPlan(
            seconds=20.0, concurrency=2, prompt_tokens=(16, 96), output_tokens=(4, 16),
            max_slowdown=20.0, max_leak=60e6,
        )  # fmt: skip
        found = soak(f"{url}#q4", CONFIG, plan, output=tmp_path).found
    assert found.n_failed == 0
    assert found.n_requests > 10
    assert codes(found) <= {"SLOWER", "FEWER"}, "its speed is this machine's matter"
    assert any(one.name == "memory.processes" for one in found.trends)
    requests = [json.loads(line) for line in (tmp_path / JOURNAL).read_text().splitlines()]
    asked = [line for line in requests if line["k"] == "r"]
    assert len({line["p"] for line in asked}) > 5
    assert all(4 <= line["o"] <= 16 for line in asked)
