"""Keeps the table in README.md: each fault with the test that noticed it, in the whole suite and in the fast tier."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.mutations.runner import Verdict
from tests.mutations.table import MUTATIONS

README: Final = Path(__file__).with_name("README.md")
_COLUMNS: Final = {"all": 2, "fast": 3}
"""Tier to its column, after name and room."""
_TABLE: Final = re.compile(r"(?<=<!-- results -->\n).*(?=<!-- end of results -->)", re.DOTALL)
_HEAD: Final = "| Fault | Room | Whole suite | Fast tier |\n| --- | --- | --- | --- |\n"
_UNKNOWN: Final = "not run"
_SURVIVED: Final = "**survived**"


def short(test: str) -> str:
    """Return a test's id without its folders and its parameters.

    >>> short("tests/metrics/test_intervals.py::test_wilson[8-10]")
    'test_intervals.py::test_wilson'
    """
    return test.partition("[")[0].rpartition("/")[2]


def record(tier: str, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts into the column of their tier; what was not run keeps what it has."""
    text = README.read_text(encoding="utf-8")
    table = _TABLE.search(text)
    if table is None or tier not in _COLUMNS:
        raise ValueError(f"README.md has no table of results with a column for {tier}")
    rows = {cells[0]: cells for cells in map(_cells, table[0].splitlines()[2:])}
    found = {verdict.mutation.name: verdict for verdict in verdicts}
    lines = []
    for mutation in MUTATIONS:
        cells = rows.get(f"`{mutation.name}`", ["", "", _UNKNOWN, _UNKNOWN])
        cells[:2] = f"`{mutation.name}`", mutation.room
        if mutation.name in found:
            by = found[mutation.name].caught_by
            cells[_COLUMNS[tier]] = _SURVIVED if by is None else f"`{short(by)}`"
        lines.append(f"| {' | '.join(cells)} |\n")
    README.write_text(text[: table.start()] + _HEAD + "".join(lines) + text[table.end() :], encoding="utf-8")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
