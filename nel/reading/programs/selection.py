"""Chooses which piece of Python in a response is the program, and what it needs of the others.

The last block is not always the answer: after it come examples of use, a quotation of its first lines
with an explanation, or the same function with "..." where nothing changed. Depends on `python_source`
for what pieces define.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from nel.reading.programs.python_source import Definition, Piece, bound, first_line_of, is_idle

_ELIDED = re.compile(r"^[ \t]*(?:#[ ]*)?(?:\.\.\.|…)", re.MULTILINE)


def definer_of(pieces: Sequence[Piece], name: str) -> Piece | None:
    """Return the last piece that defines a name, unless it only quotes or outlines an earlier one."""
    makers = [piece for piece in pieces if name in piece.defined]
    whole = [piece for piece in makers if not is_outline(piece, name)] or makers
    for at in range(len(whole) - 1, 0, -1):
        lines = _lines_of(whole[at], name)
        if not any(lines < (text := _lines_of(piece, name)) and text[: len(lines)] == lines for piece in whole[:at]):
            return whole[at]
    return next(iter(whole), None)


def main_of(pieces: Sequence[Piece]) -> Piece | None:
    """Return the piece that is the program when nothing says what it has to define.

    That is the last one that reads an input and does something with it, else the last with functions
    other than tests, else the last. What only calls functions is an example of their use.
    """
    inputs = {name for piece in pieces if piece.has_input and not piece.acts for name in piece.defined}
    readers = [piece for piece in pieces if piece.acts and (piece.has_input or piece.used & inputs)]
    makers = [piece for piece in pieces if piece.has_definition]
    whole = [piece for piece in makers if not all(name.startswith("test") for name in piece.defined)]
    return next(reversed(readers or whole or makers or pieces), None)


def helpers_of(main: Piece, pieces: Sequence[Piece], bound_names: frozenset[str]) -> list[str]:
    """Return the statements of other pieces that bind what a piece needs, in the order of the response.

    Args:
        bound_names: Names that are bound anyway.
    """
    place = pieces.index(main) if main in pieces else len(pieces)
    nearest = [*reversed(pieces[:place]), *pieces[place + 1 :]]
    have = set(main.names | bound_names)
    missing = sorted(main.missing - have)
    taken: set[tuple[int, int]] = set()
    while missing:
        name = missing.pop()
        piece = next((piece for piece in nearest if name in piece.names), None)
        if piece is None or name in have:
            continue
        for stmt in piece.tree.body:
            names = bound([stmt])
            if name in names:
                taken.add((pieces.index(piece), piece.tree.body.index(stmt)))
                have |= names
                alone = Piece("", ast.Module(body=[stmt], type_ignores=[]))
                missing += sorted(alone.missing - have)
    return [_text_of(pieces[at], pieces[at].tree.body[index]) for at, index in sorted(taken)]


def is_outline(piece: Piece, name: str) -> bool:
    """Return whether a piece only says what a function looks like."""
    function = _definition(piece, name)
    if function is None or isinstance(function, ast.ClassDef):
        return False
    idle = all(isinstance(stmt, ast.Pass | ast.Raise) or is_idle(stmt) for stmt in function.body)
    return idle or _ELIDED.search(_text_of(piece, function)) is not None


def _definition(piece: Piece, name: str) -> Definition | None:
    """Return the last function or class of a name at the top of a piece, None where there is none."""
    makers = (stmt for stmt in reversed(piece.tree.body) if isinstance(stmt, Definition))
    return next((stmt for stmt in makers if stmt.name == name), None)


def _lines_of(piece: Piece, name: str) -> list[str]:
    """Return the lines of a definition without their margins and empty lines."""
    stmt = _definition(piece, name)
    lines = _text_of(piece, stmt).split("\n") if stmt else []
    return [line.strip() for line in lines if line.strip()]


def _text_of(piece: Piece, stmt: ast.stmt) -> str:
    """Return the lines of a statement, decorators included."""
    return "\n".join(piece.text.split("\n")[first_line_of(stmt) - 1 : stmt.end_lineno])
