"""The judge for readers: who it is, what it decided by, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.report import numbers
from evalkit.report.estimates import as_percent
from evalkit.report.facts import detail
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import Comparison

_HASH_LENGTH = 12


def judge_facts(words: Words, comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield names and values; nothing where no model judged."""
    judge = comparison.judge
    if judge is None:
        return
    model = [judge.identity.get(key) for key in ("model", "engine", "engine_version")]
    yield words("fact.judge_endpoint"), one_line(judge.endpoint)
    yield words("fact.judge_label"), one_line(judge.label)
    yield words("fact.judge_model"), one_line(" ".join(str(one) for one in model if one))
    rubric = f"{judge.rubric} v{judge.rubric_version} ({judge.rubric_hash[:_HASH_LENGTH]})"
    yield words("fact.judge_rubric"), one_line(rubric)
    yield words("fact.judge_mark"), one_line(judge.mark)
    yield words("fact.judge_tasksets"), one_line(", ".join(judge.tasksets))
    yield words("fact.judge_answers"), numbers.count(judge.answers)
    if judge.agreement is not None:
        rate = as_percent(words, judge.agreement, numbers.digits_for(judge.agreement.n))
        told = f"{rate.full} (n = {numbers.count(judge.agreement.n)})"
        yield words("fact.judge_agreement"), told
    for endpoint, reasons in judge.failures.items():
        name = words("fact.judge_failures", endpoint=one_line(endpoint))
        yield name, detail(reasons) if reasons else words("judge.none")
    calibrations = comparison.policy.get("judges") or {}
    for taskset in judge.tasksets:
        name = words("fact.judge_calibration", taskset=one_line(taskset))
        found = calibrations.get(taskset)
        yield name, words("judge.uncalibrated") if found is None else _calibration(words, found)


def _calibration(words: Words, found: dict[str, float]) -> str:
    youden = found["sensitivity"] + found["specificity"] - 1
    return words(
        "judge.calibration",
        sensitivity=numbers.significant(found["sensitivity"]),
        specificity=numbers.significant(found["specificity"]),
        youden=numbers.significant(youden),
        labels=numbers.count(int(found["n_right"] + found["n_wrong"])),
    )
