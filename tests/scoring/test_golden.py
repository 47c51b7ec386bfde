"""The golden tables: each row is a promise to users of what counts as correct.

A table is named after its scorer: one of `nel`, or of `nel.byob.scorers` where the name starts with ``byob_`` or `nel`
has none of that name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nel
import nel.byob.scorers
from nel.types import ScorerInput

TABLES = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))
KEYS = ["response", "target", "correct", "extracted", "parsed", "metadata", "options", "why"]


def _scorer(stem: str) -> Callable[..., dict[str, Any]]:
    bare = stem.removeprefix("byob_")
    home = nel if stem == bare and bare in nel.__all__ else nel.byob.scorers
    found: Callable[..., dict[str, Any]] = getattr(home, bare)
    return found


def _table(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_what_counts_as_correct(path: Path) -> None:
    """Verdict, extracted answer and, where the row has it, ``parsed`` are those of the table."""
    scorer = _scorer(path.stem)
    different = []
    for number, row in enumerate(_table(path), start=1):
        sample = ScorerInput(response=row["response"], target=row["target"], metadata=row.get("metadata", {}))
        result = scorer(sample, **row.get("options", {}))
        promised = {key: row[key] for key in ("correct", "extracted", "parsed") if key in row}
        scored = {key: result["correct"] if key == "correct" else result.get(key) for key in promised}
        if scored != promised:
            different.append((number, scored, promised, row["why"]))
    assert different == []


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_rows_are_distinct_and_well_formed(path: Path) -> None:
    """No row stands twice, every row gives a reason, and the keys keep their order."""
    rows = _table(path)
    asked = [json.dumps([row.get(key) for key in ("response", "target", "metadata", "options")]) for row in rows]
    assert [row for row, count in Counter(asked).items() if count > 1] == []
    for row in rows:
        assert list(row) == [key for key in KEYS if key in row]
        assert row["why"] == row["why"].strip(" .") != ""
