"""A run in shards, each a world of its own that is killed and resumed as its script says; then merged and compared.

``python -m tests.simulation.sharding --seeds 10000 --from 0``
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from nel.artifacts.write import write_artifacts
from nel.runs.merging import merge_shards
from tests.simulation.script import Script, script_of
from tests.simulation.seeds import _MEMORY, _to_the_end
from tests.simulation.world import World
from tests.support.runs import comparable

_FILES = ("results.jsonl", "metrics.json", "failure_analysis.json", "eval-simulated.json")


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
        folders = merged / "simulated", whole.run_dir / "simulated"
        return [name for name in _FILES if _content(folders[0] / name) != _content(folders[1] / name)]


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


def _content(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [comparable(json.loads(line)) for line in text.splitlines()]
    return comparable(json.loads(text))


def main() -> int:
    """Run the seeds that the command line names; 1 when one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.sharding", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    failed, began = [], time.monotonic()
    for seed in range(given.first, given.first + given.seeds):
        if found := run_seed(seed):
            failed.append(seed)
            print(f"seed {seed}: {found}", flush=True)  # noqa: T201 - this is a command
    passed = given.seeds - len(failed)
    print(f"{passed} of {given.seeds} seeds pass, {time.monotonic() - began:.0f} s; failed: {failed}")  # noqa: T201
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
