"""What a run costs: requests, tokens and time, estimated or as an earlier run measured."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalkit.collect.journal import is_run_folder, open_run
from evalkit.collect.requests import repeats_of
from evalkit.results import Comparison
from evalkit.stages.plan import Plan
from evalkit.stages.timing import arm_timing
from evalkit.types import Completion

# Rules of thumb of today's tokenizers; a measured mean replaces them.
_CHARACTERS_A_TOKEN = 4.0
_WIDE_CHARACTERS_A_TOKEN = 1.5
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Load:
    """What one family costs an endpoint.

    Attributes:
        requests: Epochs included.
        prompt_tokens: Estimated from characters, for all requests; `None` when not known.
        most_tokens: Bound on the completion tokens of all requests.
        repeats: Requests that the baseline alone gets in addition (A/A).
    """

    family: str
    requests: int
    prompt_tokens: float | None
    most_tokens: int
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """What an earlier run took: means an answer, by family, and the slowest arm's speed.

    Attributes:
        tokens_per_second: Completion tokens of one endpoint over all its connections.
    """

    prompt_tokens: Mapping[str, float] = field(default_factory=dict)
    completion_tokens: Mapping[str, float] = field(default_factory=dict)
    tokens_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Of all endpoints together.

    Attributes:
        requests: All of them, the repeats of the baseline included.
        repeats: Requests that measure the noise floor of the baseline (A/A).
        prompts_measured: Whether prompt tokens are measured means, not an estimate.
        completions_measured: Whether completion tokens are measured means, not a bound.
        wall_seconds: Endpoints run one after another; `None` without a rate.
    """

    arms: int
    requests: int
    repeats: int
    prompt_tokens: int | None
    prompts_measured: bool
    completion_tokens: int
    completions_measured: bool
    tokens_per_second: float | None
    wall_seconds: float | None


def loads_of_plan(plan: Plan, repeat_share: float = 0.0) -> list[Load]:
    """Return what each taskset of a plan costs an endpoint.

    Args:
        plan: What is asked.
        repeat_share: Share of the prompts that the baseline is asked a second time.
    """
    loads = []
    for taskset in plan.tasksets:
        texts = [message.content for s in taskset.samples for message in s.messages]
        requests = len(taskset.samples) * plan.epochs
        loads.append(
            Load(
                family=taskset.family.value,
                requests=requests,
                prompt_tokens=sum(map(estimated_tokens, texts)) * plan.epochs,
                most_tokens=requests * plan.sampling_for(taskset).max_tokens,
                repeats=repeats_of(len(taskset.samples), repeat_share),
            )
        )
    return loads


def loads_of_comparison(comparison: Comparison, repeat_share: float = 0.0) -> list[Load]:
    """Return what asking a comparison's prompts again would cost an endpoint.

    It does not hold all prompts, so their tokens are known only if they were measured.
    """
    epochs = recorded_epochs(comparison)
    return [
        Load(
            family=t.family,
            requests=t.n * epochs,
            prompt_tokens=None,
            most_tokens=t.n * epochs * t.max_tokens,
            repeats=repeats_of(t.n, repeat_share),
        )
        for t in comparison.tasksets
    ]


def recorded_epochs(comparison: Comparison) -> int:
    """Return how often each prompt of a comparison was asked."""
    epochs = comparison.settings.get("epochs")
    return epochs if isinstance(epochs, int) and epochs > 0 else 1


