"""Python code: parsing within a budget, what code binds and needs, and where it ends among prose.

Prose can parse: ``Note: this`` is an annotation, ``This is it`` a comparison and ``Done`` a name.
So a statement that could do nothing but raise a NameError is not code.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Final

from nel.reading.programs.fences import remove_margin
from nel.reading.programs.python_trees import parse_python

_PROGRAM_CHARACTERS_MAX: Final = 200_000
"""A longer text is not parsed."""
_PARSED_CHARACTERS_MAX: Final = 500_000
"""Characters parsed for one response in total, at 0.4 to 2 MB/s."""
_BUILTINS: Final = frozenset(dir(builtins))
CODE = re.compile(
    r"""
    [ \t]*+
    (?:
        (?: async[ ]+ )? def[ ]+\w+[ ]*[(\[] | class[ ]+\w+[ ]*[:(\[] | @\w
      | import[ ]+\w | from[ ]+[\w.]+[ ]+import\b
      | (?: if | for | while | with | async | match )\b .*: | try[ ]*:
      | (?: return | raise | assert | del | global | nonlocal | yield | await )\b
      | (?: pass | break | continue | \.\.\. )[ ]* (?: \# | $ )
      | \w[\w.]*+\( | ["'\w)\]]++\.\w+\(                                              # a call
      | \w[\w.]*+ (?: \[[^\]]*\] )? (?: [ ]*,[ ]*[\w.]++ )*+ [ ]*
        (?: [-+*/%&|^@:] | // | \*\* | << | >> )? =(?!=)                      # assigns
      | \w[\w.]*+ [ ]*+:[ ]*+ [\w.\[\], ]++ =(?!=)
    )
    """,
    re.VERBOSE,
)
"""What the first line of some code looks like."""
PROSE = re.compile(
    r"""
    [ \t]*+
    (?:
        ``` | ~~~ | [!%][a-z] | \$[ ]                             # a fence, a shell's line
      | (?: [-*•] | [0-9]{1,3}[.)] )[ ] | \#{1,6}[ ] | \*\*       # an item, a heading or comment
      | [A-Z]\w* (?: [ ]\w+ )*+ :[ ]*$                            # Example usage:
      | (?! "{3} | '{3} ) \W{0,3} [A-Z][\w'’]*+ (?: ,?[ ][\w'’`*()"-]++ ){2}
    )
    """,
    re.VERBOSE,
)
"""What a sentence, a heading, a list item or a comment looks like."""
_SENTENCE = re.compile(rf"(?! [#\s] ){PROSE.pattern}", re.VERBOSE)
_GOES_ON = re.compile(r"[ \t]*(?:else\b|elif\b|except\b|finally\b|case\b|[)\]}]|$)")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
_Import = ast.Import | ast.ImportFrom
_Parsed = tuple[ast.Module | None, int]


class Parser:
    """Parses within a budget of characters, so that no response takes long; every text once."""

    def __init__(self) -> None:
        self.characters_left = _PARSED_CHARACTERS_MAX
        self._known: dict[str, _Parsed] = {}

    def parse(self, text: str) -> ast.Module | None:
        """Return the tree of a text, None if it does not parse or is beyond the budget."""
        return self._parse(text)[0]

    def prefix(
        self, lines: Sequence[str], start: int, margin: float
    ) -> tuple[int, ast.Module | None]:
        """Return how many lines parse, more than ``start``, and their tree.

        A syntax error is reported where Python notices it, which may be far below its cause. So
        lines are left out from where a statement at the margin begins, never from inside of one.
        """
        end = len(lines)
        while end > start:
            tree, fault_line = self._parse("\n".join(lines[:end]))
            if not fault_line:
                return end, tree
            end = min(fault_line, end) - 1
            while end > start and (indent_of(lines[end]) > margin or _GOES_ON.match(lines[end])):
                end -= 1
        return 0, None

    def _parse(self, text: str) -> _Parsed:
        """Return the tree of a text, or the line of its fault, from 1; 0 if it is not parsed."""
        if text in self._known:
            return self._known[text]
        # The 100 stand for the cost of a call: many short texts use the budget up, too.
        self.characters_left -= min(len(text), _PROGRAM_CHARACTERS_MAX) + 100
        if len(text) > _PROGRAM_CHARACTERS_MAX or self.characters_left <= 0:
            return None, 0
        try:
            result: _Parsed = parse_python(text), 0
        # A ValueError is of a NUL or a lone surrogate, the last two of nested brackets.
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            result = None, getattr(error, "lineno", None) or text.count("\n") + 1
        self._known[text] = result
        return result


class Piece:
    """A stretch of a response that parses."""

    def __init__(self, text: str, body: Sequence[ast.stmt]) -> None:
        self.text = text
        self.body = body

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that running it binds."""
        return frozenset(bound_names(self.body))

    @cached_property
    def defined(self) -> frozenset[str]:
        """Return the names that it defines: not those of an import, nor of ``f = f(1)``."""
        return frozenset(
            name
            for stmt in self.body
            if not isinstance(stmt, _Import)
            for name in bound_names([stmt])
            if not (isinstance(stmt, ast.Assign) and name in _read_names(stmt))
        )

    @cached_property
    def used(self) -> frozenset[str]:
        """Return the names that it reads."""
        return frozenset(name for stmt in self.body for name in _read_names(stmt))

    @cached_property
    def missing(self) -> frozenset[str]:
        """Return the names that it reads and never binds, not even in a function."""
        bound = {name for stmt in self.body for node in ast.walk(stmt) for name in _names_of(node)}
        return self.used - bound - _BUILTINS

    @cached_property
    def returns(self) -> bool:
        """Return whether it is a stretch of a function's body."""
        nodes = (node for stmt in self.body for node in _run(stmt))
        return any(isinstance(node, ast.Return | ast.Yield) for node in nodes)


def bound_names(statements: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements bind when they run, not those in functions and classes.

    >>> sorted(bound_names(ast.parse("import a.b as c\\ndef f(x): y = 1\\nif x: d, e = 1, 2").body))
    ['c', 'd', 'e', 'f']
    """
    return {name for stmt in statements for node in _run(stmt) for name in _names_of(node)}


def _read_names(tree: ast.AST) -> frozenset[str]:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Load))


def _names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds."""
    if isinstance(node, Definition):
        yield node.name
    elif isinstance(node, _Import):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is run with it, so not the bodies of functions and classes."""
    queue = [node]
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            queue.extend(ast.iter_child_nodes(node))


def is_text(stmt: ast.stmt) -> bool:
    """Return whether a statement is a string, such as a docstring, or ``...``."""
    value = stmt.value if isinstance(stmt, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str | type(...))


def is_idle(stmt: ast.stmt) -> bool:
    """Return whether a statement is an expression that calls, awaits, yields and binds nothing."""
    does = ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
    return isinstance(stmt, ast.Expr) and not any(isinstance(node, does) for node in ast.walk(stmt))


def is_prose(stmt: ast.stmt) -> bool:
    """Return whether a statement is a sentence rather than code: ``Done``, ``Note: this``."""
    is_label = isinstance(stmt, ast.AnnAssign) and stmt.value is None
    return is_label or (is_idle(stmt) and not is_text(stmt))


def first_line_of(stmt: ast.stmt) -> int:
    """Return the line at which a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(node.lineno for node in decorators)])


def indent_of(line: str) -> int:
    """Return the number of blanks that a line begins with."""
    return len(line) - len(line.lstrip(" \t"))


def pieces_of(parser: Parser, text: str) -> list[Piece]:
    """Return the stretches of a text that are code.

    >>> text = "Sure:\\n\\nimport math\\n\\nThen:\\n\\n    def f(x):\\n        return x\\n\\nThis."
    >>> [piece.text for piece in pieces_of(Parser(), text)]
    ['import math', 'def f(x):\\n    return x']
    """
    if len(text) > _PROGRAM_CHARACTERS_MAX:
        return []
    source = remove_margin(text.strip("\n")).rstrip()
    tree = parser.parse(source)
    if tree and not any(map(is_prose, tree.body)) and not all(map(is_text, tree.body)):
        return [Piece(source, tree.body)]
    lines = source.split("\n")
    pieces: list[Piece] = []
    at = 0
    while at < len(lines) and parser.characters_left > 0:
        start, at = at, at + 1
        if not CODE.match(lines[start]):
            continue
        margin = indent_of(lines[start])
        piece = _piece_at(parser, lines[start:], margin)
        if piece is not None:
            pieces.append(piece)
            at += piece.text.count("\n")
        while at < len(lines) and indent_of(lines[at]) > margin:
            at += 1  # the inside of a broken function is not code
    return pieces


def _piece_at(parser: Parser, lines: Sequence[str], margin: int) -> Piece | None:
    """Return the code that some lines begin with, up to the first sentence, if any."""
    ends = (
        at
        for at, line in enumerate(lines)
        if line[:margin].strip() or _SENTENCE.match(line, margin)
    )
    code_lines = remove_margin("\n".join(lines[: next(ends, len(lines))])).split("\n")
    _, tree = parser.prefix(code_lines, 0, 0)
    body = list(takewhile(lambda stmt: not is_prose(stmt), tree.body if tree else []))
    if all(map(is_text, body)):
        return None
    code = "\n".join(code_lines[: body[-1].end_lineno]).rstrip()
    return Piece(code, body)
