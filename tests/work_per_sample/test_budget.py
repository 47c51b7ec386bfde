"""A sample costs what it did: counts of bytecodes, calls and statements stay within their budget."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from tests.work_per_sample.benchmarks import KINDS
from tests.work_per_sample.measuring import BUDGET

ROOT: Final = Path(__file__).parents[2]
ROOM: Final = 1.02
"""Counts of two runs of the same code differ by a tenth of a percent, or half a percent where processes are waited for."""
COPIES: Final = ("core/strict_json.py:", "dataclasses.py:")
"""What makes a JSON text or a copy of an object: most of its time is spent in C, so that one more would hide among the
bytecodes of its stage, and each function has a budget of its own.
"""
HALF_A_CALL: Final = 4.5
"""Bytecodes of half a call of the cheapest of these, `dumps_bytes`."""
FUNCTIONS_MAX: Final = 150
MODULES_MAX: Final = 48
_GROWN_SHOWN: Final = 8

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the budget is of Python 3.11")


@cache
def measured(kind: str) -> dict[str, Any]:
    """Return what a sample costs, counted in a process that nothing else was imported into."""
    command = [sys.executable, "-m", "tests.work_per_sample.measuring", kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def grown(before: dict[str, float], after: dict[str, float]) -> str:
    """Return the functions that grew most, with their bytecodes before and after."""
    changes = sorted(((after[name] - before.get(name, 0.0), name) for name in after), reverse=True)
    lines = [f"  {name}: {before.get(name, 0.0):,.0f} to {after[name]:,.0f}" for change, name in changes if change >= 1]
    return "\n".join(lines[:_GROWN_SHOWN])


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "plain" else [pytest.mark.slow]) for kind in KINDS]
)
def test_a_sample_costs_no_more_than_its_budget(kind: str) -> None:
    """Each stage stays within two percent, and what copies within its own; what is worth more work raises budget.json
    and says so in its commit.
    """
    budget, work = json.loads(BUDGET.read_text("utf-8"))[kind], measured(kind)
    over = {
        stage: f"{budget['bytecodes'][stage]:,.0f} to {n:,.0f}"
        for stage, n in work["bytecodes"].items()
        if n > budget["bytecodes"][stage] * ROOM
    }
    over |= {
        name: f"{budget['functions'].get(name, 0.0):,.0f} to {n:,.0f}"
        for name, n in work["functions"].items()
        if name.startswith(COPIES) and n > budget["functions"].get(name, 0.0) * ROOM + HALF_A_CALL
    }
    assert not over, f"{kind}: bytecodes a sample: {over}; grown:\n{grown(budget['functions'], work['functions'])}"
    assert work["statements"].get("INSERT", 0) <= budget["statements"].get("INSERT", 0)


def test_a_sample_passes_few_functions() -> None:
    """A reader who follows one sample, from the queue to its outcome on disk, meets at most this many; what its own
    rule does with the answer is not counted.
    """
    functions = measured("plain")["road"]
    assert len(functions) <= FUNCTIONS_MAX, functions
    assert len({name.partition(":")[0] for name in functions}) <= MODULES_MAX, functions
