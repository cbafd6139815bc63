"""From graded runs to the content of `comparison.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from evalkit import __version__
from evalkit.collect.header import declared_policy
from evalkit.config import Config
from evalkit.decision.comparison import compare_pairs
from evalkit.decision.looks import Asked, PastLook, find_look, unplanned_look
from evalkit.decision.metrics import MIN_CLUSTERS
from evalkit.decision.pairing import Answer, Key, Pairing, pair
from evalkit.decision.passrates import measure_passes
from evalkit.decision.reanalysis import (
    Version,
    calibrated_later,
    gating,
    policy_threats,
    readings,
    versions_of,
)
from evalkit.decision.verdict import decide_in_sequence, gate_exit_code, recommend
from evalkit.policy import Policy
from evalkit.releases import Against
from evalkit.results import (
    SCHEMA_VERSION,
    ArmInfo,
    CandidateResult,
    Comparison,
    JudgeInfo,
    Look,
    ReasonCode,
    Recommendation,
    Skipped,
    TasksetInfo,
    Threat,
)
from evalkit.scoring.agreement import weak_rule
from evalkit.scoring.base import SCORERS
from evalkit.stages.against_change import may_answer_alike
from evalkit.stages.capping import capped
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.describing import told_sampling, told_settings, told_timing
from evalkit.stages.judge_folders import Judged
from evalkit.stages.judge_reporting import judge_info, judge_threats, marks, shared_judge
from evalkit.stages.plan import Plan
from evalkit.stages.recording_notes import log_threats
from evalkit.stages.repeating import greedy_repeats
from evalkit.stages.sandboxing import sandbox_threat
from evalkit.types import Completion, Taskset


@dataclass(frozen=True, slots=True)
class History:
    """What a candidate's comparison rests on, and the looks that were taken before."""

    asked: Asked
    looks: Sequence[PastLook]


@dataclass(frozen=True, slots=True)
class GradedRun:
    """One arm with its answers and scores.

    Attributes:
        answers: By (taskset, sample id, epoch).
        repeats: The same, of what it was asked a second time; never part of a pair.
    """

    run: CollectedRun
    answers: Mapping[Key, Answer]
    repeats: Mapping[Key, Answer] = field(default_factory=dict)

    @property
    def completions(self) -> list[Completion]:
        """Its completions, failed ones included."""
        return [answer.completion for answer in self.answers.values()]


