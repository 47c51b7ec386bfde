"""Errors that tools which decide from evaluation results have made; none of them is possible here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.comparison.conftest import compared
from tests.support.compared import line, write_run

N = 2000
BASE = [float(one) for one in np.random.default_rng(1).random(N) < 0.6]
FAR_WORSE = [0.0 if idx % 15 < 7 else reward for idx, reward in enumerate(BASE)]
"""28 points below."""


def _headline(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["candidates"][0]["benchmarks"][0]["headline"]
    return found


def test_the_order_of_ids_decides_nothing(tmp_path: Path) -> None:
    """All samples decide at once: ids that sort by category, or the other way around, give the same numbers."""
    found = []
    for name in ("{:05}", "{:05}x"):
        order = [idx if name.endswith("}") else N - idx for idx in range(N)]
        rows = [
            [line(idx, one, sample_id=name.format(order[idx])) for idx, one in enumerate(scores)]
            for scores in (BASE, FAR_WORSE)
        ]
        place = tmp_path / str(len(found))
        found.append(_headline(compared(write_run(place / "a", rows[0]), write_run(place / "b", rows[1]))))
    assert found[0] == found[1]
