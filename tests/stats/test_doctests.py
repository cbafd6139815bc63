"""Every example in the docstrings of `evalkit.stats` runs and is true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import evalkit.stats

MODULES = sorted(module.name for module in pkgutil.iter_modules(evalkit.stats.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(f"evalkit.stats.{name}")
    results = doctest.testmod(module)
    assert results.failed == 0
    assert results.attempted > 0
