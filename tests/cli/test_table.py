"""Tables of commands: what does not fit moves to a line of its own, and nothing is shortened."""

from __future__ import annotations

from operator import itemgetter

import pytest

from nel.cli.table import table_lines
from nel.reports.tables.columns import Column, ReportTable

HEADINGS = ("benchmark", "score", "95 % interval", "unscored", "not asked")
COLUMNS = [Column(name, of=itemgetter(at)) for at, name in enumerate(HEADINGS)]
ROWS = [
    ("mmlu-pro-of-a-long-name", "62.16\u202f%", "61.05 % – 63.26 %", "infra:timeout 321", ""),
    ("漢字", "no score", "none", "", ""),
]


@pytest.mark.parametrize("width", [80, 60, 40, 30])
def test_nothing_is_shortened_on_a_narrow_terminal(width: int) -> None:
    """Score, interval and counts stand whole on lines that fit, at 40 columns too."""
    lines = table_lines(ReportTable(COLUMNS, ROWS), width)
    text = " ".join("\n".join(lines).split())
    cells = ("mmlu-pro-of-a-long-name", "62.16 %", "61.05 % – 63.26 %", "infra:timeout 321", "no score")
    assert all(cell in text for cell in cells)
    assert max(map(len, lines)) <= width
