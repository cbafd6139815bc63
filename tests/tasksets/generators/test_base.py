"""A generator's stream becomes a taskset: distinct, stable, in the sizes of the suites."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import TasksetError
from evalkit.tasksets.catalogue import Size, load_taskset, select
from evalkit.tasksets.generators.base import GENERATORS, Draft, take
from evalkit.tasksets.suites import SUITES, shares
from evalkit.types import Family, Language


@GENERATORS.register("toy-sums")
def toy(language: Language, seed: int, options: Mapping[str, Any]) -> Iterator[Draft]:
    rng = random.Random(f"{language}-{seed}")
    top = int(options.get("top", 10**6))
    while True:
        a, b = rng.randrange(top), rng.randrange(top)
        text = f"{a} + {b} = ?"
        yield Draft.ask(text, category="sum", target={"value": str(a + b)}, level="easy", a=a)


def recipe(folder: Path, **more: Any) -> Path:
    lines = {
        "name": "toy",
        "version": 1,
        "family": "math",
        "description": "Sums.",
        "scorer": "math",
        "max_tokens": 16,
        "generator": "toy-sums",
        **more,
    }
    text = "\n".join(f"{key}: {value}" for key, value in lines.items())
    (folder / "taskset.yaml").write_text(f"{text}\nsystem: {{en: Add., zh: 求和。}}\n", "utf-8")
    return folder


def test_a_smaller_set_is_the_beginning_of_a_larger_one() -> None:
    small = take("toy-sums", "en", 7, 20, {})
    assert take("toy-sums", "en", 7, 50, {})[:20] == small
    assert len({one.id for one in small}) == 20


def test_other_seeds_and_languages_make_other_prompts() -> None:
    first = {one.id for one in take("toy-sums", "en", 1, 200, {})}
    assert not first & {one.id for one in take("toy-sums", "en", 2, 200, {})}
    assert not first & {one.id for one in take("toy-sums", "zh", 1, 200, {})}


def test_equal_prompts_have_equal_ids_whatever_the_seed() -> None:
    ids = [{one.id for one in take("toy-sums", "en", seed, 9, {"top": 3})} for seed in (1, 2)]
    assert ids[0] == ids[1]


def test_a_generator_that_runs_dry_says_how_far_it_came() -> None:
    with pytest.raises(TasksetError, match=r"makes 9 distinct prompts in 'en', not 10"):
        take("toy-sums", "en", 1, 10, {"top": 3})


def test_a_recipe_becomes_a_taskset(tmp_path: Path) -> None:
    made = load_taskset(str(recipe(tmp_path)), Size(samples=30, seed=5))
    assert [s.language for s in made.samples].count("en") == 20
    assert made.samples[0].messages[0].content == "Add."
    assert made.samples[-1].messages[0].content == "求和。"
    assert made.samples[0].metadata["level"] == "easy"
    assert made.content_hash != load_taskset(str(tmp_path), Size(30, 6)).content_hash
    assert made.content_hash == load_taskset(str(tmp_path), Size(30, 5)).content_hash


@pytest.mark.parametrize("suite", ["smoke", "quick", "standard", None])
def test_a_suite_decides_how_many_samples_there_are(tmp_path: Path, suite: Any) -> None:
    folder = str(recipe(tmp_path))
    chosen = select([folder], limit=None, seed=1, allow_code=False, suite=suite)
    assert len(chosen.tasksets[0].samples) == SUITES[suite or "standard"]
    few = select([folder], limit=9, seed=1, allow_code=False, suite=suite, languages=("zh",))
    assert len(few.tasksets[0].samples) == 9


def test_without_a_suite_only_what_is_written_down_is_asked() -> None:
    names = {t.name for t in select([], limit=5, seed=0, allow_code=True).tasksets}
    assert names == {"facts", "instructions", "code", "longform", "math"}


def test_a_suite_asks_every_family_alike() -> None:
    made = select([], limit=None, seed=0, allow_code=True, suite="smoke").tasksets
    assert {(taskset.family, len(taskset.samples)) for taskset in made} == {
        (family, SUITES["smoke"]) for family in Family
    }


def test_a_full_suite_stays_within_what_generators_promise() -> None:
    assert shares(SUITES["full"], ()) == {"en": 2000, "zh": 1000}
    assert shares(SUITES["full"], ("en",)) == {"en": 2000}
    assert shares(SUITES["full"], ("zh",)) == {"zh": 1000}


def test_an_unknown_generator_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="Unknown generator 'toy-sum'"):
        load_taskset(str(recipe(tmp_path, generator="toy-sum")))
