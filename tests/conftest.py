"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import orjson
import pytest
from jsonschema import Draft202012Validator

_REQUIRED = set(filter(None, os.environ.get("EVALKIT_TESTS_REQUIRE", "").split(",")))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):  # type: ignore[no-untyped-def]
    """Turn a skip into a failure for markers that must run here (CI): no silent holes."""
    outcome = yield
    report = outcome.get_result()
    missing = _REQUIRED & {mark.name for mark in item.iter_markers()}
    if report.skipped and missing and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} must run here ({', '.join(missing)}): {report.longrepr}"


@pytest.fixture(autouse=True)
def comparisons_follow_their_schema(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check every comparison that a test leaves behind, as far as evalkit itself reads it."""
    if "tmp_path" not in request.fixturenames:
        yield
        return
    folder: Path = request.getfixturevalue("tmp_path")
    yield
    for path in folder.rglob("comparison.json"):
        _check(path)


def _check(path: Path) -> None:
    from evalkit.errors import StoreError
    from evalkit.report.store import load_comparison

    try:
        load_comparison(path)
    except StoreError:
        return  # one that a test has broken
    body = orjson.loads(path.read_bytes())
    for result in body["results"]:
        # They are all of one make, and there may be thousands.
        result["samples"] = result["samples"][:3]
    _validator().validate(body)


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison that ends with HOLD, to be read; 60 questions, 30 lost."""
    from tests.gated import compare_quiz

    return compare_quiz(tmp_path_factory.mktemp("held"), 60, range(0), range(30), words=())


@cache
def _validator() -> Draft202012Validator:
    from evalkit.report.schema import schema_of

    return Draft202012Validator(schema_of("comparison"))
