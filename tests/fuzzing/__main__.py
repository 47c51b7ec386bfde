"""Searches for inputs that a reader does not survive: ``python -m tests.fuzzing --cases 10000000 --jobs 2``.

Ends with 1 and prints each input that failed, in the form in which `found.jsonl` keeps them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.fuzzing.readers import READERS
from tests.fuzzing.search import Failure, kept_line, search

_BATCH = 2_000


def main() -> int:
    """Search, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="in all, shared by the readers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reader", choices=sorted(READERS), action="append")
    given = parser.parse_args()
    names = given.reader or sorted(READERS)
    started, failed, n = time.monotonic(), 0, 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for tried, found in pool.map(_batch, _batches(names, given.cases, given.seed), chunksize=1):
            n += tried
            for failure in found:
                failed += 1
                print(kept_line(failure), f"# {failure.error}", flush=True)
    seconds = time.monotonic() - started
    print(f"{n:,} inputs of {len(names)} readers in {seconds:.0f} s: {failed} failed", file=sys.stderr)
    return 1 if failed else 0


def _batches(names: list[str], cases: int, seed: int) -> Iterator[tuple[str, int, int]]:
    for number in range(-(-cases // (_BATCH * len(names)))):
        yield from ((name, seed * 1_000_003 + number, _BATCH) for name in names)


def _batch(order: tuple[str, int, int]) -> tuple[int, list[Failure]]:
    name, seed, cases = order
    return cases, list(search(name, seed=seed, cases=cases))


if __name__ == "__main__":
    sys.exit(main())
