"""Chooses which piece of Python in a response is the program, and what it needs of the others.

The last block is not always the answer: after it come examples of use. Depends on `python_source`
for what pieces define.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from nel.reading.programs.python_source import Definition, Function, Piece, first_line_of, is_idle

_INPUT = re.compile(r"\binput\(|\bstdin\b(?![ ]*=[^=])|\bopen\(0|\bfileinput\b")


def definer_of(pieces: Sequence[Piece], name: str) -> Piece | None:
    """Return the last piece that defines a name, one that only outlines it if there is no other."""
    definers = [piece for piece in pieces if name in piece.defined]
    whole = [piece for piece in definers if not is_outline(piece, name)]
    return next(reversed(whole or definers), None)


def main_of(pieces: Sequence[Piece]) -> Piece | None:
    """Return the piece that is the program when nothing says what it has to define.

    That is the last one that reads an input and does something with it, else the last that defines
    more than tests, else the last. What only calls functions is an example of their use.
    """
    names = {name for piece in pieces if _INPUT.search(piece.text) for name in piece.defined}
    readers = [piece for piece in pieces if piece.used & names]
    makers = [
        piece
        for piece in pieces
        if any(isinstance(stmt, Definition) and stmt.name[:4] != "test" for stmt in piece.body)
    ]
    return next(reversed(readers or makers or pieces), None)


def helpers_of(main: Piece, pieces: Sequence[Piece], bound: frozenset[str]) -> list[str]:
    """Return the statements of other pieces that bind what a piece needs beside the known names."""
    have = main.names | bound
    others = [stmt for piece in pieces if piece is not main for stmt in _statements_of(piece)]
    helpers: list[Piece] = []
    needed = main.missing - have
    while needed:
        more = [stmt for stmt in others if stmt.names & needed and stmt not in helpers]
        helpers += more
        needed = frozenset(name for stmt in more for name in stmt.missing) - have
    return [stmt.text for stmt in others if stmt in helpers]


def _statements_of(piece: Piece) -> list[Piece]:
    """Return the statements of a piece, each with its decorators."""
    lines = piece.text.split("\n")
    return [
        Piece("\n".join(lines[first_line_of(stmt) - 1 : stmt.end_lineno]), [stmt])
        for stmt in piece.body
    ]


def is_outline(piece: Piece, name: str) -> bool:
    """Return whether a piece only says what a function looks like."""
    functions = [stmt for stmt in piece.body if isinstance(stmt, Function) and stmt.name == name]
    return any(
        all(isinstance(stmt, ast.Pass | ast.Raise) or is_idle(stmt) for stmt in function.body)
        for function in functions[-1:]
    )
