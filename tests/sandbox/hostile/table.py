"""Runs every program and every task of this folder and counts what came of them, in docs/explanation/robustness.md.

python -m tests.sandbox.hostile.table            run them and write the table
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from nel.errors import DatasetError, SandboxError
from nel.sandbox import Sandbox, SandboxSettings, Verdict
from tests.sandbox.hostile.catalogue import load_programs
from tests.sandbox.test_hostile import program_of
from tests.sandbox.test_tasks import GROUPED, TASKS, program_of_task

PAGE: Final = Path(__file__).parents[3] / "docs" / "explanation" / "robustness.md"
BEGIN: Final = "<!-- python -m tests.sandbox.hostile.table -->"
END: Final = "<!-- end of the table -->"
ABOUT: Final = {
    "ending": "ends before or during its tests",
    "forging": "lies about values, answers and verdicts",
    "reading_tests": "looks for the tests and what they expect",
    "tampering": "changes the interpreter, the channel, streams and limits",
    "leaving": "leaves processes and files behind",
    "previous": "looks for what an earlier program left",
    "resources": "uses up CPU, memory, processes, disk, output, time",
    "signals": "signals others, stops, ignores signals",
    "links": "misleads the removal of its files",
    "network": "reaches for the network",
    "privilege": "reaches for rights and devices",
    "source": "is oddly encoded, large, or does not parse",
    "honest": "is right, or honestly wrong, and looks suspicious",
    "tasks": "tests that are broken, poisoned, or short of names",
}


def main() -> int:
    """Run all, write the table, and return 1 when one went wrong."""
    tried: Counter[str] = Counter()
    right: Counter[str] = Counter()
    with Sandbox(SandboxSettings()) as sandbox:
        for family, name, wanted, found in outcomes(sandbox):
            tried[family] += 1
            right[family] += found in wanted
            if found not in wanted:
                print(f"{family}/{name}: {found} instead of {' or '.join(sorted(wanted))}", file=sys.stderr)  # noqa: T201
    rows = [f"| {ABOUT[name]} | {tried[name]} | {right[name]} | {tried[name] - right[name]} |" for name in ABOUT]
    total = f"| **all** | **{tried.total()}** | **{right.total()}** | **{tried.total() - right.total()}** |"
    table = "\n".join(["| what | tried | right | wrong |", "|---|---:|---:|---:|", *rows, total])
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
    print(table)  # noqa: T201
    return int(right != tried)


def outcomes(sandbox: Sandbox) -> Iterator[tuple[str, str, frozenset[str], str]]:
    """Yield family, name, the right verdicts and the verdict of each."""
    asked: list[tuple[str, str, frozenset[str], Future[Verdict]]] = [
        (one.family, one.name, one.verdicts, sandbox.submit(program_of(one))) for one in load_programs()
    ]
    for task in [*TASKS, *GROUPED]:
        wanted = frozenset(part.strip() for part in task["verdict"].split("|"))
        asked.append(("tasks", task["name"], wanted, sandbox.submit(program_of_task(task))))
    for family, name, wanted, future in asked:
        yield family, name, wanted, found_of(future)


def found_of(future: Future[Verdict]) -> str:
    """Return a verdict, or whose fault it is that there is none."""
    try:
        return future.result().verdict
    except DatasetError:
        return "bad_row"
    except SandboxError as error:
        return f"sandbox ({error.kind})"


if __name__ == "__main__":
    sys.exit(main())
