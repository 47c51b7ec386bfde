"""HumanEval in the real sandbox: what is right passes, and no way to cheat does."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from nel.sandbox import Program, ProgramVerdict, Sandbox, SandboxSettings
from tests.sandbox.conftest import need_engine
from tests.support.runs import SHARED

DATA = SHARED / "humaneval.jsonl.gz"
pytestmark = [
    pytest.mark.docker,
    pytest.mark.shared_data,
    pytest.mark.timeout(1800),
]

EQUAL_TO_ALL = """
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __abs__(self): return 0
    def __sub__(self, other): return self
    __rsub__ = __add__ = __radd__ = __sub__
    def __len__(self): return 0
    def __iter__(self): return iter(())
    def __bool__(self): return True
    def __contains__(self, item): return True
"""


def rows() -> list[dict[str, Any]]:
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def program(row: dict[str, Any], source: str) -> Program:
    return Program(source=source, tests=row["test"], entry_point=row["entry_point"], prompt=row["prompt"])


def verdicts(sandbox: Sandbox, programs: list[Program]) -> list[ProgramVerdict]:
    return [future.result() for future in [sandbox.submit(one) for one in programs]]


def canonical() -> list[Program]:
    return [program(row, row["prompt"] + row["canonical_solution"]) for row in rows()]


def test_all_canonical_solutions_pass_in_the_default_mode(sandbox: Sandbox) -> None:
    found = verdicts(sandbox, canonical())
    assert Counter((one.verdict, one.mode) for one in found) == {("passed", "split"): 164}


@pytest.mark.parametrize(
    ("before", "body", "expected"),
    [
        ("", "pass", {"wrong"}),
        ("", "import os; os._exit(0)", {"runtime_error"}),
        (EQUAL_TO_ALL, "return Same()", {"wrong", "runtime_error"}),  # it has no rounding
    ],
    ids=["pass", "os._exit", "equal-to-all"],
)
def test_no_cheat_passes_a_single_problem(sandbox: Sandbox, before: str, body: str, expected: set[str]) -> None:
    cheats = [program(row, f"{before}{row['prompt']}    {body}\n") for row in rows()[::4]]
    assert {one.verdict for one in verdicts(sandbox, cheats)} == expected


@pytest.mark.slow
def test_load_does_not_change_a_verdict() -> None:
    need_engine("python")
    mixed = canonical()
    mixed[0] = program(rows()[0], rows()[0]["prompt"] + "    while True: pass\n")
    with Sandbox(SandboxSettings(workers=1)) as alone:
        quiet = [one.verdict for one in verdicts(alone, mixed)]
    with busy_processes(4), Sandbox(SandboxSettings(workers=8)) as crowded:
        busy = [one.verdict for one in verdicts(crowded, mixed)]
    assert busy == quiet
    assert Counter(quiet) == {"passed": len(mixed) - 1, "timeout": 1}


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    hogs = [multiprocessing.get_context("spawn").Process(target=burn, daemon=True) for _ in range(count)]
    with ExitStack() as started:
        for hog in hogs:
            hog.start()
            started.callback(hog.join)
            started.callback(hog.kill)
        yield


def burn() -> None:
    end = time.monotonic() + 1800  # should nothing be left to end it
    while time.monotonic() < end:
        sum(range(10_000))
