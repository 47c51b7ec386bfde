"""The golden tables: each row is a promise to users of what counts as correct."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.types import ScorerInput

TABLES = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


def _rows() -> Iterator[Any]:
    for path in TABLES:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            if line:
                yield pytest.param(path.stem, json.loads(line), id=f"{path.stem}-{number}")


@pytest.mark.parametrize(("scorer", "row"), list(_rows()))
def test_what_counts_as_correct(scorer: str, row: dict[str, Any]) -> None:
    """Verdict and extracted answer are those of the table."""
    result = getattr(nel, scorer)(ScorerInput(response=row["response"], target=row["target"]))
    assert (result["correct"], result.get("extracted")) == (row["correct"], row["extracted"]), row["why"]
