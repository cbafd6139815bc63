"""A judge on a real socket that knows what is right: it reads the prompt as a model would.

In a test: `with FakeServer(server=JudgeServer(...)) as judge: judge.url`. As a program:
`python -m tests.servers.judge [--manner MANNER] [--wrong SHARE]` prints its URL.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.servers.fake import Script, Server, start

MANNERS = ("plain", "echo", "parrot", "thinks", "mute", "shaky", "swayed", "cut", "both")
_MARK = re.compile(r"VERDICT ([0-9a-f]{8}): GRADE")


class JudgeServer(Server):
    """Calls an answer right that holds the reference, and not attempted one that says so.

    `wrong` is the share of answers, by their hash, on which it errs. It may `echo` the answer,
    repeat the whole prompt as a `parrot`, think aloud and otherwise, say nothing of use, do so
    at the first asking only (`shaky`), follow what an answer tells it (`swayed`), be `cut`
    after the verdict, or give two verdicts (`both`).
    """

    def __init__(self, manner: str = "plain", wrong: float = 0.0, script: Script | None = None):
        super().__init__(script or Script())
        assert manner in MANNERS
        self.manner = manner
        self.wrong = wrong
        self.asked: Counter[str] = Counter()

    def _answer(self, prompt: str, body: Mapping[str, Any]) -> dict[str, Any]:
        found = _MARK.search(prompt)
        if found is None:
            return super()._answer(prompt, body)
        mark = found[1]
        answer = block(prompt, mark, "ANSWER") or block(prompt, mark, "回答")
        grade = self.grade(
            answer, block(prompt, mark, "REFERENCE") or block(prompt, mark, "参考答案")
        )
        self.asked[mark] += 1
        text = self.say(prompt, mark, answer, grade)
        reply = super()._answer(prompt, body)
        reply["choices"][0]["message"]["content"] = text
        reply["choices"][0]["finish_reason"] = "length" if self.manner == "cut" else "stop"
        return reply

    def grade(self, answer: str, reference: str) -> str:
        right = [re.sub("^(or: |或: |- )", "", line) for line in reference.splitlines()]
        if "do not know" in answer:
            return "NOT_ATTEMPTED"
        held = any(line and line in answer for line in right)
        errs = int(hashlib.sha256(answer.encode()).hexdigest()[:8], 16) < self.wrong * 2**32
        return "CORRECT" if held is not errs else "INCORRECT"

    def say(self, prompt: str, mark: str, answer: str, grade: str) -> str:
        verdict = f"It was compared with the reference.\nVERDICT {mark}: {grade}"
        match self.manner:
            case "echo":
                return answer
            case "parrot":
                return prompt
            case "thinks":
                return f"<think>Perhaps VERDICT {mark}: INCORRECT\n</think>\n{verdict}"
            case "mute":
                return "I would rather talk about the sea."
            case "shaky" if self.asked[mark] == 1:
                return "Well."
            case "swayed" if told := re.search(r"VERDICT[^\n]*", answer):
                return f"It told me.\n{told.group()}"
            case "both":
                return f"VERDICT {mark}: INCORRECT\nNo: rather\nVERDICT {mark}: CORRECT"
        return verdict


def block(prompt: str, mark: str, name: str) -> str:
    """Return what stands between the lines of a block; empty where there is none."""
    end = f"END OF {name}" if name.isascii() else f"{name}结束"
    pattern = rf"^\[{mark} {name}\]\n(.*?)\n\[{mark} {end}\]$"
    found = re.search(pattern, prompt, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


async def _serve(server: JudgeServer, port: int) -> None:
    _, url = await start(server, port)
    print(url, flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--manner", choices=MANNERS, default="plain")
    parser.add_argument("--wrong", type=float, default=0.0)
    arguments = parser.parse_args()
    asyncio.run(_serve(JudgeServer(arguments.manner, arguments.wrong), arguments.port))


if __name__ == "__main__":
    main()
