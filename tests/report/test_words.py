import re
from pathlib import Path
from typing import get_args

import pytest

import evalkit.report
from evalkit.errors import UnknownNameError
from evalkit.report.words import LANGUAGES, Words, fields
from evalkit.results import MetricState, SliceDimension, VerdictState
from evalkit.types import Flag, Outcome

REASON_CODES = [
    "ALL_NI",
    "UNPROVEN",
    "BETTER",
    "FLIPS_HIGH",
    "DEGRADED_ACC",
    "HALLUCINATION_UP",
    "DEGENERATE_UP",
    "BOTH_DEGRADED",
    "SEQUENCE_STOPPED",
    "MISSING_SENSITIVE",
    "UNPROVABLE_N",
    "UNDERPOWERED",
    "NEAR_MARGIN",
    "PAIRING_BROKEN",
    "CONFIG_MISMATCH",
    "ERROR_RATE_HIGH",
    "ERROR_RATE_DIFFERS",
    "TRUNCATION",
    "FEW_CLUSTERS",
    "NOTHING_PAIRED",
    "SAME_ENDPOINT",
    "NOT_QUANTIZED",
    "PREFLIGHT_FAILED",
    "IDENTITY_CHANGED",
    "BASELINE_ZERO",
    "SCORERS_FAILED",
    "JUDGE_WEAK",
    "JUDGE_FAILED",
    "UNPLANNED_LOOK",
    "STAGE_2_DUE",
]
THREAT_CODES = [
    "COVERAGE",
    "EXCLUSIONS",
    "MISSING",
    "MISSING_REASONS",
    "TRUNCATED",
    "UNSCORED",
    "SCORER_ERRORS",
    "IDENTICAL_TEXTS",
    "SKIPPED",
    "CONFOUNDED",
    "NOISE_FLOOR",
    "LOOK",
    "JUDGED",
    "RULE_WEAK",
    "JUDGE",
    "JUDGES_ITSELF",
    "CALIBRATED_LATER",
    "POLICY_CHANGED",
    "POLICIES_DIFFER",
    "POLICY_UNKNOWN",
    "FIELDS_OMITTED",
]
REMEDY_CODES = [
    "RAISE_MAX_TOKENS",
    "CHECK_TEMPLATE",
    "RERUN_MISSING",
    "ROUTE_FAMILIES",
    "ROUTE_UNPROVEN",
    "LOWER_TEMPERATURE",
    "CURB_LOOPS",
    "ADD_RETRIEVAL",
    "MIXED_PRECISION",
    "COMPARE_ANEW",
    "ASK_STAGE_2",
    "ASK_ON",
]
DIMENSIONS = get_args(SliceDimension)
LANGS = sorted(LANGUAGES)


def variants(word: str | tuple[str, ...]) -> tuple[str, ...]:
    return (word,) if isinstance(word, str) else word


def test_every_language_has_the_same_keys() -> None:
    keys = [set(words) for words in LANGUAGES.values()]
    assert all(k == keys[0] for k in keys)


def test_every_language_needs_the_same_fields() -> None:
    for key in LANGUAGES["en"]:
        needed = {
            lang: [fields(v) for v in variants(words[key])] for lang, words in LANGUAGES.items()
        }
        assert all(n == needed["en"] for n in needed.values()), key


def test_chinese_is_chinese() -> None:
    same = {k for k, v in LANGUAGES["zh"].items() if v == LANGUAGES["en"][k]}
    allowed = {"unit.none", "col.max_tokens", "prov.version", "ui.attempted_col"}
    allowed |= {k for k in same if k.startswith("forest.col.")}
    allowed |= {"threat.other", "reason.other", "remedy.other"}
    assert same <= allowed


@pytest.mark.parametrize("lang", LANGS)
def test_every_code_and_state_has_words(lang: str) -> None:
    words = Words(lang)
    wanted = [f"reason.{code}" for code in REASON_CODES]
    wanted += [f"threat.{code}" for code in THREAT_CODES]
    wanted += [f"remedy.{code}" for code in REMEDY_CODES]
    wanted += [f"slice.{dimension}" for dimension in DIMENSIONS]
    wanted += [f"state.{s.value}" for s in VerdictState]
    wanted += [f"verdict.{s.value}" for s in VerdictState]
    wanted += [f"metric_state.{s.value}" for s in MetricState]
    wanted += [f"flag.{f.value}" for f in Flag] + [f"outcome.{o.value}" for o in Outcome]
    assert [key for key in wanted if key not in words] == []


def test_every_key_that_the_code_names_exists() -> None:
    root = Path(evalkit.report.__file__).parent
    source = "\n".join(p.read_text(encoding="utf-8") for p in sorted(root.rglob("*.py")))
    templates = root.parent.parent / "reports" / "templates"
    pages = source + "\n".join(p.read_text(encoding="utf-8") for p in templates.glob("*.j2"))
    named = set(re.findall(r'words\(\s*"([a-z_.A-Z]+)"', source))
    named |= {f"ui.{key}" for key in re.findall(r'\bui(?:\.|\[")([a-z_]+)', pages)}
    assert len(named) > 60
    assert sorted(key for key in named if key not in LANGUAGES["en"]) == []


def test_missing_key_and_missing_fact_are_errors() -> None:
    words = Words("en")
    with pytest.raises(KeyError):
        words("no.such.key")
    with pytest.raises(KeyError, match="exit"):
        words("gate", state="SHIP")


def test_richest_variant_with_all_facts_is_used() -> None:
    words = Words("en")
    names = {"where": "", "candidate": "q4", "baseline": "q8"}
    assert "too few" in words("reason.UNDERPOWERED", **names)
    full = words("reason.UNDERPOWERED", **names, n="164", equal="1,050")
    assert full == "164 pairs are too few (about 1,050 needed if the two are equally good)"


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="en, zh"):
        Words("klingon")
