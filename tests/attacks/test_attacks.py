"""Every attack that is cheap, by family."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.table import FAMILIES, Family, gave_way


@pytest.mark.parametrize(
    "family", [pytest.param(family, id=family.what, marks=[pytest.mark.slow] * family.slow) for family in FAMILIES]
)
def test_nel_withstands(family: Family, tmp_path: Path) -> None:
    """Neither the file system, nor a page, nor a verdict, nor a secret gives way."""
    assert gave_way(family, tmp_path) == {}
