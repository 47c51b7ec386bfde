"""The rule of growth: no change of the readers makes a recorded set worse."""

from __future__ import annotations

import json

import pytest

from tests.reading.recorded import COUNTS, counts, sets
from tests.support.runs import SHARED

RECORDED = json.loads(COUNTS.read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there"),
]


def test_every_recorded_set_has_counts() -> None:
    """A new set is counted from its first day."""
    assert set(RECORDED) == set(sets())


@pytest.mark.parametrize("name", RECORDED)
def test_set_is_read_at_least_as_well_as_before(name: str) -> None:
    """As many outputs equal the gold answer, and what the source read, as when the counts were written."""
    now, before = counts(name), RECORDED[name]
    assert now["outputs"] == before["outputs"]
    assert {key: now[key] for key in ("gold", "as_source")} == {
        key: max(now[key], before[key]) for key in ("gold", "as_source")
    }