def cost(
    loads: Sequence[Load], measured: Measured, *, arms: int, rate: float | None = None
) -> Cost:
    """Add up what a run costs.

    Args:
        loads: What one endpoint is asked.
        measured: Means of an earlier run; families that it lacks take its overall mean.
        arms: Endpoints.
        rate: Completion tokens per second of one endpoint, instead of the measured one.
    """
    asked = [_asked(load, arms) for load in loads]
    prompts = _total(loads, asked, measured.prompt_tokens)
    completions = _total(loads, asked, measured.completion_tokens)
    speed = rate or measured.tokens_per_second
    most = sum(_share(load, n) * load.most_tokens for load, n in zip(loads, asked, strict=True))
    tokens = most if completions is None else completions
    return Cost(
        arms=arms,
        requests=sum(asked),
        repeats=sum(load.repeats for load in loads),
        prompt_tokens=_estimated(loads, asked) if prompts is None else round(prompts),
        prompts_measured=prompts is not None,
        completion_tokens=round(tokens),
        completions_measured=completions is not None,
        tokens_per_second=speed,
        wall_seconds=tokens / speed if speed else None,
    )


def estimated_tokens(text: str) -> float:
    """Estimate tokens from characters: 4 a token, 1.5 in Chinese, Japanese and Korean."""
    wide = len(_WIDE.findall(text))
    return wide / _WIDE_CHARACTERS_A_TOKEN + (len(text) - wide) / _CHARACTERS_A_TOKEN


def measured_run(folder: Path, plan: Plan) -> Measured:
    """Read the means and the speed of a run folder.

    Raises:
        StoreError: When it cannot be read.
    """
    families = {taskset.name: taskset.family.value for taskset in plan.tasksets}
    completions = list(open_run(folder).completions())
    prompts, answers = _usage(completions, families)
    speed = arm_timing(folder.name, completions).tokens_per_second
    return Measured(_means(prompts), _means(answers), speed)


def measured_comparison(comparison: Comparison, folder: Path) -> Measured:
    """Read the means of all arms, and the speed of the slowest.

    Prompt tokens are in the runs, which need not be there.

    Raises:
        StoreError: When a run in the folder cannot be read.
    """
    answers: dict[str, list[float]] = defaultdict(list)
    for result in comparison.results:
        for scope in result.families:
            for arm in (scope.baseline, scope.candidate):
                if arm.mean_completion_tokens is not None:
                    answers[scope.scope].append(arm.mean_completion_tokens)
    speeds = [timing.tokens_per_second for timing in comparison.timing]
    slowest = min((speed for speed in speeds if speed), default=None)
    families = {taskset.name: taskset.family for taskset in comparison.tasksets}
    prompts: dict[str, list[int]] = defaultdict(list)
    for run in sorted(path for path in folder.glob("runs/*") if is_run_folder(path)):
        for family, tokens in _usage(open_run(run).completions(), families)[0].items():
            prompts[family] += tokens
    return Measured(_means(prompts), _means(answers), slowest)


def _asked(load: Load, arms: int) -> int:
    return arms * load.requests + load.repeats


def _share(load: Load, asked: int) -> float:
    """How many times one endpoint's part of a load is asked in all."""
    return asked / load.requests if load.requests else 0.0


def _estimated(loads: Sequence[Load], asked: Sequence[int]) -> int | None:
    total = 0.0
    for load, n in zip(loads, asked, strict=True):
        if load.prompt_tokens is None:
            return None
        total += _share(load, n) * load.prompt_tokens
    return round(total)


def _total(loads: Sequence[Load], asked: Sequence[int], means: Mapping[str, float]) -> float | None:
    if not means:
        return None
    overall = sum(means.values()) / len(means)
    return sum(n * means.get(load.family, overall) for load, n in zip(loads, asked, strict=True))


def _usage(
    completions: Iterable[Completion], families: Mapping[str, str]
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Collect prompt and completion tokens of every answer, by family."""
    prompts: dict[str, list[int]] = defaultdict(list)
    answers: dict[str, list[int]] = defaultdict(list)
    for completion in completions:
        family = families.get(completion.taskset)
        if family is None or completion.error is not None:
            continue
        if completion.usage.prompt_tokens is not None:
            prompts[family].append(completion.usage.prompt_tokens)
        if completion.usage.completion_tokens is not None:
            answers[family].append(completion.usage.completion_tokens)
    return prompts, answers


def _means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: sum(found) / len(found) for name, found in values.items() if found}
