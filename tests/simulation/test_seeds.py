"""Whole runs under virtual time: 200 worlds of kills, outages, refusals and full disks, and what must hold of each.

A seed that fails prints its number and the command that runs it alone; put it into `regressions`.
"""

from __future__ import annotations

import pytest

from tests.simulation.regressions import REGRESSIONS
from tests.simulation.seeds import failures, trace_of

_SEEDS = 200
_CHUNK = 10


@pytest.mark.parametrize("first", range(0, _SEEDS, _CHUNK), ids=lambda first: f"seeds-{first}-{first + _CHUNK - 1}")
def test_every_invariant_holds_in_every_world(first: int) -> None:
    """Nothing is lost, paid twice or counted wrongly, and every run ends."""
    assert failures(range(first, first + _CHUNK)) == []


@pytest.mark.parametrize("seed", [seed for seed in REGRESSIONS if seed >= _SEEDS])
def test_what_once_failed_holds(seed: int) -> None:
    """A seed that found a fault stays."""
    assert failures([seed]) == []


def test_a_seed_is_one_world() -> None:
    """The same seed sends the same requests at the same times, or a failure could not be looked into."""
    assert trace_of(5) == trace_of(5)
