"""Speculation on and off in a probe: who is asked what, and what is said of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.performance import MeasuredArm, Point, Remark
from evalkit.probe.plan import ProbePlan, SpeculationPlan
from evalkit.probe.speculation import Heard, Speculating, ask_prompts, drafted_of, load_arms
from evalkit.probe.speculation_routing import Group, first_tokens, routes_of
from evalkit.probe.speculation_summary import depth_of, equality, loads_of, workloads_of
from evalkit.probe.subject import Subject
from evalkit.probe.workloads import WorkPrompt, fitted, load_workloads
from evalkit.speculation import OFF, Speculation, SpeculativeArm
from evalkit.stages.arms import Arm
from evalkit.stages.probing import OnStage

# Of the template around a prompt, and for what another tokenizer counts otherwise.
_SPARE = 32
_TELL_EVERY = 12


@dataclass(slots=True)
class SpeculativeWork:
    """Asks the arms of a probe for their speculation, group by group of those that are open.

    Attributes:
        names: Of the arms, in the order of the plan's labels.
        shown: What the command line calls each of them, without credentials.
    """

    plan: ProbePlan
    settings: SpeculationPlan
    names: Sequence[str]
    shown: Mapping[str, str]
    on_stage: OnStage
    heard: dict[str, Heard] = field(default_factory=dict)
    prompts: tuple[WorkPrompt, ...] = ()

    @classmethod
    def of(cls, plan: ProbePlan, arms: Sequence[Arm], on_stage: OnStage) -> SpeculativeWork | None:
        """Prepare for a plan; `None` when it does not ask for speculation."""
        if plan.speculation is None:
            return None
        names = [arm.name for arm in arms]
        shown = {arm.name: arm.shown or arm.name for arm in arms}
        return cls(plan, plan.speculation, names, shown, on_stage)

    async def ask(self, subjects: Sequence[Subject], limit: int | None) -> None:
        """Ask the arms that are open.

        Args:
            subjects: They.
            limit: Tokens that each of them holds; `None`: unknown.

        Raises:
            EndpointError: When one does not answer while prompts are fitted.
        """
        if not self.prompts:
            found = load_workloads(self.settings.languages, self.settings.prompts)
            if limit is not None:
                most = limit - self.plan.output_tokens - _SPARE
                found = await fitted(found, subjects[0].count, most)
            self.prompts = found
        arms = [self._arm(subject) for subject in subjects]
        names = " and ".join(subject.name for subject in subjects)
        self.on_stage(f"asking {names}: {len(self.prompts)} prompts by kind of work")

        def told(asked: int) -> None:
            if asked % _TELL_EVERY == 0 and asked < len(self.prompts):
                self.on_stage(f"asking {names}: {asked} of {len(self.prompts)} prompts")

        await ask_prompts(arms, self.prompts, told)
        for level in self.plan.concurrency:
            self.on_stage(f"measuring {names}: mixed work, {level} in flight")
            await load_arms(arms, self.prompts, self.plan, level)

    def _arm(self, subject: Subject) -> Speculating:
        group, label = self._part(subject.name)
        others = [part for part in self.settings.labels if part[0] == group]
        heard = self.heard.setdefault(subject.name, Heard())
        return Speculating.of(subject, heard, twice=label == OFF and len(others) > 1)

    def _part(self, name: str) -> tuple[str | None, str]:
        return self.settings.labels[self.names.index(name)]

    def summary(
        self, points: Sequence[Point], measured: Mapping[str, MeasuredArm]
    ) -> tuple[Speculation, ...]:
        """Sum up every build.

        Args:
            points: Of prompts of exact length.
            measured: The arms, by name.
        """
        groups = dict.fromkeys(group for group, _ in self.settings.labels)
        return tuple(self._group(group, points, measured) for group in groups)

    def _group(
        self, group: str | None, points: Sequence[Point], measured: Mapping[str, MeasuredArm]
    ) -> Speculation:
        parts = zip(self.settings.labels, self.names, strict=True)
        names = {label: name for (found, label), name in parts if found == group}
        off = names.get(OFF)
        arms = {
            label: self._summed(label, name, None if label == OFF else off, points, measured)
            for label, name in names.items()
        }
        heard = {label: self.heard[name] for label, name in names.items()}
        tokens = self.settings.answer_tokens
        known = Group(heard, arms, points, tokens, self.plan.seed)
        return Speculation(group, tuple(arms.values()), tokens, routes_of(known))

    def _summed(
        self,
        label: str,
        name: str,
        off: str | None,
        points: Sequence[Point],
        measured: Mapping[str, MeasuredArm],
    ) -> SpeculativeArm:
        heard, other = self.heard[name], None if off is None else self.heard[off]
        seed = self.plan.seed
        loads, crossover = loads_of(heard, other, seed)
        grown, source = (None, None) if off is None else _added(measured[name], measured[off])
        compare = "" if off is None else self._compare(off, name)
        return SpeculativeArm(
            label=label,
            arm=name,
            depth=depth_of(heard),
            workloads=workloads_of(heard, other, seed),
            loads=loads,
            contexts={} if off is None else first_tokens(points, name, off, seed),
            crossover=crossover,
            equality=None if other is None else equality(heard, other),
            lifetime=heard.lifetime,
            added_bytes=grown,
            added_from=source,
            compare=compare,
        )

    def _compare(self, off: str, name: str) -> str:
        """Return the command that compares quality; neither is the cheaper build, on purpose."""
        words = ["evalkit", "compare", self.shown[off], self.shown[name], "--allow-confounded"]
        if self.settings.config is not None:
            words += ["-c", self.settings.config]
        return shlex.join(words)

    def remarks(self) -> Iterator[Remark]:
        """Yield what a reader must know of the counts."""
        for name in self.names:
            _, label = self._part(name)
            heard = self.heard[name]
            drafted = bool(drafted_of(heard.answers))
            if label == OFF and drafted:
                yield Remark("SPECULATES_TOO", {"endpoint": name})
            if label != OFF and not drafted:
                told = heard.lifetime is not None
                yield Remark("NOTHING_DRAFTED" if told else "NO_COUNTS", {"endpoint": name})
            for code, count in (("OTHER_TRAFFIC", heard.foreign), ("SET_BACK", heard.resets)):
                if count:
                    yield Remark(code, {"endpoint": name, "prompts": f"{count:,}"})


def _added(arm: MeasuredArm, off: MeasuredArm) -> tuple[int | None, str | None]:
    """Return the memory beyond another arm's, where both are known from the same source."""
    known = {one.source: one.peak_bytes for one in off.memory}
    for memory in arm.memory:
        if memory.source in known:
            return memory.peak_bytes - known[memory.source], memory.source
    return None, None
