"""The decision rule's numbers: fixed before the run, hashed into the report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from evalkit.errors import ConfigError
from evalkit.fingerprint import digest
from evalkit.resources import resource_dir
from evalkit.types import Family
from evalkit.yamlfile import Checked, expand, explain_validation, read_yaml

_SHIPPED = "policy-"

PlanName = Literal["single", "two-stage", "sequential"]


class Margins(Checked):
    """Acceptable losses in points, fixed before the run.

    `families` holds a margin of its own for a family, which also marks that family as
    critical: then the verdict needs its non-inferiority whatever its size.
    """

    accuracy: float = Field(2.0, gt=0, lt=100)
    hallucination: float = Field(2.0, gt=0, lt=100)
    degenerate: float = Field(0.5, gt=0, lt=100)
    families: dict[Family, Annotated[float, Field(gt=0, lt=100)]] = Field(default_factory=dict)


class FalseAnswers(Checked):
    """How a judge did at telling answers that assert something false from all others.

    `sensitivity` is the share of the former that it finds, `specificity` the share of the
    others that it does not call so.
    """

    sensitivity: float = Field(ge=0, le=1)
    specificity: float = Field(ge=0, le=1)
    n_false: int = Field(ge=1)
    n_other: int = Field(ge=1)


class Judge(Checked):
    """How a model that judges answers did on answers that people labelled.

    `sensitivity` is the share of right answers that it calls right, `specificity` the share
    of wrong ones that it calls wrong; both as fractions.

    Attributes:
        hallucination: The same for answers that assert something false, which corrects the
            hallucination rate; without it that of accuracy does.
        judge: Mark of judge, rubric and sampling that this is a calibration of; without it,
            it is taken to be one of whatever judges.
    """

    sensitivity: float = Field(ge=0, le=1)
    specificity: float = Field(ge=0, le=1)
    n_right: int = Field(ge=1)
    n_wrong: int = Field(ge=1)
    hallucination: FalseAnswers | None = None
    judge: str | None = None


class Policy(Checked):
    """The decision rule's numbers (STATISTICS.md, section 2). Percentages are 0 to 100.

    Attributes:
        plan: How often one may look: once; twice, with new prompts in the second stage; or
            whenever one likes, on evidence that stays valid under it.
        alpha: One-sided level of every test.
        power: Wanted power of the sample sizes that are printed.
        guard_min_pairs: From this size on, a family's own margin is part of the gate.
        max_missing: Missing answers, in percent of an arm, above which nothing is decided.
        max_truncation: The same for answers cut at `max_tokens`.
        truncation_differs: From this rate on, a difference in truncation invalidates too.
        excess_flips: Flips beyond the baseline's own noise, in percent of the pairs, above
            which a `SHIP` carries `FLIPS_HIGH`.
        judges: Calibration of the judge of each taskset that one scores. Programs that score
            need none.
    """

    plan: PlanName = "single"
    alpha: float = Field(0.05, gt=0, le=0.2)
    power: float = Field(0.8, gt=0.5, lt=1)
    margins: Margins = Field(default_factory=lambda: Margins())
    guard_min_pairs: int = Field(300, ge=1)
    max_missing: float = Field(5.0, ge=0, le=100)
    max_truncation: float = Field(5.0, ge=0, le=100)
    truncation_differs: float = Field(1.0, ge=0, le=100)
    excess_flips: float = Field(4.0, ge=0, le=100)
    judges: dict[str, Judge] = Field(default_factory=dict)

    @field_validator("judges")
    @classmethod
    def _refuse_judges_in_sequence(
        cls, judges: dict[str, Judge], info: ValidationInfo
    ) -> dict[str, Judge]:
        if judges and info.data.get("plan") == "sequential":
            raise ValueError("a sequential plan cannot allow for the errors of a judge")
        return judges

    @property
    def fingerprint(self) -> str:
        """Hash of every number: what a report says was fixed before the run."""
        return digest(self.model_dump(mode="json"))


def declaration(policy: Policy) -> dict[str, Any]:
    """Return what a run's header says of the policy that was fixed before its first request."""
    return {"policy_hash": policy.fingerprint, "policy": policy.model_dump(mode="json")}


def policy_changes(old: Policy, new: Policy) -> dict[str, tuple[Any, Any]]:
    """Return every number that differs, by its dotted key: old, new; `None` where it is not set.

    >>> policy_changes(Policy(), Policy(margins=Margins(accuracy=3)))
    {'margins.accuracy': (2.0, 3.0)}
    """
    before, after = _flat(old.model_dump(mode="json")), _flat(new.model_dump(mode="json"))
    return {
        key: (before.get(key), after.get(key))
        for key in (*before, *(key for key in after if key not in before))
        if before.get(key) != after.get(key)
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def shipped_policies() -> dict[str, Path]:
    """Return the policies that ship with evalkit, by name."""
    found = sorted(resource_dir("configs").glob(f"{_SHIPPED}*.yaml"))
    return {path.stem.removeprefix(_SHIPPED): path for path in found}


def read_policy(path: Path) -> Policy:
    """Read a policy file: the keys of `policy`, alone.

    Args:
        path: A file, or the name of a policy that ships with evalkit.

    Raises:
        ConfigError: One sentence with file and key.
    """
    if not path.is_file() and path.parent == Path() and not path.suffix:
        shipped = shipped_policies()
        if str(path) not in shipped:
            raise ConfigError(
                f"There is no policy '{path}'.",
                hint=f"Name a file, or one of: {', '.join(shipped)}.",
            )
        path = shipped[str(path)]
    known = f"Name a file that is there, or one of: {', '.join(shipped_policies())}."
    raw = expand(read_yaml(path, "Policy file", known), os.environ, str(path))
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        message, hint = explain_validation(error, str(path), Policy)
        raise ConfigError(message, hint=hint) from None
