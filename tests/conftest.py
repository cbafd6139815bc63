"""What all tests share."""

from __future__ import annotations

import os

import pytest

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
