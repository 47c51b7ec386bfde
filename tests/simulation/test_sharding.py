"""Shards that are killed, refused and resumed merge to the run that was never divided."""

from __future__ import annotations

import pytest

from tests.simulation.sharding import run_seed


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_merged_shards_are_the_whole_run(seed: int) -> None:
    """Whatever happened to each shard, all artifacts are equal but for what is volatile."""
    assert run_seed(seed) == []
