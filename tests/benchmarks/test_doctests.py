"""The examples in the docstrings of adapters and few-shot say the truth."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = [
    "nel.compat.evalscope.choices",
    "nel.compat.evalscope.filters",
    "nel.compat.evalscope.mathematics",
    "nel.compat.evalscope.metrics",
    "nel.compat.evalscope.ner",
    "nel.compat.evalscope.samples",
    "nel.compat.evalscope.text_metrics",
    "nel.datasets.fewshot",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    """Every example gives what it says, and there is one."""
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
