"""Shards that are killed, refused and resumed merge to the run that was never divided."""

from __future__ import annotations

import pytest

from tests.simulation.sharding import run_seed
from tests.support.tiers import first_rows


@pytest.mark.parametrize("seed", first_rows(1, range(10), storm=4))
def test_merged_shards_are_the_whole_run(seed: int) -> None:
    """Whatever happened to each shard, all artifacts are equal but for what is volatile."""
    assert run_seed(seed) == []
