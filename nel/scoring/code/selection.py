"""Chooses which piece of Python in a response is the program, and which others it needs.

The last block is not always the answer: after it come examples of use, a quotation of its first lines with an
explanation, or the same function with "..." where nothing changed. Depends on `python_source` for what pieces define.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Sequence

from nel.scoring.code.python_source import Function, Piece, bound, is_idle, is_text, loaded

_ELIDED = re.compile(r"^[ \t]*#[ ]*(?:\.\.\.|…)", re.MULTILINE)


def definer_of(pieces: Sequence[Piece], name: str) -> Piece | None:
    """Return the piece that defines a name: the last one, unless that only quotes or outlines an earlier one.

    A definition counts more than a method of that name in some class.
    """
    makers = [piece for piece in pieces if name in piece.defined]
    if not makers:
        return next((piece for piece in reversed(pieces) if piece.has_method(name)), None)
    whole = [piece for piece in makers if not is_outline(piece, name)] or makers
    for at in range(len(whole) - 1, 0, -1):
        if not any(_quotes(whole[at], earlier, name) for earlier in whole[:at]):
            return whole[at]
    return whole[0]


def main_of(pieces: Sequence[Piece]) -> Piece | None:
    """Return the piece that is the program when nothing says what it has to define.

    That is the last one that reads an input and does something with it, else the last one with functions, else the last
    one. What only calls functions is an example of their use.
    """
    inputs = {name for piece in pieces if piece.reads and not piece.acts for name in piece.defined}
    for piece in reversed(pieces):
        if piece.acts and (piece.reads or piece.used & inputs):
            return piece
    makers = [piece for piece in pieces if _defines_function(piece)]
    whole = [piece for piece in makers if not all(_is_secondary(piece, name) for name in piece.defined)]
    return next(reversed(whole or makers or pieces), None)


def with_helpers(main: Piece, pieces: Sequence[Piece], *, name: str | None, known: frozenset[str] = frozenset()) -> str:
    """Return a piece's text after those parts of other pieces that bind what it needs.

    Args:
        name: What the program has to define. Other pieces' definitions and uses of it are left out.
        known: Names that are bound anyway.
    """
    # Takes, one piece at a time and the nearest above first, what binds a missing name; a helper may itself need more.
    missing = set(main.missing - known)
    have = set(main.defined) | ({name} if name else set())
    place = pieces.index(main)
    others = [*reversed(pieces[:place]), *pieces[place + 1 :]]
    taken: list[tuple[int, str]] = []
    found = True
    while missing and found:
        found = False
        for piece in others:
            if missing.isdisjoint(piece.names):
                continue
            kept = [stmt for stmt in piece.tree.body if not _is_spare(stmt, have, name)]
            if missing.isdisjoint(bound(kept)):
                continue
            taken.append((pieces.index(piece), _text_of(piece, kept)))
            have |= bound(kept)
            missing = (missing | (piece.missing - known)) - have
            others.remove(piece)
            found = True
            break
    for piece in pieces[:place]:
        if piece in others and _is_harmless(piece, have, name):
            taken.append((pieces.index(piece), piece.text))
            have |= piece.names
    return "\n\n".join([text for _, text in sorted(taken)] + [main.text])


def _is_harmless(piece: Piece, have: set[str], name: str | None) -> bool:
    """Return whether a piece only defines what nothing else does, which the tests may use, and can be run anywhere."""
    for stmt in piece.tree.body:
        if isinstance(stmt, (ast.Import, ast.ImportFrom)):
            modules = [stmt.module or ""] if isinstance(stmt, ast.ImportFrom) else [alias.name for alias in stmt.names]
            if not sys.stdlib_module_names.issuperset(module.split(".")[0] for module in modules):
                return False
        elif not (isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or is_text(stmt)):
            return False
    return have.isdisjoint(piece.defined) and name not in piece.names | piece.used and piece.missing <= have


def has_function(pieces: Iterable[Piece]) -> bool:
    """Return whether some piece defines a function or a class."""
    return any(_defines_function(piece) for piece in pieces)


def _defines_function(piece: Piece) -> bool:
    return any(isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for stmt in piece.tree.body)


def is_outline(piece: Piece, name: str) -> bool:
    """Return whether a piece only says what a function looks like."""
    function = piece.function(name)
    if function is None:
        return False
    values = [stmt.value for stmt in function.body if isinstance(stmt, ast.Expr)]
    if any(isinstance(value, ast.Constant) and value.value is ... for value in values):
        return True
    idle = all(isinstance(stmt, (ast.Pass, ast.Raise)) or is_idle(stmt) for stmt in function.body)
    return idle or _ELIDED.search("\n".join(_lines_of(piece, function))) is not None


def _is_secondary(piece: Piece, name: str) -> bool:
    """Return whether a definition is a test or an outline, so not what a response is about."""
    return name.lower().startswith("test") or is_outline(piece, name)


def _quotes(later: Piece, earlier: Piece, name: str) -> bool:
    """Return whether a later function is only the first lines of an earlier one."""
    quote, origin = later.function(name), earlier.function(name)
    if quote is None or origin is None:
        return False
    short, long = _lines_of(later, quote), _lines_of(earlier, origin)
    return len(short) < len(long) and short == long[: len(short)]


def _lines_of(piece: Piece, function: Function) -> list[str]:
    lines = piece.text.split("\n")[function.lineno - 1 : function.end_lineno]
    return [line.strip() for line in lines if line.strip()]


def _is_spare(stmt: ast.stmt, have: set[str], name: str | None) -> bool:
    """Return whether a helper's statement is an older version of something, or an example of use."""
    if isinstance(stmt, ast.Assert) or (isinstance(stmt, ast.If) and "__name__" in loaded(stmt.test)):
        return True
    names = bound([stmt])
    if names:
        return names <= have
    used = set(loaded(stmt))
    return (name is not None and name in used) or (isinstance(stmt, ast.Expr) and "print" in used)


def _text_of(piece: Piece, kept: list[ast.stmt]) -> str:
    """Return the lines of some statements of a piece, decorators included."""
    if len(kept) == len(piece.tree.body):
        return piece.text
    lines = piece.text.split("\n")
    wanted: set[int] = set()
    for stmt in kept:
        decorators = [node.lineno for node in getattr(stmt, "decorator_list", [])]
        wanted.update(range(min([stmt.lineno, *decorators]) - 1, stmt.end_lineno or stmt.lineno))
    return "\n".join(line for at, line in enumerate(lines) if at in wanted)
