"""Math and multiple choice against official flags, published pairs and published rates."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evalkit.scoring.choice import ChoiceScorer
from evalkit.scoring.latex_answers import judge_expression
from evalkit.scoring.math import MathScorer
from evalkit.types import Family, Language, Outcome
from tests.agreement import Row
from tests.scoring.samples import make_sample

_REASONS = {
    "MATH 72, sample 7": "MATH 72, sample 7: 10,000 is 10{,}000, and the official flag is wrong",
    "pair mv032": "pair mv032: 9 is 9, and labelled otherwise because of a line break",
    "pair mv269": "pair mv269: 1 - 1/e is not 1 + 1/e, and labelled equal",
}
_SEVERAL = "several boxes are the answer, and the gold here is the last one alone"
_SEVERAL_BOXES = {"414", "2703", "2716", "2912", "4860"}
_FREE_FORM = "names the right letter, but in other words than `Answer: X`, all that the rule reads"

# Name of an answer, the verdict on it, what the scorer says.
Verdict = tuple[str, bool, bool]


def measure(data: Path) -> list[Row]:
    """Measure everything that there is in `data`."""
    math, facts = data / "math", data / "facts"
    return [
        *(
            _row(f"GSM8K, {model}, official flags", _openai(math, model), 0.99)
            for model in _models(math)
        ),
        _row("GSM8K, ToRA-Code-34B, its own extraction", _tora(math), 0.99),
        _row("MATH, Qwen2.5-Math, 8 samples, official flags", _math(math), 0.985),
        _row("Answer pairs of math-verify's tests", _pairs(math), 0.985),
        _row("MATH, gold solutions and their last boxes", _math_golds(math), 0.998),
        _row("GSM8K, gold solutions", _gsm8k_golds(math), 1.0),
        _row("MGSM, golds in a sentence (en, zh)", _mgsm(math), 1.0),
        _row("CMATH, golds in a sentence", _cmath(math), 1.0),
        *(
            _row(
                f"HalluQA multiple choice, {path.stem.removesuffix('_output')}",
                _choice(facts, path),
            )
            for path in sorted((facts / "halluqa_outputs" / "multiple_choice").glob("*.jsonl"))
        ),
    ]


def _row(name: str, verdicts: Iterable[Verdict], least: float | None = None) -> Row:
    listed = list(verdicts)
    reasons = Counter(
        _reason(name, answer, verdict) for answer, verdict, scored in listed if verdict != scored
    )
    equal = len(listed) - reasons.total()
    return Row(name, len(listed), equal, least, dict(sorted(reasons.items())))


def _reason(name: str, answer: str, verdict: bool) -> str:
    if name.startswith("HalluQA"):
        return "unexplained" if verdict else _FREE_FORM
    if answer.removeprefix("MATH test ") in _SEVERAL_BOXES:
        return _SEVERAL
    return _REASONS.get(answer, "unexplained")


def _models(math: Path) -> list[str]:
    first = next(_lines(math / "gsm8k_model_solutions" / "solutions.jsonl"))
    return [name for name, value in first.items() if isinstance(value, dict)]


def _openai(math: Path, model: str) -> Iterator[Verdict]:
    for row in _lines(math / "gsm8k_model_solutions" / "solutions.jsonl"):
        gold = row["ground_truth"].rpartition("A:")[2].strip()
        said = row[model]
        yield f"{row['idx']}", said["is_correct"], _number(gold, said["solution"], row["question"])


def _tora(math: Path) -> Iterator[Verdict]:
    for path in sorted((math / "gsm8k_tora_outputs").glob("*.jsonl")):
        for row in _lines(path):
            official = _close(row["pred"][0], row["gt"])
            yield f"{row['idx']}", official, _number(row["gt"], row["code"][0], row["question"])


def _close(one: str, other: str) -> bool:
    """Compare as ToRA does, but for its rule that 0.05 is 5 (see the data's SOURCE.md)."""
    try:
        return abs(float(one.replace(",", "")) - float(other.replace(",", ""))) < 1e-3
    except ValueError:
        return False


def _math(math: Path) -> Iterator[Verdict]:
    for row in _lines(math / "math_cot_8samples" / "math_cot.jsonl"):
        for at, (text, official) in enumerate(zip(row["code"], row["score"], strict=True)):
            yield f"MATH {row['idx']}, sample {at}", official, _expression(row["gt"], text)


def _pairs(math: Path) -> Iterator[Verdict]:
    for row in _lines(math / "answer_pairs" / "pairs.jsonl"):
        right = _expression(row["gold"], row["pred"], strict=row.get("strict", True))
        yield f"pair {row['id']}", row["equal"], right


def _math_golds(math: Path) -> Iterator[Verdict]:
    for row in _lines(math / "math_test" / "test.jsonl"):
        yield (
            f"MATH test {row['idx']}",
            True,
            _expression(_last_box(row["solution"]), row["solution"]),
        )


def _last_box(solution: str) -> str:
    """Return the answer of a MATH solution, as its authors define it."""
    inner = re.split(r"\\boxed\s*", solution)[-1]
    if not inner.startswith("{"):
        return inner[0]
    depth = 0
    for at, character in enumerate(inner):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return inner[1:at]
    return inner


def _gsm8k_golds(math: Path) -> Iterator[Verdict]:
    for at, row in enumerate(_lines(math / "gsm8k" / "test.jsonl")):
        gold = row["answer"].rpartition("####")[2].strip()
        yield f"{at}", True, _number(gold, row["answer"], row["question"])


def _mgsm(math: Path) -> Iterator[Verdict]:
    for language, form in (("en", "The answer is {}."), ("zh", "答案是{}。")):
        lines = (math / "mgsm" / f"mgsm_{language}.tsv").read_text(encoding="utf-8").splitlines()
        yield from _golds(language, form, (line.split("\t") for line in lines))


def _cmath(math: Path) -> Iterator[Verdict]:
    rows = _lines(math / "cmath" / "test.jsonl")
    return _golds("zh", "所以，答案是{}。", ((row["question"], row["answer"]) for row in rows))


def _golds(language: Language, form: str, rows: Iterable[Iterable[str]]) -> Iterator[Verdict]:
    for at, (question, gold) in enumerate(rows):
        yield f"{language} {at}", True, _number(gold, form.format(gold), question, language)


def _choice(facts: Path, path: Path) -> Iterator[Verdict]:
    questions = json.loads((facts / "halluqa" / "HalluQA_mc.json").read_text(encoding="utf-8"))
    known = {one["question_id"]: one for one in questions}
    for row in _lines(path):
        question, text = known[row["question_id"]], row["response"]
        letter = question["answer"].removeprefix("Answer: ")
        target = {"letter": letter, "count": 5}
        sample = make_sample(Family.FACTS, target, question["question"], "zh")
        right = bool(text.strip()) and ChoiceScorer()(sample, text).outcome is Outcome.CORRECT
        yield f"{row['question_id']}", text.strip() in (letter, question["answer"]), right


def _number(gold: str, text: str, question: str, language: Language = "en") -> bool:
    sample = make_sample(Family.MATH, {"value": gold}, question, language)
    return MathScorer()(sample, text).outcome is Outcome.CORRECT


def _expression(gold: str, text: str, *, strict: bool = True) -> bool:
    return judge_expression(gold, text, strict=strict).outcome is Outcome.CORRECT


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
