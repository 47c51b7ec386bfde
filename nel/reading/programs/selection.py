"""Chooses which piece of Python in a response is the program, and what it needs of the others.

The last block is not always the answer: after it come examples of use, or the same function with
"..." where nothing changed. Depends on `python_source` for what pieces define.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from nel.reading.programs.python_source import Function, Piece, bound_names, first_line_of, is_idle

_INPUT = re.compile(r"\binput\(|\bstdin\b(?![ ]*=[^=])|\bopen\(0|\bfileinput\b")
_ELIDED = re.compile(r"^[ \t]*(?:#[ ]*)?(?:\.\.\.|…)", re.MULTILINE)


def definer_of(pieces: Sequence[Piece], name: str) -> Piece | None:
    """Return the last piece that defines a name, one that only outlines it if there is no other."""
    makers = [piece for piece in pieces if name in piece.defined]
    definers = [piece for piece in makers if not is_outline(piece, name)]
    return next(reversed(definers or makers), None)


def main_of(pieces: Sequence[Piece]) -> Piece | None:
    """Return the piece that is the program when nothing says what it has to define.

    That is the last one that reads an input and does something with it, else the last that defines
    more than tests, else the last. What only calls functions is an example of their use.
    """
    inputs = [piece for piece in pieces if _INPUT.search(piece.text)]
    names = {name for piece in inputs for name in piece.defined}
    readers = [piece for piece in pieces if piece.acts and (piece in inputs or piece.used & names)]
    makers = [piece for piece in pieces if piece.has_definition]
    programs = [piece for piece in makers if any(name[:4] != "test" for name in piece.defined)]
    return next(reversed(readers or programs or makers or pieces), None)


def helpers_of(main: Piece, pieces: Sequence[Piece], bound: frozenset[str]) -> list[str]:
    """Return the statements of other pieces that bind what a piece needs beside the known names."""
    position = pieces.index(main) if main in pieces else len(pieces)
    nearest = [*reversed(pieces[:position]), *pieces[position + 1 :]]
    have = set(main.names | bound)
    queue = sorted(main.missing - have)
    statements: set[tuple[int, int]] = set()
    while queue:
        name = queue.pop()
        piece = next((piece for piece in nearest if name in piece.names), None)
        if piece is None or name in have:
            continue
        for stmt in piece.tree.body:
            names = bound_names([stmt])
            if name in names:
                statements.add((pieces.index(piece), piece.tree.body.index(stmt)))
                have |= names
                alone = Piece("", ast.Module(body=[stmt], type_ignores=[]))
                queue += sorted(alone.missing - have)
    return [
        _statement_text(pieces[at], pieces[at].tree.body[index]) for at, index in sorted(statements)
    ]


def is_outline(piece: Piece, name: str) -> bool:
    """Return whether a piece only says what a function looks like."""
    functions = [stmt for stmt in piece.tree.body if isinstance(stmt, Function)]
    function = next((stmt for stmt in reversed(functions) if stmt.name == name), None)
    if function is None:
        return False
    idle = all(isinstance(stmt, ast.Pass | ast.Raise) or is_idle(stmt) for stmt in function.body)
    return idle or _ELIDED.search(_statement_text(piece, function)) is not None


def _statement_text(piece: Piece, stmt: ast.stmt) -> str:
    """Return the lines of a statement, decorators included."""
    return "\n".join(piece.text.split("\n")[first_line_of(stmt) - 1 : stmt.end_lineno])
