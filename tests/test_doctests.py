"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import nel

PACKAGE = Path(nel.__file__).parent
MODULES = sorted(
    ".".join(("nel", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if "\n    >>> " in path.read_text(encoding="utf-8") or "\n>>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """Each example gives what it says, and there is one."""
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
