"""Where a text quotes: in code fences, triple quotes, quotation marks and backticks. No I/O.

A tag in a quotation is part of an answer about tags, or of a program, and means nothing. Depends on
the standard library alone. Takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

_BLOCK_MARK: Final = re.compile(r"(?m)^[ \t]*(?P<fence>```|~~~)|(?P<quotes>\"\"\"|''')")
_QUOTATION: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|“[^”]*”|`[^`]*`|(?<!\w)'(?:\\.|[^'\\])*'")
_LINE_MAX: Final = 500
"""Characters of its line before and after a tag in which quotation marks are searched."""


class Quotations:
    """Where a text quotes: in code fences, triple quotes, quotation marks and backticks."""

    def __init__(self, text: str) -> None:
        """Take a text; nothing is searched before it is asked for."""
        self._text = text

    def first_outside(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """Return the first match of a pattern from a position on that is not quoted, or None."""
        return next(
            (match for match in pattern.finditer(self._text, start) if not self._covers(match)),
            None,
        )

    def _covers(self, match: re.Match[str]) -> bool:
        if not self._has_marks:
            return False
        start, end = match.span()
        if any(first < start and end <= last for first, last in self._blocks):
            return True
        line_start = max(self._text.rfind("\n", 0, start) + 1, start - _LINE_MAX)
        line_end = self._text.find("\n", end, end + _LINE_MAX)
        line_end = min(len(self._text), end + _LINE_MAX) if line_end < 0 else line_end
        spans = (
            quotation.span() for quotation in _QUOTATION.finditer(self._text, line_start, line_end)
        )
        return any(first < start and end < last for first, last in spans)

    @cached_property
    def _has_marks(self) -> bool:
        return any(mark in self._text for mark in ('"', "`", "'", "“", "~~~"))

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """The spans between a mark that opens a block and the next of its kind."""
        blocks = []
        opening: re.Match[str] | None = None
        for mark in _BLOCK_MARK.finditer(self._text):
            if opening is None:
                opening = mark
            elif mark[0].strip() == opening[0].strip():
                blocks.append((opening.start(), mark.end()))
                opening = None
        return blocks
