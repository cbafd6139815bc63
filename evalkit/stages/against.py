"""A stored release as the baseline: which of its arms, and whether it was judged alike.

What must be equal: the prompts, the policy, and the scorers. Scorers may be of another
version where the answers still have their texts: both arms are scored anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from evalkit.collect.header import declared_policy
from evalkit.collect.journal import is_run_folder, open_run
from evalkit.config import Config
from evalkit.errors import InvalidComparison, StoreError, TasksetError, UnknownNameError, UsageError
from evalkit.policy import Policy, policy_changes
from evalkit.report.store import COMPARISON_FILE, load_comparison
from evalkit.report.text import one_line
from evalkit.results import Comparison
from evalkit.scoring.store import SCORES, read_scores
from evalkit.stages.arms import Arm
from evalkit.stages.judge_folders import deciding_scorers
from evalkit.stages.places import RUNS, find_run
from evalkit.stages.plan import Plan, plan_difference, read_plan
from evalkit.stages.probing import OnStage
from evalkit.stages.recorded import other_wishes

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Release:
    """A stored release.

    Attributes:
        folder: As it was named.
        arm: The run that stands as the baseline.
        role: What it was in its comparison; `run` for a run folder.
        chosen: Why this arm.
        content: The comparison that judged it, if there is one.
    """

    folder: Path
    arm: Arm
    role: Literal["baseline", "candidate", "run"]
    chosen: Literal["named", "recommended", "kept", "run"]
    header: Mapping[str, Any] = field(repr=False)
    content: Comparison | None = field(default=None, repr=False)

    @property
    def run(self) -> Path:
        """Where its answers are."""
        assert self.arm.recorded is not None
        return self.arm.recorded

    @property
    def endpoint(self) -> str:
        """Its name of then."""
        return str(self.header.get("endpoint", {}).get("name") or self.arm.name)


@dataclass(frozen=True, slots=True)
class Terms:
    """On what a comparison with a release stands.

    Attributes:
        config: With the release's policy, where none was given.
        plan: What the release was asked, and every candidate will be.
        rescored: Tasksets whose scorer is of another version: then, now.
        adopted_policy: Whether the policy is the release's because none was given.
    """

    config: Config
    plan: Plan
    rescored: Mapping[str, tuple[str, str]]
    adopted_policy: bool


def find_release(folder: Path, wanted: str | None, on_stage: OnStage) -> Release:
    """Find the run that a release is, and say which and why.

    Args:
        folder: A run folder, or a comparison folder with its runs.
        wanted: `baseline`, `candidate` or the name of an arm; `None`: what was recommended.
        on_stage: Told which arm is taken.

    Raises:
        StoreError: When there is no such run.
        UsageError: For an arm that the folder does not have.
    """
    if is_run_folder(folder):
        return _run(folder, wanted)
    if not (folder / COMPARISON_FILE).is_file():
        neither = "is neither a run folder nor a comparison folder"
        what = neither if folder.exists() else "does not exist"
        raise StoreError(
            f"{folder} {what}.", hint="--against takes what `evalkit run` or `compare` wrote."
        )
    content = load_comparison(folder)
    name, chosen = _chosen(content, wanted)
    run = find_run(content, folder, name)
    if run is None:
        raise StoreError(
            f"{folder} does not hold the answers of '{one_line(name)}', which it compared.",
            hint="Give the run folder itself to --against.",
        )
    role: Literal["baseline", "candidate"] = (
        "baseline" if name == content.baseline.endpoint else "candidate"
    )
    reasons = {
        "named": f"the {role} there",
        "recommended": "which was recommended there",
        "kept": "the baseline there, since no candidate was recommended",
    }
    on_stage(f"comparing against '{one_line(name)}' of {folder}, {reasons[chosen]}")
    header = open_run(run).read_header() or {}
    return Release(folder, _arm(run, header), role, chosen, header, content)


def agree(release: Release, candidates: Sequence[Arm], config: Config, on_stage: OnStage) -> Terms:
    """Check that prompts, policy and scorers are those of the release.

    Raises:
        InvalidComparison: With everything that differs, by name.
        StoreError: When the release does not say what it was asked.
    """
    code = config.allow_code
    try:
        plan, changed = read_plan(release.header, release.run, allow_code=code)
    except (TasksetError, UnknownNameError) as error:
        raise InvalidComparison(
            f"The prompts of {release.folder} are not here any more: {error.message}",
            hint="Give the tasksets that it was asked, or the evalkit that recorded it.",
        ) from None
    differing = [f"taskset '{name}' has changed since" for name in changed]
    differing += [_moved(key, *values) for key, values in other_wishes(config, plan).items()]
    differing += _sampled_otherwise(plan, config)
    for arm in candidates:
        differing += _recorded_otherwise(arm, plan, code)
    policy, unlike = _policy(release, config)
    differing += unlike
    rescored = _rescored(release, plan)
    if rescored and release.header.get("redaction"):
        differing += [
            f"{taskset} was scored by {then}, which is now {now}, and no text is left to score"
            for taskset, (then, now) in rescored.items()
        ]
    if differing:
        raise InvalidComparison(
            f"{release.folder} was not judged as this would be: {'; '.join(differing)}.",
            hint="Leave the flags out that say otherwise: what it was asked and its policy are "
            "taken over. What has changed since must be asked again.",
        )
    for taskset, (then, now) in rescored.items():
        on_stage(f"{taskset} was scored by {then}: the stored answers are scored again by {now}")
    adopted = policy is not None
    if adopted:
        on_stage(f"deciding by the policy of {release.folder}")
    on_stage(f"asking what {release.folder} was asked")
    terms = config if policy is None else config.model_copy(update={"policy": policy})
    return Terms(terms, plan, rescored, adopted)


def _run(folder: Path, wanted: str | None) -> Release:
    header: Mapping[str, Any] = open_run(folder).read_header() or {}
    name = str(header.get("endpoint", {}).get("name") or folder.resolve().name)
    if wanted not in (None, name):
        raise UsageError(
            f"{folder} is a run of '{one_line(name)}': there is no '{wanted}' in it.",
            hint="Leave --against-arm out, or give the comparison folder.",
        )
    return Release(folder, _arm(folder, header), "run", "run", header)


def _chosen(
    content: Comparison, wanted: str | None
) -> tuple[str, Literal["named", "recommended", "kept"]]:
    baseline = content.baseline.endpoint
    names = [arm.endpoint for arm in content.candidates]
    if wanted is None:
        advice = content.recommendation
        if advice.action == "ship_candidate" and advice.endpoint in names:
            return str(advice.endpoint), "recommended"
        return baseline, "kept"
    if wanted in (baseline, *names):
        return wanted, "named"
    if wanted == "baseline":
        return baseline, "named"
    if wanted == "candidate" and len(names) == 1:
        return names[0], "named"
    if wanted == "candidate":
        raise UsageError("There are several candidates.", hint=f"Name one: {', '.join(names)}.")
    raise UnknownNameError("arm", wanted, (baseline, *names))


def _arm(run: Path, header: Mapping[str, Any]) -> Arm:
    """Name a release after what it was and where it lies: `q4@2026-10`."""
    whole = run.resolve()
    name = str(header.get("endpoint", {}).get("name") or whole.name)
    folder = whole.parent.parent if whole.parent.name == RUNS else whole
    place = re.sub(r"[^\w.+-]+", "-", folder.name)[:60] or "release"
    return Arm(f"{name}@{place}", recorded=run)


def _policy(release: Release, config: Config) -> tuple[Policy | None, list[str]]:
    """Return the policy to take over, if any, and every number that is not as it was."""
    known_hash, numbers = declared_policy(release.header)
    if release.content is not None:
        known_hash, numbers = release.content.policy_hash, release.content.policy
    if known_hash is None or known_hash == config.policy.fingerprint:
        return None, []
    try:
        then = Policy.model_validate(numbers)
    except ValueError:
        return None, [f"the numbers of its policy ({known_hash[:12]}) are not known"]
    if "policy" not in config.model_fields_set:
        return then, []
    changes = policy_changes(then, config.policy)
    return None, [_moved(f"policy.{key}", *values) for key, values in changes.items()]


def _sampled_otherwise(plan: Plan, config: Config) -> list[str]:
    if "sampling" not in config.model_fields_set:
        return []
    then, now = plan.sampling.model_dump(mode="json"), config.sampling.model_dump(mode="json")
    return [_moved(f"sampling.{key}", then[key], now[key]) for key in now if then[key] != now[key]]


def _recorded_otherwise(arm: Arm, plan: Plan, allow_code: bool) -> list[str]:
    if arm.recorded is None:
        return []
    header = open_run(arm.recorded).read_header() or {}
    own, changed = read_plan(header, arm.recorded, allow_code=allow_code)
    names = [*plan_difference(plan, own), *(f"taskset '{name}'" for name in changed)]
    return [f"{arm.recorded} was asked otherwise ({', '.join(names)})"] if names else []


def _rescored(release: Release, plan: Plan) -> dict[str, tuple[str, str]]:
    then = _scorers_then(release, {taskset.name for taskset in plan.tasksets})
    deciding = deciding_scorers(release.run, plan.tasksets)
    now = {name: f"{scorer.name} v{scorer.version}" for name, scorer in deciding.items()}
    return {
        name: (then[name], scorer)
        for name, scorer in now.items()
        if name in then and then[name] != scorer
    }


def _scorers_then(release: Release, wanted: set[str]) -> dict[str, str]:
    """Return the scorers of a release: by its report, its header, or its first scores."""
    if release.content is not None:
        rows = release.content.tasksets
        return {row.name: f"{row.scorer} v{row.scorer_version}" for row in rows}
    kept = release.header.get("redaction")
    if kept:
        return dict(kept.get("scorers", {}))
    found: dict[str, str] = {}
    if (release.run / SCORES).is_file():
        for score in read_scores(release.run):
            found.setdefault(score.taskset, f"{score.scorer} v{score.scorer_version}")
            if found.keys() >= wanted:
                break
    return found


def _moved(key: str, then: object, now: object) -> str:
    return one_line(f"{key} {_plain(then)} → {_plain(now)}", _SHOWN)


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "all"
    return "not set" if value is None else str(value)


def named_apart(release: Release, candidates: Sequence[Arm]) -> list[Arm]:
    """Return all arms, the release first; none has the name of another."""
    arms = [release.arm]
    for arm in candidates:
        taken = {one.name for one in arms}
        arms.append(replace(arm, name=f"{arm.name}-{len(arms) + 1}") if arm.name in taken else arm)
    return arms
