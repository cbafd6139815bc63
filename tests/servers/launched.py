"""A small OpenAI server that misbehaves on request, to be launched: standard library only.

    python tests/servers/launched.py --port 8000 [--die-after 5] ...

It answers the questions of `tests.quiz`, and anything else with the prompt's last word.
What it is asked goes to --record, a line each.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# It is run as a program, sometimes without its folder on the path.
sys.path.append(str(Path(__file__).parent))
from manners import obey

LOAD_LINES = "loading weights"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", default="m")
    parser.add_argument("--count", default="", help="deaths count only prompts that hold this")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--wrong", type=int, default=0, help="answers of the quiz that are wrong")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds of every answer")
    parser.add_argument("--say", default="", help="printed at the start, for the log")
    parser.add_argument("--print-env", default="", help="name of a variable that is printed")
    parser.add_argument("--exit", type=int, help="end with this code at once")
    parser.add_argument("--signal", type=int, help="end by this signal at once")
    parser.add_argument("--never-healthy", action="store_true")
    parser.add_argument("--no-health-page", action="store_true")
    parser.add_argument("--load", type=float, default=0.0, help="seconds until healthy")
    parser.add_argument("--fail", type=int, help="status of every answer")
    parser.add_argument("--fail-say", default="", help="printed at every failing request")
    parser.add_argument("--die-after", type=int, help="SIGKILL itself at the answer after these")
    parser.add_argument("--deaths", type=Path, help="a file that counts; dies twice at most")
    parser.add_argument("--max-deaths", type=int, default=1)
    parser.add_argument("--sick-after", type=int, help="500 and an unhealthy page from then on")
    parser.add_argument("--quote", action="store_true", help="print every prompt")
    parser.add_argument("--once", type=Path, help="a file: with it there, it does not start")
    parser.add_argument("--busy-after", type=int, help="500 and a slow page from then on")
    parser.add_argument("--grandchildren", type=int, default=0)
    parser.add_argument("--stubborn", action="store_true", help="ignore SIGTERM, children too")
    parser.add_argument("--pids", type=Path, help="where the ids of all processes are written")
    return parser.parse_args()


ARGS = options()
BEGIN = time.monotonic()
COUNT = 0
LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        sick = ARGS.sick_after is not None and ARGS.sick_after < COUNT
        if self.path == "/health" and not ARGS.no_health_page:
            if ARGS.busy_after is not None and ARGS.busy_after < COUNT:
                time.sleep(1.5)
            loading = time.monotonic() - BEGIN < ARGS.load
            self.reply(503 if loading or sick or ARGS.never_healthy else 200, {})
        elif self.path == "/v1/models":
            self.reply(200, {"data": [{"id": ARGS.model, "owned_by": "vllm"}]})
        else:
            self.reply(404, {})

    def do_POST(self) -> None:
        global COUNT
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        except ValueError:
            self.reply(400, {"error": {"message": "no JSON"}})
            return
        if not self.path.endswith("/chat/completions"):
            self.reply(404, {})
            return
        prompt = body["messages"][-1]["content"]
        with LOCK:
            COUNT += ARGS.count in prompt
            count = COUNT
            if ARGS.record is not None:
                with ARGS.record.open("a") as record:
                    record.write(f"{prompt}\n")
        if ARGS.quote:
            print(f"ValueError: cannot serve {prompt!r}", flush=True)
        if (
            ARGS.die_after is not None
            and count > ARGS.die_after
            and ARGS.count in prompt
            and may_die()
        ):
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(ARGS.delay)
        if any(k is not None and count > k for k in (ARGS.sick_after, ARGS.busy_after)):
            self.reply(500, {"error": {"message": "the engine is dead"}})
        elif ARGS.fail:
            if ARGS.fail_say:
                print(ARGS.fail_say, flush=True)
            self.reply(ARGS.fail, {"error": {"message": "no"}})
        else:
            text, finish, tokens = obey(answer(prompt), body)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": tokens}
            self.reply(200, {"model": ARGS.model, "choices": [choice], "usage": usage})

    def log_message(self, *_: object) -> None:
        pass


def answer(prompt: str) -> str:
    box = re.search(r"box (\d+)", prompt)
    if box is None:
        return str(prompt.split()[-1])
    word = "omega" if int(box[1]) < ARGS.wrong else "alpha"
    return f"The code word is {word}{box[1]}."


def may_die() -> bool:
    if ARGS.deaths is None:
        return True
    with LOCK:
        died = len(ARGS.deaths.read_text()) if ARGS.deaths.exists() else 0
        if died >= ARGS.max_deaths:
            return False
        ARGS.deaths.write_text("x" * (died + 1))
    return True


def have_grandchildren() -> None:
    """Start processes that leave the process group and outlive their parent."""
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN);" if ARGS.stubborn else ""
    sleeper = f"import signal, time; {ignore} time.sleep(600)"
    child = (
        "import subprocess, sys;"
        f"p = subprocess.Popen([sys.executable, '-c', {sleeper!r}], start_new_session=True,"
        " stdout=subprocess.DEVNULL);"
        "print(p.pid, flush=True)"
    )
    pids = [os.getpid()]
    for _ in range(ARGS.grandchildren):
        said = subprocess.run([sys.executable, "-c", child], stdout=subprocess.PIPE, check=True)
        pids.append(int(said.stdout))
    if ARGS.pids is not None:
        part = ARGS.pids.with_suffix(".part")
        part.write_text(" ".join(map(str, pids)))
        part.rename(ARGS.pids)


def main() -> None:
    if ARGS.say:
        print(ARGS.say, flush=True)
    if ARGS.print_env:
        print(f"{ARGS.print_env} is {os.environ[ARGS.print_env]} and", sys.argv, flush=True)
    if ARGS.once is not None:
        if ARGS.once.exists():
            sys.exit("OSError: the device is gone")
        ARGS.once.touch()
    if ARGS.signal is not None:
        os.kill(os.getpid(), ARGS.signal)
    if ARGS.exit is not None:
        sys.exit(ARGS.exit)
    if ARGS.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    have_grandchildren()
    ThreadingHTTPServer(("127.0.0.1", ARGS.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
