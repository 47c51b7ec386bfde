"""``python -m tests.simulation --seeds 10000 --from 0``: run many worlds and print the seeds that fail."""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback

from tests.simulation import sharding
from tests.simulation.seeds import run_seed


def main() -> int:
    """Run the seeds that the command line names; 1 when one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--acts", action="store_true", help="with a model that acts with tools")
    kind.add_argument("--shards", action="store_true", help="runs in shards, which are merged")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    failed: list[int] = []
    started = time.monotonic()
    for seed in range(given.first, given.first + given.seeds):
        try:
            found = sharding.run_seed(seed) if given.shards else run_seed(seed, acts=given.acts)
        except Exception:  # noqa: BLE001 - the other seeds are to be run too
            found = [traceback.format_exc()]
        if found:
            failed.append(seed)
            print(f"seed {seed}:", *found[:5], sep="\n  ", flush=True)  # noqa: T201 - this is a command
    seconds = time.monotonic() - started
    print(f"{given.seeds - len(failed)} of {given.seeds} seeds pass, {seconds:.0f} s; failed: {failed}")  # noqa: T201
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
