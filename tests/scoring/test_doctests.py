"""The examples in the docstrings of scoring, reading, metrics, decide and built-in benchmarks are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import nel.benchmarks
import nel.decide
import nel.metrics
import nel.reading
import nel.scoring

MODULES = sorted(
    module.name
    for package in (nel.scoring, nel.reading, nel.metrics, nel.decide, nel.benchmarks)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """Each example gives what it says."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
