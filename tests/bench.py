"""`make bench`: what evalkit itself costs, in CPU seconds. `--prompts N` sets the size.

CPU seconds of this process (a busy machine does not change them much), against a fake
server in a process of its own. Wall time is shown beside them and depends on the machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.quiz import script, write_quiz


def measured(name: str, work: Callable[[], object], per: int | None = None) -> None:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    each = "" if per is None else f"{1000 * cpu / per:10.3f} ms each"
    print(f"{name:<44}{cpu:8.2f} s CPU {wall:8.2f} s wall {each}", flush=True)


def start_help() -> None:
    code = (
        "import sys, time\n"
        "from evalkit.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    sys.stderr.write(str(time.process_time()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"{'evalkit --help':<44}{float(done.stderr):8.2f} s CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--connections", type=int, default=64)
    arguments = parser.parse_args()
    n = arguments.prompts
    start_help()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_quiz(folder / "quiz", n)
        servers = []
        for arm, wrong in (("a", range(0)), ("b", range(n // 50))):
            path = script(n, wrong=set(wrong)).write(folder / f"{arm}.json")
            servers.append(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.servers.fake", "--script", str(path)],
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
        try:
            urls = [server.stdout.readline().strip() for server in servers if server.stdout]
            stages(folder, urls, n, arguments.connections)
        finally:
            for server in servers:
                server.terminate()
                server.communicate(timeout=10)


def stages(folder: Path, urls: list[str], n: int, connections: int) -> None:
    from evalkit import api
    from evalkit.config import Config
    from evalkit.report.html import render_html
    from evalkit.report.view import build_view

    config = Config(tasks=(str(folder / "quiz"),), max_connections=connections)
    targets = [f"{url}#fake" for url in urls]
    runs = [folder / "one", folder / "other"]
    # The first run pays for imports; the second one is the marginal cost.
    api.run(targets[0], Config(tasks=config.tasks, limit=10), output=folder / "warm")
    for target, out in zip(targets, runs, strict=True):
        measured(
            f"ask, journal and score {n:,} prompts",
            lambda target=target, out=out: api.run(target, config, output=out),  # type: ignore[misc]
            per=n,
        )
    recorded = [str(run) for run in runs]
    measured(
        f"compare two recorded runs of {n:,}",
        lambda: api.compare(recorded, config, output=folder / "out"),
        per=n,
    )
    comparison = api.compare(recorded, config, output=folder / "out").comparison
    measured("render the page", lambda: render_html(build_view(comparison, "en")))


if __name__ == "__main__":
    main()
