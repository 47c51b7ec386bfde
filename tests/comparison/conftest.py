"""Comparisons of hand-written runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel.comparison.compare import compare
from nel.comparison.document import comparison_json
from nel.comparison.fields import check_parts
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from tests.support.schemas import check_schema

Compared = Callable[..., dict[str, Any]]


def compared(*sides: Path, margin: float = 0.0, despite: tuple[str, ...] = (), flips: int = 1000) -> dict[str, Any]:
    """Return the comparison of sides as JSON that fits its schema."""
    found = compare(read_sides([str(side) for side in sides]), Settings(margin=margin), despite=check_parts(despite))
    document = comparison_json(found, flips_max=flips)
    check_schema(document, "comparison")
    return document


@pytest.fixture(name="compared")
def _compared() -> Compared:
    return compared
