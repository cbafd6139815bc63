"""What a run will cost and what it can prove: from a configuration, or from an earlier run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evalkit.collect.journal import is_run_folder, open_run
from evalkit.config import Config
from evalkit.decision.plan import Outlook, TwoStage, outlook, power_curve, two_stage
from evalkit.decision.questions import (
    PromptSet,
    Question,
    questions_of_comparison,
    questions_of_sets,
)
from evalkit.errors import StoreError
from evalkit.policy import Policy
from evalkit.report.store import COMPARISON_FILE, load_comparison
from evalkit.results import Comparison
from evalkit.stages.cost import (
    Cost,
    Load,
    Measured,
    cost,
    loads_of_comparison,
    loads_of_plan,
    measured_comparison,
    measured_run,
    recorded_epochs,
)
from evalkit.stages.plan import Plan, make_plan, recorded_plan

DEFAULT_FLIPS = 0.06
FACTORS = (0.0, 0.5, 1.0, 2.0)
_SIZES = (100, 200, 500, 1000, 2000, 5000, 10000)


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier run, or a comparison, as far as planning needs it."""

    measured: Measured
    comparison: Comparison | None = None
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """The answer of `evalkit plan`. Rates and margins are fractions.

    Attributes:
        prompts: Of one endpoint, repeats not counted.
        skipped: Tasksets that are left out, with the reason.
        flips: Where the flip rates come from.
        outlooks: One a metric and scope of the gate; pooled accuracy first.
        sizes: Pairs of the rows of `curve`.
        factors: Factors on the flip rate of its columns.
        curve: Chance that pooled accuracy passes.
    """

    prompts: int
    epochs: int
    skipped: tuple[tuple[str, str], ...]
    cost: Cost
    policy: Policy
    flips: Literal["given", "measured", "assumed"]
    outlooks: tuple[Outlook, ...]
    sizes: tuple[int, ...]
    factors: tuple[float, ...]
    curve: tuple[tuple[float, ...], ...]
    two_stage: TwoStage

    @property
    def impossible(self) -> tuple[Outlook, ...]:
        """The gated questions that identical answers to these prompts leave open."""
        return tuple(o for o in self.outlooks if o.question.gated and not o.provable)


def read_earlier(folder: Path, *, allow_code: bool) -> Earlier:
    """Read a run folder or a comparison folder.

    Raises:
        StoreError: When it is neither, cannot be read, or holds no pair.
    """
    if (folder / COMPARISON_FILE).is_file():
        comparison = load_comparison(folder)
        if not any(result.pooled.accuracy.n for result in comparison.results):
            raise StoreError(f"'{folder}' holds no pair of answers, so nothing was measured.")
        if not all(map(_sound, questions_of_comparison(comparison))):
            raise StoreError(f"'{folder}' holds numbers that no comparison has: is it damaged?")
        return Earlier(measured_comparison(comparison, folder), comparison=comparison)
    if not is_run_folder(folder):
        problem = "is neither a run folder nor a comparison folder"
        raise StoreError(f"'{folder}' {problem if folder.exists() else 'does not exist'}.")
    plan = recorded_plan(open_run(folder).read_header() or {}, folder, allow_code=allow_code)
    return Earlier(measured_run(folder, plan), plan=plan)


