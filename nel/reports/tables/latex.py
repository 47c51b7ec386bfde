"""Tables as LaTeX, for the package booktabs. Text from outside cannot start a command."""

from __future__ import annotations

import re
from typing import Any, Final

from nel.reports import numbers
from nel.reports.tables.columns import Column, ReportTable
from nel.reports.text import cut

_CELL_CHARACTERS_MAX: Final = 120
_SPECIAL: Final = re.compile(r"[\\{}$&#^_%~<>|\"]")
_NAMED: Final = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
_OF_NUMBERS: Final = str.maketrans({numbers.THIN: r"\,", "–": "--", "−": "$-$", "%": r"\%"})


def latex_table(table: ReportTable) -> str:
    """Return a ``tabular`` for the package booktabs; text from outside is escaped."""
    columns = table.columns
    alignments = "".join("r" if column.is_numeric else "l" for column in columns)
    headings = [latex_text(column.title).replace(r" \%", r"\,\%") for column in columns]
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{alignments}}}",
        r"\toprule",
        _line(headings),
        r"\midrule",
    ]
    lines += [_line([_cell(column, row) for column in columns]) for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it is, on one line."""
    line = cut(text, _CELL_CHARACTERS_MAX)
    return _SPECIAL.sub(lambda match: _NAMED.get(match[0], "\\" + match[0]), line)


def _cell(column: Column, row: Any) -> str:
    text = column.text(row)
    return text.translate(_OF_NUMBERS) if column.is_numeric else latex_text(text)


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
