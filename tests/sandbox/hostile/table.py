"""Runs every program and every task of this folder and counts what came of them, in docs/evidence/robustness.md.

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
from nel.sandbox import Sandbox, SandboxSettings, ProgramVerdict
from nel.sandbox.verdict.judging import mode_of
from tests.sandbox.hostile.catalogue import load_programs
from tests.sandbox.test_hostile import program_of
from tests.sandbox.test_tasks import TASKS, program_of_task

PAGE: Final = Path(__file__).parents[3] / "docs" / "evidence" / "robustness.md"
BEGIN: Final = "<!-- python -m tests.sandbox.hostile.table -->"
END: Final = "<!-- end of the table -->"
ISOLATION: Final = frozenset("leaving previous resources signals links network privilege".split())
"""Families of programs that attack the machine and their neighbours, whatever their tests are."""
ABOUT: Final = {
    "isolation": "attacks the machine, its neighbours, or uses up what there is",
    "outside": "verdict in `outside`: lies about outputs, ends early, is oddly encoded, or is right",
    "split": "verdict in `split`: lies about answers, seeks its tests, ends early, or is right",
    "shared": "verdict in `shared`: ends early, or is right",
    "bad row": "tests that are plainly broken",
}


def main() -> int:
    """Run all, write the table, and return 1 when one went wrong."""
    tried: Counter[str] = Counter()
    right: Counter[str] = Counter()
    forged: list[tuple[str, bool]] = []
    with Sandbox(SandboxSettings()) as sandbox:
        for half, name, wanted, found, is_promised in outcomes(sandbox):
            if not is_promised:
                forged.append((name, found == "passed"))
                continue
            tried[half] += 1
            right[half] += found in wanted
            if found not in wanted:
                print(
                    f"{half}/{name}: {found} instead of {' or '.join(sorted(wanted))}",
                    file=sys.stderr,
                )  # noqa: T201
    rows = [f"| {ABOUT[name]} | {tried[name]} | {right[name]} | {tried[name] - right[name]} |" for name in ABOUT]
    total = f"| **all** | **{tried.total()}** | **{right.total()}** | **{tried.total() - right.total()}** |"
    promise = (
        f"Not promised: {sum(passes for _, passes in forged)} of {len(forged)} programs that attack tests in their own "
        f"process pass them (`shared`)."
    )
    table = "\n".join(["| what | tried | right | wrong |", "|---|---:|---:|---:|", *rows, total, "", promise])
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
    print(table)  # noqa: T201
    return int(right != tried)


def outcomes(sandbox: Sandbox) -> Iterator[tuple[str, str, frozenset[str], str, bool]]:
    """Yield half, name, the right verdicts, the verdict of each, and whether that is promised."""
    asked: list[tuple[str, str, frozenset[str], bool, Future[ProgramVerdict]]] = []
    for one in load_programs():
        program = program_of(one)
        half = "isolation" if one.family in ISOLATION else mode_of(program)
        asked.append((half, one.name, one.verdicts, True, sandbox.submit(program)))
    for task in TASKS:
        wanted = frozenset(part.strip() for part in task["verdict"].split("|"))
        program = program_of_task(task)
        half = "bad row" if wanted == {"bad_row"} else mode_of(program)
        is_promised = task.get("promised", True)
        asked.append((half, task["name"], wanted, is_promised, sandbox.submit(program)))
    for half, name, wanted, is_promised, future in asked:
        yield half, name, wanted, found_of(future), is_promised


def found_of(future: Future[ProgramVerdict]) -> str:
    """Return a verdict, or whose fault it is that there is none."""
    try:
        return future.result().verdict
    except DatasetError:
        return "bad_row"
    except SandboxError as error:
        return f"sandbox ({error.kind})"


if __name__ == "__main__":
    sys.exit(main())
