from dataclasses import replace

import pytest

from evalkit.scoring.agreement import ON_OPEN_ANSWERS, Agreement, rule_agreement, weak_rule
from evalkit.types import Family, Language, Taskset
from tests.agreement import ROOT
from tests.scoring.samples import make_sample


def taskset(scorer: str, *languages: Language, open_answers: bool = False) -> Taskset:
    return Taskset(
        name="t",
        version=1,
        family=Family.FACTS,
        description="",
        scorer=scorer,
        max_tokens=1,
        margin=5,
        measures_hallucination=True,
        samples=tuple(make_sample(Family.FACTS, {}, language=one) for one in languages),
        content_hash="",
        open_answers=open_answers,
    )


@pytest.mark.parametrize("known", ON_OPEN_ANSWERS.values(), ids=lambda known: known.labels)
def test_the_figures_are_those_that_were_measured(known: Agreement) -> None:
    page = (ROOT / "docs" / "scorer-agreement.md").read_text(encoding="utf-8")
    (line,) = (
        line
        for line in page.splitlines()
        if line.startswith(f"| {known.labels},") and f"| {known.n:,} |" in line
    )
    assert f"| {100 * known.share:.2f}% |" in line


def test_exact_answers_need_no_notice() -> None:
    assert rule_agreement(taskset("facts", "en")) is None
    assert rule_agreement(taskset("math", "en", open_answers=True)) is None


def test_open_answers_have_the_lowest_figure_of_their_languages() -> None:
    both = weak_rule(taskset("references", "en", "zh"))
    chinese = weak_rule(taskset("references", "zh"))
    assert both is not None
    assert chinese is not None
    assert both.labels == "TruthfulQA"
    assert chinese.labels == "HalluQA"
    without = weak_rule(taskset("facts", "zh", open_answers=True))
    assert without == ON_OPEN_ANSWERS["facts", "en"]


def test_a_rule_that_agrees_enough_is_not_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    good = replace(ON_OPEN_ANSWERS["references", "zh"], share=0.9)
    monkeypatch.setitem(ON_OPEN_ANSWERS, ("references", "zh"), good)  # type: ignore[arg-type]
    assert rule_agreement(taskset("references", "zh")) == good
    assert weak_rule(taskset("references", "zh")) is None
