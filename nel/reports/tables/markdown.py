"""Writes tables as GitHub Markdown.

Names come from plugins and datasets, so HTML, links, mentions and cell breaks are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from nel.reports.tables.columns import NO_SCORE, Column, ReportTable, ValueKind
from nel.reports.text import cut

_CELL_CHARACTERS_MAX: Final = 120
_SPECIAL = re.compile(
    r"""
    ( [\\`*\[\]|~$] | (?<=\])\(                        # code, emphasis, links, cells, mathematics
    | (?<![^\W_])_ | _(?![^\W_])             # emphasis; not between letters or digits
    | ^\# | \#(?=\d)                         # a heading; the number of an issue
    | ^[+-](?=[\s-]|$) | (?<=^\d)[.)](?=\s) | (?<=^\d\d)[.)](?=\s)   # a list, a rule
    | :(?=\S) | (?<=www)\.                   # an address, an emoji
    )""",
    re.VERBOSE,
)


def markdown_lines(table: ReportTable) -> Iterator[str]:
    """Yield the lines of a table, and of the remarks below it; names and texts are escaped."""
    yield _line([markdown_text(column.title) for column in table.columns])
    yield _line(["---:" if column.is_numeric else "---" for column in table.columns])
    for row in table.rows:
        yield _line([_cell(column, row) for column in table.columns])
    if table.below:
        yield ""
    yield from table.below


def markdown_text(text: str, *, characters_max: int = _CELL_CHARACTERS_MAX) -> str:
    """Return a text that Markdown prints as it is; ``@``, ``<``, ``>``, ``&`` become entities."""
    # `cut` escapes control characters, so NUL can stand for an ampersand until the entities are in.
    escaped = _SPECIAL.sub(r"\\\1", cut(text, characters_max).replace("&", "\0"))
    for character, entity in (("<", "&lt;"), (">", "&gt;"), ("@", "&#64;"), ("\0", "&amp;")):
        escaped = escaped.replace(character, entity)
    return escaped


def _cell(column: Column, row: Any) -> str:
    text = column.text(row)
    if not column.is_numeric:
        text = markdown_text(text)
    is_alarm = text == NO_SCORE or (column.kind is ValueKind.STATE and text.isupper())
    return f"**{text}**" if is_alarm else text


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