def forecast(
    config: Config,
    earlier: Earlier | None = None,
    *,
    own_prompts: bool = True,
    flip_rate: float | None = None,
    rate: float | None = None,
    arms: int | None = None,
) -> Forecast:
    """Work out cost and power of a run.

    Args:
        config: Prompts and policy.
        earlier: Whose flips, tokens and speed are taken.
        own_prompts: Plan for the prompts of `config`; otherwise for those of `earlier`.
        flip_rate: Instead of a measured or assumed one, for every metric but degenerate
            output.
        rate: Completion tokens per second of one endpoint.
        arms: Endpoints; by default as many as the configuration or the comparison names.

    Raises:
        UnknownNameError: For a taskset that is not known.
        TasksetError: For one that cannot be used.
    """
    measured = earlier.measured if earlier is not None else Measured()
    comparison = earlier.comparison if earlier is not None else None
    if comparison is not None and not own_prompts:
        asked = _again(comparison, config, flip_rate)
    else:
        recorded = earlier.plan if earlier is not None and not own_prompts else None
        asked = _anew(recorded or make_plan(config), config, comparison, flip_rate)
    primary = outlook(asked.questions[0], config.policy)
    sizes = _sizes(primary)
    return Forecast(
        prompts=asked.prompts,
        epochs=asked.epochs,
        skipped=asked.skipped,
        cost=cost(asked.loads, measured, arms=arms or _arms(config, comparison), rate=rate),
        policy=config.policy,
        flips=_source(flip_rate, comparison),
        outlooks=(primary, *(outlook(q, config.policy) for q in asked.questions[1:])),
        sizes=sizes,
        factors=FACTORS,
        curve=power_curve(primary.question, sizes, FACTORS, config.policy.alpha),
        two_stage=two_stage(primary.question, config.policy),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    prompts: int
    epochs: int
    questions: tuple[Question, ...]
    loads: tuple[Load, ...]
    skipped: tuple[tuple[str, str], ...]


def _again(comparison: Comparison, config: Config, flip_rate: float | None) -> _Asked:
    """Ask a comparison's prompts again, at its margins; the pooled one may be another."""
    first, *others = questions_of_comparison(comparison)
    questions = (replace(first, margin=config.policy.margins.accuracy / 100), *others)
    if flip_rate is not None:
        questions = tuple(
            q if q.metric == "degenerate" else q.with_flip_rate(flip_rate) for q in questions
        )
    return _Asked(
        prompts=sum(taskset.n for taskset in comparison.tasksets),
        epochs=recorded_epochs(comparison),
        questions=questions,
        loads=tuple(loads_of_comparison(comparison, config.aa)),
        skipped=tuple((skipped.taskset, skipped.reason) for skipped in comparison.skipped),
    )


def _anew(
    plan: Plan, config: Config, comparison: Comparison | None, flip_rate: float | None
) -> _Asked:
    """Ask the prompts of a plan; flips by family, as measured where they were."""
    sets = [_prompt_set(plan, index) for index in range(len(plan.tasksets))]
    found = (
        () if comparison is None or flip_rate is not None else (questions_of_comparison(comparison))
    )
    families = [one.family for one in sets]
    fallback = DEFAULT_FLIPS if flip_rate is None else flip_rate
    degenerate = [q.flip_rate for q in found if q.metric == "degenerate"]
    questions = questions_of_sets(
        sets,
        config.policy,
        accuracy_flips=_rates(found, "accuracy", families, fallback),
        hallucination_flips=_rates(found, "hallucination", families, fallback),
        degenerate_flips=degenerate[0] if degenerate else 0.0,
    )
    return _Asked(
        prompts=sum(one.prompts for one in sets),
        epochs=plan.epochs,
        questions=questions,
        loads=tuple(loads_of_plan(plan, config.aa)),
        skipped=tuple((taskset.name, why) for taskset, why in plan.selection.skipped),
    )


def _sound(question: Question) -> bool:
    return 0 < question.margin < 1 and all(
        part.n > 0 and 0 <= part.flip_rate <= 1 for part in question.parts
    )


def _prompt_set(plan: Plan, index: int) -> PromptSet:
    taskset = plan.tasksets[index]
    return PromptSet(
        family=taskset.family.value,
        prompts=len(taskset.samples),
        independent=len({sample.cluster or sample.messages for sample in taskset.samples}),
        margin=taskset.margin / 100,
        may_abstain=taskset.measures_hallucination,
    )


def _rates(
    found: Sequence[Question], metric: str, families: Sequence[str], fallback: float
) -> Mapping[str, float]:
    """Return each family's measured rate; one that was not asked takes the pooled rate."""
    known = {q.scope: q.flip_rate for q in found if q.metric == metric}
    pooled = known.get("pooled", fallback)
    return {family: known.get(family, pooled) for family in families}


def _sizes(primary: Outlook) -> tuple[int, ...]:
    own = {primary.question.n, primary.needed or primary.question.n}
    return tuple(sorted({*_SIZES, *own}))


def _arms(config: Config, comparison: Comparison | None) -> int:
    if config.candidates:
        return 1 + len(config.candidates)
    return 2 if comparison is None else 1 + len(comparison.candidates)


def _source(
    flip_rate: float | None, comparison: Comparison | None
) -> Literal["given", "measured", "assumed"]:
    if flip_rate is not None:
        return "given"
    return "assumed" if comparison is None else "measured"
