"""Every attack that is cheap, one test each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.table import FAMILIES, Family


@pytest.mark.parametrize(
    ("family", "name"),
    [pytest.param(family, name, id=f"{family.what}-{name}") for family in FAMILIES for name in family.attacks],
)
def test_nel_withstands(family: Family, name: str, tmp_path: Path) -> None:
    """Neither the file system, nor a page, nor a verdict, nor a secret gives way."""
    family.attacks[name](tmp_path)
