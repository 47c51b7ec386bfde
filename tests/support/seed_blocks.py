"""Cuts the Python code out of a page that was saved as text. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_START = re.compile(r"(from \w|import \w|@\w)")
_HEADING = re.compile(r"\w+\(.*\)#$")
_LINES_MAX = 70


def code_blocks(page: str) -> Iterator[tuple[int, str]]:
    """Yield the first line's number, from 1, and the text of each block: as many lines as are Python together."""
    lines = page.splitlines()
    start = 0
    while start < len(lines):
        end = _end(lines, start) if _START.match(lines[start]) else None
        if end is not None:
            yield start + 1, "\n".join(lines[start:end]).rstrip()
        start = end or start + 1


def _end(lines: list[str], start: int) -> int | None:
    found = None
    for end in range(start + 1, min(start + _LINES_MAX, len(lines)) + 1):
        last = lines[end - 1].strip()
        if _HEADING.match(last) or last == "python":
            break
        try:
            body = ast.parse("\n".join(lines[start:end])).body
        except SyntaxError:
            continue
        if body and not (isinstance(body[-1], ast.Expr) and not isinstance(body[-1].value, ast.Call)):
            found = end
    return found
