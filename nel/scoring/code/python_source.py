"""What Python code defines, uses and does, read from its syntax tree within a budget of characters.

Prose can parse: ``Note: this`` is an annotation, ``This is it`` a comparison and ``Done`` a
name; so a statement that could do nothing but raise a NameError does not count as code.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from nel.core.python_trees import parse_python

_BUILTINS: Final = frozenset(dir(builtins))
_PARSED_CHARACTERS_MAX: Final = 500_000
"""Characters parsed for one response in total, at 0.4 to 2 MB/s."""
PROGRAM_CHARACTERS_MAX: Final = 200_000
"""A longer text is not parsed."""
_READS = re.compile(r"\binput\(|\bstdin\b(?![ ]*=[^=])|\bopen\(0|\bfileinput\b|/dev/stdin")

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What came of parsing a text."""

    tree: ast.Module | None = None
    fault_line: int = 0
    """Where parsing failed, counted from 1; 0 where that is unknown."""
    in_string: bool = False
    """The fault is a string without an end."""
    is_refused: bool = False
    """It was not parsed: too long, or beyond the budget."""


class Parser:
    """Parses within a budget of characters, so that no response takes long. Every text is parsed once."""

    def __init__(self) -> None:
        self._left = _PARSED_CHARACTERS_MAX
        self._known: dict[str, Parsed] = {}

    @property
    def is_spent(self) -> bool:
        """Return whether nothing more is parsed."""
        return self._left <= 0

    def parse(self, text: str) -> Parsed:
        """Return the tree of a text, or where it has a fault."""
        known = self._known.get(text)
        if known is None:
            # The 100 stand for the cost of a call: many short texts use the budget up, too.
            self._left -= min(len(text), PROGRAM_CHARACTERS_MAX) + 100
            if len(text) > PROGRAM_CHARACTERS_MAX or self._left <= 0:
                return Parsed(is_refused=True)
            known = self._known[text] = _parsed(text)
        return known


def _parsed(text: str) -> Parsed:
    try:
        return Parsed(tree=parse_python(text))
    except SyntaxError as error:
        return Parsed(fault_line=error.lineno or 0, in_string="triple-quoted" in (error.msg or ""))
    except (ValueError, RecursionError, MemoryError):  # a null character, a lone surrogate, brackets without end
        return Parsed()


class Piece:
    """A part of a response that parses."""

    def __init__(self, text: str, tree: ast.Module, *, rank: int = 0) -> None:
        """Take the text and its tree; the lower the rank, the more certainly it is the program."""
        self.text = text
        self.tree = tree
        self.rank = rank

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that running it binds."""
        return frozenset(bound(self.tree.body))

    @cached_property
    def defined(self) -> frozenset[str]:
        """Return the names that it binds other than by an import."""
        return frozenset(bound(stmt for stmt in self.tree.body if not isinstance(stmt, (ast.Import, ast.ImportFrom))))

    @cached_property
    def used(self) -> frozenset[str]:
        """Return the names that it reads."""
        return frozenset(loaded(self.tree))

    @cached_property
    def missing(self) -> frozenset[str]:
        """Return the names that it reads and never binds, not even in a function."""
        own = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and not _is_load(node)}
        own |= {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)}
        nested = (node for node in ast.walk(self.tree) if isinstance(node, (*_SCOPES, ast.Import, ast.ImportFrom)))
        return self.used - own - bound(nested) - _BUILTINS

    @cached_property
    def acts(self) -> bool:
        """Return whether it does more than to define."""
        passive = (*_SCOPES, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Pass)
        return any(not isinstance(stmt, passive) and not is_text(stmt) for stmt in self.tree.body)

    @cached_property
    def reads(self) -> bool:
        """Return whether it reads an input."""
        return _READS.search(self.text) is not None

    @cached_property
    def returns(self) -> bool:
        """Return whether it is part of a function's body."""
        return any(isinstance(node, (ast.Return, ast.Yield)) for stmt in self.tree.body for node in _run(stmt))

    def function(self, name: str) -> Function | None:
        """Return the last function of a name, None where there is none."""
        found = [stmt for stmt in self.tree.body if isinstance(stmt, Function) and stmt.name == name]
        return found[-1] if found else None

    def has_method(self, name: str) -> bool:
        """Return whether a class of it has a method of a name."""
        classes = [stmt for stmt in self.tree.body if isinstance(stmt, ast.ClassDef)]
        return any(isinstance(stmt, Function) and stmt.name == name for found in classes for stmt in found.body)


def bound(statements: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements bind when they run, not those in functions and classes.

    >>> sorted(bound(ast.parse("import a.b as c\\ndef f(x): y = 1\\nif x: d, e = 1, 2").body))
    ['c', 'd', 'e', 'f']
    """
    found: set[str] = set()
    for stmt in statements:
        for node in _run(stmt):
            if isinstance(node, _SCOPES):
                found.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def loaded(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a tree reads, in functions too."""
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_load(node))


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _run(stmt: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and what is run with it, so not the bodies of functions and classes."""
    queue = [stmt]
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, (*_SCOPES, ast.Lambda)):
            queue.extend(ast.iter_child_nodes(node))


def is_text(stmt: ast.stmt) -> bool:
    """Return whether a statement is a string, such as a docstring, or ``...``."""
    value = stmt.value if isinstance(stmt, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, (str, type(...)))


def is_prose(stmt: ast.stmt, known: Iterable[str]) -> bool:
    """Return whether a statement is a sentence rather than code, given the names that are bound.

    >>> [is_prose(ast.parse(text).body[0], ["solve"]) for text in ("Note: this", "Done", "solve()", "x: int", "O(n)")]
    [True, True, False, False, True]
    """
    if isinstance(stmt, ast.AnnAssign) and stmt.value is None:
        if isinstance(stmt.annotation, ast.Constant):
            return not isinstance(stmt.annotation.value, str)
        return not _BUILTINS.union(known).issuperset(loaded(stmt.annotation))
    if not isinstance(stmt, ast.Expr) or is_text(stmt):
        return False
    if "*" in known:  # which names are bound cannot be known
        return is_idle(stmt)
    called = {_root(node.func) for node in ast.walk(stmt) if isinstance(node, ast.Call)}
    return is_idle(stmt) or not _BUILTINS.union(known).issuperset(called)


def is_idle(stmt: ast.stmt) -> bool:
    """Return whether a statement is an expression that calls, awaits, yields and binds nothing."""
    does = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return isinstance(stmt, ast.Expr) and not any(isinstance(node, does) for node in ast.walk(stmt))


def _root(node: ast.expr) -> str:
    """Return the name that an expression such as ``a.b[0].c`` begins with, a built-in one if it begins otherwise."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else "str"


def has_code(tree: ast.Module) -> bool:
    """Return whether some statement of a tree is neither a sentence nor a string."""
    names = bound(tree.body)
    return any(not is_text(stmt) and not is_prose(stmt, names) for stmt in tree.body)


def is_program(tree: ast.Module | None) -> bool:
    """Return whether a tree is code from its first statement to its last."""
    if tree is None:
        return False
    names = bound(tree.body)
    return not all(is_text(stmt) for stmt in tree.body) and not any(is_prose(stmt, names) for stmt in tree.body)
