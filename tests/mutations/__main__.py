"""Plants each fault of the table in a copy of nel and shows which test notices it: `python -m tests.mutations`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutations.planting import copy_tree
from tests.mutations.runner import TIERS, Runner, Verdict
from tests.mutations.table import MUTATIONS, Mutation


def main() -> int:
    """Run what the command line asks for; return 1 when a fault survives."""
    options = _options()
    chosen = _chosen(options.only, options.room)
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="nel-mutations-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        runners: SimpleQueue[Runner] = SimpleQueue()
        for number in range(options.jobs):
            tree = copy_tree(Path(folder, str(number)))
            runners.put(Runner(tree, options.tier, covering_only=options.covering_only))

        def verdict_of(mutation: Mutation) -> Verdict:
            runner = runners.get()
            try:
                return runner.run(mutation)
            finally:
                runners.put(runner)

        for verdict in pool.map(verdict_of, chosen):
            verdicts.append(verdict)
            _say(_line(verdict))
        verdicts = runners.get().proven(verdicts)
    survivors = [verdict for verdict in verdicts if verdict.caught_by is None]
    seconds = sum(verdict.seconds for verdict in verdicts)
    _say(f"\n{len(verdicts) - len(survivors)} of {len(verdicts)} caught by tier {options.tier}, {seconds:.0f} s in all")
    for verdict in survivors:
        _say(_line(verdict))
    return 1 if survivors else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--tier", choices=TIERS, default="fast", help="which tests may notice a fault (default: fast)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this fault alone; may be given several times")
    parser.add_argument("--room", help="the faults of one room, such as metrics or engine")
    parser.add_argument("--jobs", type=int, default=1, help="faults that are tried at once, each in its own copy")
    parser.add_argument("--covering-only", action="store_true", help="do not run all other tests for a survivor")
    return parser.parse_args()


def _chosen(only: Sequence[str] | None, room: str | None) -> list[Mutation]:
    known = {mutation.name for mutation in MUTATIONS}
    for name in only or ():
        if name not in known:
            sys.exit(f'there is no mutation "{name}"; tests/mutations/faults.toml has them all')
    return [
        mutation
        for mutation in MUTATIONS
        if (not only or mutation.name in only) and (room is None or room in Path(mutation.file).parts)
    ]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _line(verdict: Verdict) -> str:
    by = "SURVIVED" if verdict.caught_by is None else verdict.caught_by.rpartition("/")[2]
    note = f" ({verdict.note})" if verdict.note else ""
    return f"{verdict.mutation.name:34} {verdict.seconds:6.1f} s  {by}{note}"


if __name__ == "__main__":
    sys.exit(main())
