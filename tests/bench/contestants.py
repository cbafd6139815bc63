"""Who does the same work: evalkit, a bare loop, and lm-eval where it is installed.

lm-eval runs in an environment of its own, whose Python `EVALKIT_BENCH_LM_EVAL` names
(`make bench-lm-eval` makes one).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.meters import evalkit
from tests.quiz import answers, write_quiz

LM_EVAL = "EVALKIT_BENCH_LM_EVAL"
_TASK = """\
task: quiz
dataset_path: json
dataset_kwargs:
  data_files: {path}
test_split: train
output_type: generate_until
doc_to_text: "{{{{input}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs:
  until: ["\\n\\n"]
  max_gen_toks: 16
  do_sample: false
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""


@dataclass(frozen=True)
class Contestant:
    """A program that asks a server n questions.

    Attributes:
        name: As the table shows it.
        share: Of the usual number of prompts: one that is slow is asked fewer.
        env: What its environment needs.
    """

    name: str
    share: float = 1.0
    env: Mapping[str, str] = field(default_factory=dict)

    def command(self, folder: Path, url: str, n: int, connections: int) -> list[str]:
        """Return its command line, after writing what it reads."""
        raise NotImplementedError


@dataclass(frozen=True)
class Evalkit(Contestant):
    """Asks, journals, scores."""

    def command(self, folder: Path, url: str, n: int, connections: int) -> list[str]:
        quiz, out = write_quiz(folder / "quiz", n), folder / f"run-{url.rpartition(':')[2]}"
        flags = (
            "-t",
            quiz,
            "-o",
            out,
            "-j",
            connections,
            "--fresh",
            "--display",
            "none",
            "--allow-confounded",
        )
        return evalkit("run", f"{url}#fake", *flags)


@dataclass(frozen=True)
class Bare(Contestant):
    """Asks and reads the answer."""

    client: str = "aiohttp"
    python: str = sys.executable

    def command(self, folder: Path, url: str, n: int, connections: int) -> list[str]:
        program = Path(__file__).with_name("bare.py")
        return [self.python, str(program), self.client, url, str(n), str(connections)]


@dataclass(frozen=True)
class LmEval(Contestant):
    """Asks, scores, logs each sample."""

    python: str = ""

    def command(self, folder: Path, url: str, n: int, connections: int) -> list[str]:
        path = folder / f"lm-eval-{n}"
        path.mkdir(exist_ok=True)
        rows = ({"input": asked, "target": said} for asked, said in answers(n).items())
        samples = path / "quiz.jsonl"
        samples.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        (path / "quiz.yaml").write_text(_TASK.format(path=samples), "utf-8")
        model = f"base_url={url}/v1/chat/completions,model=fake,num_concurrent={connections}"
        return [
            *(self.python, "-m", "lm_eval", "--model", "local-chat-completions"),
            *("--model_args", f"{model},tokenized_requests=False"),
            *("--tasks", "quiz", "--include_path", str(path), "--apply_chat_template"),
            *("--output_path", str(path / "out"), "--log_samples"),
        ]


def contestants(folder: Path) -> Iterator[Contestant]:
    """Yield those that are installed; evalkit first."""
    yield Evalkit("evalkit: ask, journal, score")
    yield Bare("bare aiohttp loop: ask, read the answer")
    python = os.environ.get(LM_EVAL)
    if python:
        quiet = {"OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        env = {**quiet, "HF_HOME": str(folder / "hf")}
        yield LmEval("lm-eval local-chat-completions", 0.25, env, python)
