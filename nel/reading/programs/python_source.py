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

PROGRAM_CHARACTERS_MAX: Final = 200_000
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
_SENTENCE = re.compile(rf"(?!\#){PROSE.pattern}", re.VERBOSE)
_GOES_ON = re.compile(r"[ \t]*(?:else\b|elif\b|except\b|finally\b|case\b|[)\]}]|$)")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
_Import = ast.Import | ast.ImportFrom
_Prefix = tuple[int, ast.Module | None]


class Parser:
    """Parses within a budget of characters, so that no response takes long; every text once."""

    def __init__(self) -> None:
        self.characters_left = _PARSED_CHARACTERS_MAX
        self._known: dict[str, tuple[ast.Module | None, int]] = {}

    def parse(self, text: str) -> ast.Module | None:
        """Return the tree of a text, None if it does not parse or is beyond the budget."""
        return self._parse(text)[0]

    def prefix(self, lines: Sequence[str], start: int, margin: float) -> _Prefix:
        """Return how many lines parse, more than ``start``, and their tree.

        A syntax error is reported where Python notices it, which may be far below its cause. So
        lines are left out from where a statement at the margin begins, never from inside of one.
        """
        end = len(lines)
        while end > start:
            tree, fault_line = self._parse("\n".join(lines[:end]))
            if tree or not fault_line:
                return end, tree
            end = min(fault_line, end) - 1
            while end > start and (indent_of(lines[end]) > margin or _GOES_ON.match(lines[end])):
                end -= 1
        return 0, None

    def _parse(self, text: str) -> tuple[ast.Module | None, int]:
        """Return the tree of a text, or the line of its fault, from 1; 0 if it is not parsed."""
        if text in self._known:
            return self._known[text]
        # The 100 stand for the cost of a call: many short texts use the budget up, too.
        self.characters_left -= min(len(text), PROGRAM_CHARACTERS_MAX) + 100
        if len(text) > PROGRAM_CHARACTERS_MAX or self.characters_left <= 0:
            return None, 0
        last_line = text.count("\n") + 1
        try:
            result: tuple[ast.Module | None, int] = parse_python(text), 0
        except SyntaxError as error:
            result = None, error.lineno or last_line
        except (ValueError, RecursionError, MemoryError):  # a NUL, a lone surrogate, brackets
            result = None, last_line
        self._known[text] = result
        return result


class Piece:
    """A stretch of a response that parses."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that running it binds."""
        return frozenset(bound_names(self.tree.body))

    @cached_property
    def defined(self) -> frozenset[str]:
        """Return the names that it defines: not those of an import, nor of ``f = f(1)``."""
        return frozenset(
            name
            for stmt in self.tree.body
            if not isinstance(stmt, _Import)
            for name in bound_names([stmt])
            if not (isinstance(stmt, ast.Assign) and name in _read_names(stmt))
        )

    @cached_property
    def used(self) -> frozenset[str]:
        """Return the names that it reads."""
        return _read_names(self.tree)

    @cached_property
    def missing(self) -> frozenset[str]:
        """Return the names that it reads and never binds, not even in a function."""
        bound = {name for node in ast.walk(self.tree) for name in _names_of(node)}
        return self.used - bound - _BUILTINS

    @cached_property
    def acts(self) -> bool:
        """Return whether it does more than to define."""
        passive = (Definition, _Import, ast.Assign, ast.AnnAssign, ast.Pass)
        return any(not isinstance(stmt, passive) and not is_text(stmt) for stmt in self.tree.body)

    @cached_property
    def returns(self) -> bool:
        """Return whether it is a stretch of a function's body."""
        nodes = (node for stmt in self.tree.body for node in _run(stmt))
        return any(isinstance(node, ast.Return | ast.Yield) for node in nodes)

    @cached_property
    def has_definition(self) -> bool:
        """Return whether it defines a function or a class."""
        return any(isinstance(stmt, Definition) for stmt in self.tree.body)


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


def has_code(tree: ast.Module) -> bool:
    """Return whether some statement of a tree is neither a sentence nor a string."""
    return not all(is_text(stmt) or is_prose(stmt) for stmt in tree.body)


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
    if len(text) > PROGRAM_CHARACTERS_MAX:
        return []
    source = remove_margin(text.strip("\n")).rstrip()
    tree = parser.parse(source)
    if tree and has_code(tree) and not any(map(is_prose, tree.body)):
        return [Piece(source, tree)]
    lines = source.split("\n")
    pieces: list[Piece] = []
    at = 0
    while at < len(lines) and parser.characters_left > 0:
        margin = indent_of(lines[at]) if CODE.match(lines[at]) else None
        piece = None if margin is None else _piece_at(parser, lines[at:], margin)
        at += 1
        if piece is not None:
            pieces.append(piece)
            at += piece.text.count("\n")
        while margin is not None and at < len(lines) and indent_of(lines[at]) > margin:
            at += 1  # the inside of a broken function is not code
    return pieces


def _piece_at(parser: Parser, lines: Sequence[str], margin: int) -> Piece | None:
    """Return the code that some lines begin with, up to the first sentence, if any."""
    near = ((at, line) for at, line in enumerate(lines) if at and line[: margin + 1].strip())
    ends = (at for at, line in near if line[:margin].strip() or _SENTENCE.match(line, margin))
    code_lines = remove_margin("\n".join(lines[: next(ends, len(lines))])).split("\n")
    _, tree = parser.prefix(code_lines, 0, 0)
    body = list(takewhile(lambda stmt: not is_prose(stmt), tree.body if tree else []))
    if all(map(is_text, body)):
        return None
    code = "\n".join(code_lines[: body[-1].end_lineno]).rstrip()
    return Piece(code, ast.Module(body=body, type_ignores=[]))