def build_comparison(
    baseline: GradedRun,
    candidates: Sequence[GradedRun],
    plan: Plan,
    config: Config,
    confounders: Mapping[str, Sequence[ReasonCode]],
    *,
    history: Mapping[str, History] | None = None,
    against: Against | None = None,
) -> Comparison:
    """Compare every candidate with the baseline, in sequence from safest to cheapest.

    Args:
        baseline: The reference.
        candidates: In the order in which they are tested.
        plan: What was asked of all of them.
        config: Policy and settings.
        confounders: What the preflight found to differ, by candidate.
        history: The looks that were taken before, by candidate; `None` when nobody counts.
        against: The stored release that the baseline is; `None` when it is none.
    """
    arms = [baseline, *candidates]
    decided = decide_arms(
        baseline,
        candidates,
        plan,
        config,
        confounders,
        history=history,
        weak=sandbox_threat(plan),
        against=against,
    )
    gates = decided.policy
    runs = [arm.run for arm in arms]
    return Comparison(
        schema_version=SCHEMA_VERSION,
        evalkit_version=__version__,
        baseline=_arm_info(baseline),
        candidates=tuple(map(_arm_info, candidates)),
        results=decided.results,
        recommendation=decided.recommendation,
        exit_code=decided.exit_code,
        tasksets=tuple(_taskset_info(taskset, plan, decided.judged) for taskset in plan.tasksets),
        skipped=tuple(Skipped(t.name, t.family.value, why) for t, why in plan.selection.skipped),
        policy=gates.model_dump(mode="json"),
        policy_hash=gates.fingerprint,
        sampling=told_sampling(plan, runs),
        settings=told_settings(plan, config, runs),
        notes=(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        timing=tuple(told_timing(arm.run, arm.completions) for arm in arms),
        redacted=any(c.redacted is not None for arm in arms for c in arm.completions),
        against=against,
        judge=decided.judge,
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """What the rule says of all candidates; `policy` is the one that was fixed first.

    Attributes:
        judged: The judge of each taskset that one decides.
        judge: The same for readers.
    """

    results: tuple[CandidateResult, ...]
    recommendation: Recommendation
    exit_code: int
    policy: Policy
    judged: Mapping[str, Judged] = field(default_factory=dict)
    judge: JudgeInfo | None = None


def decide_arms(
    baseline: GradedRun,
    candidates: Sequence[GradedRun],
    plan: Plan,
    config: Config,
    confounders: Mapping[str, Sequence[ReasonCode]],
    *,
    history: Mapping[str, History] | None = None,
    weak: Sequence[Threat] = (),
    later: Sequence[Policy] = (),
    against: Against | None = None,
) -> Decided:
    """Answer for every candidate, under every policy that was declared or given.

    Args:
        baseline: As for `build_comparison`, like the arguments after it.
        candidates: In the order in which they are tested.
        plan: What was asked of all of them.
        config: Policy and settings.
        confounders: By candidate.
        history: By candidate.
        weak: What is to be said of the sandbox that ran the programs.
        later: Policies that came after the comparison: each can only take a SHIP away.
        against: The stored release that the baseline is; `None` when it is none.
    """
    arms = (baseline, *candidates)
    judged = shared_judge([arm.run.folder.path for arm in arms], plan.tasksets)
    declared, added = _declared(arms, config.policy, marks(judged))
    versions = versions_of(declared, config.policy, *later)
    judge = judge_info(
        judged,
        {arm.run.arm: (arm.run.folder.path, arm.run.identity, arm.answers) for arm in arms},
    )
    context = _Context(baseline, plan, config, confounders, marks(judged), judge, added)
    seen = history or {}
    changes = {} if against is None else {change.candidate: change for change in against.changes}
    asked = [
        _Question(
            context,
            arm,
            seen.get(arm.run.arm),
            may_answer_alike(changes.get(arm.run.arm)),
            weak,
        )
        for arm in candidates
    ]
    results = _results(asked, versions)
    verdicts = [result.verdict for result in results]
    recommendation = recommend(baseline.run.arm, [r.endpoint for r in results], verdicts)
    return Decided(
        tuple(results),
        recommendation,
        gate_exit_code(recommendation, verdicts),
        next(v.policy for v in versions if v.policy is not None),
        judged,
        judge,
    )


@dataclass(frozen=True, slots=True)
class _Context:
    """What all candidates share; `judged` holds the mark of the judge, by taskset."""

    baseline: GradedRun
    plan: Plan
    config: Config
    confounders: Mapping[str, Sequence[ReasonCode]]
    judged: Mapping[str, str]
    judge: JudgeInfo | None
    calibrated_later: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Question:
    """One candidate's question, to be answered under any policy."""

    shared: _Context
    candidate: GradedRun
    history: History | None
    may_be_alike: bool
    weak: Sequence[Threat] = ()

    def answer(self, policy: Policy) -> CandidateResult:
        """Estimate, test and decide under one policy."""
        shared, arm = self.shared, self.candidate.run.arm
        baseline, config, plan = shared.baseline, shared.config, shared.plan
        pairing = pair(baseline.answers, self.candidate.answers, plan.samples())
        sides = (baseline, self.candidate)
        cut = [c for one in sides for c in capped(one.run.arm, one.run.requests, one.completions)]
        alike = [] if self.may_be_alike else _identical(pairing)
        found = [*shared.confounders.get(arm, ()), *alike, *cut]
        reasons = [] if config.allow_confounded else list(found)
        look = None
        if self.history is not None:
            look = find_look(self.history.looks, self.history.asked, policy.plan)
            reasons += unplanned_look(look, policy)
        result = compare_pairs(
            arm,
            pairing,
            plan.tasksets,
            policy,
            confounders=reasons,
            drawing=plan.drawing(),
            temperature=plan.sampling.temperature,
            repeats=baseline.repeats,
            judged=shared.judged,
        )
        deaths = [_died(one.run.arm, why) for one in sides if (why := one.run.deaths())]
        judge = judge_threats(shared.judge, baseline.run.arm, arm, shared.calibrated_later)
        weak = (*judge, *self.weak)
        left_out = _left_out([one.run for one in sides])
        greedy = greedy_repeats(plan, pairing.pairs)
        logs = log_threats([one.run.log for one in sides])
        threats = [*logs, *_look_threat(look), *greedy, *left_out, *deaths, *weak, *result.threats]
        if config.allow_confounded:
            allowed = ({"code": code.code, **code.values} for code in found)
            threats = [*(Threat("CONFOUNDED", "warn", values) for values in allowed), *threats]
        passes = measure_passes(pairing.pairs, plan.epochs, config.pass_at)
        return replace(result, look=look, threats=tuple(threats), pass_at=passes)


def _results(asked: Sequence[_Question], versions: Sequence[Version]) -> list[CandidateResult]:
    """Answer every question under every policy, and keep the answers that gate."""
    answers: list[list[CandidateResult] | None] = []
    for version in versions:
        if version.policy is None:
            answers.append(None)
            continue
        policy = version.policy
        alone = [question.answer(policy) for question in asked]
        verdicts = decide_in_sequence([result.verdict for result in alone])
        answers.append([replace(r, verdict=v) for r, v in zip(alone, verdicts, strict=True)])
    results = []
    for place in range(len(asked)):
        found = [None if row is None else row[place] for row in answers]
        said = [None if result is None else result.verdict for result in found]
        chosen = found[gating(said)]
        assert chosen is not None
        told = readings(versions, said)
        threats = (*policy_threats(told), *chosen.threats)
        results.append(replace(chosen, readings=told, threats=threats))
    return results


def _look_threat(look: Look | None) -> tuple[Threat, ...]:
    if look is None:
        return ()
    values = {"look": look.number, "stage": look.stage, "plan": look.plan}
    return (Threat("LOOK", "ok" if look.planned else "fail", values),)


def _declared(
    arms: Sequence[GradedRun], present: Policy, judged: Mapping[str, str]
) -> tuple[list[tuple[str, str | None, Mapping[str, Any] | None]], tuple[str, ...]]:
    """Return what each arm was collected under, and the judges that were calibrated later."""
    rows, later = [], set[str]()
    for arm in arms:
        known, numbers = declared_policy(arm.run.folder.read_header() or {})
        numbers, added = calibrated_later(numbers, present, judged)
        rows.append((arm.run.arm, known, numbers))
        later.update(added)
    return rows, tuple(sorted(later))


def _left_out(runs: Sequence[CollectedRun]) -> list[Threat]:
    fields = sorted({field for run in runs for field in run.omitted})
    return [Threat("FIELDS_OMITTED", "warn", {"fields": fields})] if fields else []


def _died(arm: str, deaths: Sequence[str]) -> Threat:
    values = {"endpoint": arm, "deaths": len(deaths), "detail": deaths[-1]}
    return Threat("SERVER_DIED", "warn", values)


def _identical(pairing: Pairing) -> list[ReasonCode]:
    """Two builds that answer everything word for word alike are most likely one."""
    complete = [one for one in pairing.pairs if one.complete]
    same = sum(one.same_text for one in complete)
    if len(complete) < MIN_CLUSTERS or same < len(complete):
        return []
    return [ReasonCode("SAME_ENDPOINT", values={"identical": same, "n": len(complete)})]


def _arm_info(arm: GradedRun) -> ArmInfo:
    errors = Counter(c.error.kind for c in arm.completions if c.error is not None)
    return ArmInfo(
        endpoint=arm.run.arm,
        label=arm.run.label,
        identity=asdict(arm.run.identity),
        n_requests=len(arm.run.requests),
        n_answered=len(arm.completions) - sum(errors.values()),
        errors=dict(sorted(errors.items())),
    )


def _taskset_info(taskset: Taskset, plan: Plan, judged: Mapping[str, Judged]) -> TasksetInfo:
    scorer = SCORERS.get("judge" if taskset.name in judged else taskset.scorer)
    languages = Counter(sample.language for sample in taskset.samples)
    return TasksetInfo(
        name=taskset.name,
        family=taskset.family.value,
        version=taskset.version,
        scorer=scorer.name,
        scorer_version=scorer.version,
        content_hash=taskset.content_hash,
        n=len(taskset.samples),
        languages=dict(sorted(languages.items())),
        max_tokens=plan.sampling_for(taskset).max_tokens,
        margin=taskset.margin / 100,
        description=taskset.description,
        agreement=None if (rule := weak_rule(taskset)) is None else rule.share,
        labels=None if rule is None else rule.labels,
        revision=taskset.revision,
        faulty=sum(sample.id in taskset.faults for sample in taskset.samples),
        left_out=taskset.left_out,
    )
