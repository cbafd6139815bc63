"""Two recorded runs and their comparison, without any server: as large as a test wants."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from evalkit import api
from evalkit.collect.header import make_header
from evalkit.collect.journal import RunFolder
from evalkit.collect.requests import build_requests
from evalkit.config import Config
from evalkit.endpoints.base import Endpoint
from evalkit.policy import declaration
from evalkit.stages.plan import Plan, make_plan
from evalkit.types import Completion, CompletionError, Identity, Request, Timing, Usage
from tests.quiz import HEAD

DOCS = Path(__file__).parents[1] / "docs"
URL = "https://models.example/v1"


@dataclass(frozen=True)
class Case:
    """A question with what both arms say; `None`: null content; an exception: no answer.

    An answer is right when it holds `target`.
    """

    id: str
    prompt: str
    baseline: str | Exception | None
    candidate: str | Exception | None
    target: str = "alpha"
    language: str = "en"
    category: str = "boxes"
    reasoning: str | None = None

    def row(self) -> dict[str, Any]:
        target = {"kind": "answer", "aliases": [self.target], "rivals": []}
        own = {"id": self.id, "language": self.language, "category": self.category}
        return {**own, "input": self.prompt, "target": target}


def write_cases(folder: Path, cases: Iterable[Case], max_tokens: int = 4096) -> Path:
    """Write a taskset of the cases' questions."""
    folder.mkdir(parents=True, exist_ok=True)
    head = HEAD.replace("max_tokens: 16", f"max_tokens: {max_tokens}")
    (folder / "taskset.yaml").write_text(head, encoding="utf-8")
    lines = (json.dumps(case.row()) + "\n" for case in cases)
    (folder / "samples.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def compared(
    folder: Path, cases: list[Case], *, elsewhere: bool = False, **settings: Any
) -> api.Comparison:
    """Record both runs and compare them, as the command line does.

    Args:
        folder: Becomes `quiz/`, `out/` (with `runs/bf16` and `runs/int4`).
        cases: What is asked and answered.
        elsewhere: Whether the runs lie beside `out/` and not in it.
        settings: Of the configuration.
    """
    tasks = write_cases(folder / "quiz", cases)
    config = Config(tasks=(str(tasks),), allow_confounded=True, **settings)
    plan = make_plan(config)
    said = {case.id: case for case in cases}
    arms = {"bf16": "baseline", "int4": "candidate"}
    home = folder / ("elsewhere" if elsewhere else "out/runs")
    runs = [home / arm for arm in arms]
    for run, side in zip(runs, arms.values(), strict=True):
        _record(run, plan, config, said, side)
    # What recorded runs were asked, they say themselves.
    anew = config.model_copy(update={"tasks": ()})
    return api.compare(*runs, config=anew, output=folder / "out")


def _record(path: Path, plan: Plan, config: Config, said: dict[str, Case], side: str) -> None:
    identity = Identity(kind="openai", model=f"m-{path.name}", base_url=URL, weights_hash=path.name)
    endpoint = cast(Endpoint, SimpleNamespace(name=path.name, label=f"m-{path.name}"))
    sampling = {taskset.name: plan.sampling_for(taskset) for taskset in plan.tasksets}
    header = make_header(
        endpoint, identity, sampling, plan=plan.record(), declared=dict(declaration(config.policy))
    )
    requests = build_requests(plan.tasksets, identity, plan.sampling_for, plan.epochs, plan.seed)
    with RunFolder.create_or_open(path) as run:
        run.write_header(header)
        lines = [_completion(request, said[request.sample_id], side) for request in requests]
        run.append(*lines)


def _completion(request: Request, case: Case, side: str) -> Completion:
    said = getattr(case, side)
    failed = isinstance(said, Exception)
    text = None if failed else said
    return Completion(
        sample_id=request.sample_id,
        taskset=request.taskset,
        epoch=request.epoch,
        prompt_hash=request.prompt_hash,
        fingerprint=request.fingerprint,
        text=text,
        reasoning=None if failed else case.reasoning,
        finish_reason=None if failed else "stop",
        usage=Usage(200, None if failed else len(text or "") // 4),
        timing=Timing(started=1e9, total=0.5 + len(text or "") % 700 / 100),
        attempts=(),
        error=CompletionError("Timeout", str(said)) if failed else None,
    )


def prose(rng: random.Random, words: list[str], characters: int) -> str:
    """Return words at the frequencies of this project's pages: no sense, but the right size."""
    found = rng.choices(words, k=characters // 4)
    return " ".join(found)[:characters]


def long_cases(n: int, seed: int = 0) -> Iterator[Case]:
    """Yield cases of real size: prompts of 800 characters, answers of 1,200.

    Six of ten answers part somewhere; of all, about seven in a hundred flip.
    """
    pages = "\n".join(page.read_text("utf-8") for page in sorted(DOCS.glob("*.md")))
    words = re.findall(r"[A-Za-z',.]+", pages)
    rng = random.Random(seed)
    for number in range(n):
        target = f"alpha{number}"
        answer = prose(rng, words, 1180)
        cut = rng.randrange(1180)
        other = answer if rng.random() < 0.4 else answer[:cut] + prose(rng, words, 1180 - cut)
        right = rng.random() < 0.75
        flips = rng.random() < 0.07
        yield Case(
            id=f"case-{number:06d}",
            prompt=f"{prose(rng, words, 780)} {number}?",
            baseline=f"{answer} {target if right else 'omega'}",
            candidate=f"{other} {target if right is not flips else 'omega'}",
            target=target,
            category=f"part-{number % 20}",
        )
