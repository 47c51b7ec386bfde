"""A run in shards, each a world of its own that is killed and resumed as its script says; then merged and compared."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

from nel.artifacts.write import write_artifacts
from nel.runs.merging import merge_shards
from tests.simulation.script import Script, script_of
from tests.simulation.seeds import _MEMORY, _to_the_end
from tests.simulation.world import World
from tests.support.runs import artifacts_of

_FILES = ("results.jsonl", "metrics.json", "failure_analysis.json", "eval-simulated.json")
"""As `artifacts_of` returns them."""


def run_seed(seed: int) -> list[str]:
    """Return how the merged shards of a seed differ from the run that was never divided or troubled."""
    script = _plain(script_of(seed))
    n_shards = random.Random(f"shards/{seed}").randint(2, 5)
    with tempfile.TemporaryDirectory(prefix="nel-shards-", dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        root = Path(directory)
        whole = World(script.clean(), root / "whole")
        shards = [
            World(_troubled(script, seed * 10 + number), root / f"{number}", shard=f"{number}/{n_shards}")
            for number in range(1, n_shards + 1)
        ]
        for world in (whole, *shards):
            if found := _to_the_end(world):
                return found
        merged = root / "merged"
        merge_shards([world.run_dir for world in shards], merged)
        write_artifacts(whole.run_dir)
        contents = (artifacts_of(run_dir, "simulated") for run_dir in (merged, whole.run_dir))
        return [name for name, mine, theirs in zip(_FILES, *contents, strict=True) if mine != theirs]


def _plain(script: Script) -> Script:
    """Return a script without what needs the whole run in one place: judges, budgets, caches and other scorers."""
    return replace(script, judging=None, cap=None, caching=None, rescored_at=None)


def _troubled(script: Script, seed: int) -> Script:
    """Return the same samples with the kills, outages and faults of another seed."""
    other = _plain(script_of(seed))
    fields = (
        "latency",
        "tail",
        "faults",
        "windows",
        "requests_per_second",
        "faults_end",
        "sessions",
        "last_concurrency",
    )
    sessions = tuple(session for session in other.sessions if not session.scoring_only)
    more = {name: getattr(other, name) for name in (*fields, "commit_seconds", "drain_seconds")}
    return replace(script, **{**more, "sessions": sessions})
