"""What tests of the report share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.browsing import launched


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium a module: while it is open, nothing else in the thread can run a loop."""
    yield from launched()
