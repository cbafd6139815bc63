"""The plan against the memory that the embedded model really takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from evalkit.capacity.budget import ENGINES, Workload, plan_capacity
from evalkit.capacity.source import read_source
from evalkit.endpoints.weights import embedded_weights

pytestmark = pytest.mark.model
_STATUS = Path("/proc/self/status")


@pytest.mark.skipif(not _STATUS.exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize(("arm", "context", "slots"), [("q8", 1024, 1), ("q4", 2048, 3)])
def test_peak_memory_is_met_within_15_percent(arm: str, context: int, slots: int) -> None:
    words = ["--slots", str(slots), "--context", str(context), "--threads", "1"]
    server = subprocess.Popen(
        [sys.executable, "-m", "evalkit.endpoints.serve", arm, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        body = {"prompt": "word " * 200, "max_tokens": 2, "temperature": 0}
        request = urllib.request.Request(
            f"{url.removesuffix('/v1')}/v1/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=90) as reply:
            assert json.load(reply)["usage"]["prompt_tokens"] > 150
        status = Path(f"/proc/{server.pid}/status").read_text()
    finally:
        server.kill()
        server.communicate()
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]
    source = read_source(str(embedded_weights(arm).path))
    engine = ENGINES[source.engine]
    work = Workload(
        context=context,
        concurrency=slots,
        kv="fp16",
        engine=source.engine,
        prefill_tokens=engine.prefill_tokens,
        reserve=engine.reserve,
        headroom=0.0,
    )
    found = plan_capacity(source.model, [source.stored()], work)
    assert found.footprints[0].needed == pytest.approx(peak, rel=0.15)
