"""Which statements of tests depend on the program, by names alone and without running anything.

An exception of a statement that neither uses what came from the program nor runs only because of it is the tests' own.
In doubt a statement depends on the program. Used on the host and in the container, so it needs Python 3.9 alone.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (ast.If, ast.While, ast.For, ast.AsyncFor)
_GUARDS = (ast.Try, ast.With, ast.AsyncWith)
_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_EXITS = frozenset(("exit", "quit", "_exit", "abort"))
_HIDES_NAMES = frozenset(("exec", "eval", "globals", "locals", "vars", "compile"))
"""Builtins that use names which do not stand in the tests."""
_BUILTINS = frozenset(dir(builtins))
_COMPREHENSIONS = (ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CHOICES = (ast.BoolOp, ast.IfExp, ast.Lambda, *_COMPREHENSIONS)
"""What evaluates a part of itself only sometimes."""
_BLOCKS = ("body", "orelse", "finalbody")


class Dependence:
    """What in tests depends on the program."""

    def __init__(
        self, tree: ast.Module, program: Iterable[str], known: Iterable[str] = (), *, shares_process: bool = False
    ) -> None:
        """Follow the names.

        Args:
            program: Names that the program gives.
            known: Modules that calls do not change.
            shares_process: The program can change whatever the tests store, and what is printed.
        """
        self._names = set(program) | (set(_stored(tree)) if shares_process else set())
        self._shares_process = shares_process
        self._tree = tree
        bound = {name for node in ast.walk(tree) for name in _bound_by(node)}
        self._known = (set(known) | set(_imported(tree)) | (_BUILTINS - bound)) - self._names
        self._functions = _own_functions(tree)
        self._members = set(_own_methods(tree)) | set(_attributes(tree))
        self._escaped = _used_otherwise(tree)
        nodes = list(ast.walk(tree))
        size = -1
        while size != len(self._names):
            size = len(self._names)
            for node in nodes:
                self._follow(node)
        self._lines: dict[int, bool] = {}
        """Whether a statement on a line uses what came from the program."""
        self._controlled: dict[int, bool] = {}
        """Whether a statement on a line is reached only because of it."""
        self._mark(tree.body, is_controlled=False)

    def uses_program(self, node: ast.AST) -> bool:
        """Return whether an expression or statement uses what came from the program."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and (part.id in self._names or part.id in _HIDES_NAMES):
                return True
            if isinstance(part, ast.Attribute) and part.attr in self._members and part.attr in self._names:
                return True
            if self._shares_process and isinstance(part, ast.Attribute) and part.attr.startswith("std"):
                return True
        return False

    def is_own(self, lines: Sequence[int], position: Sequence[int] = ()) -> bool:
        """Return whether what happened on the last of these lines, each called from the one before, is their own.

        Args:
            position: Line, end line, column and end column of the expression, where they are known.
        """
        if not lines or any(self._controlled.get(line, True) for line in lines):
            return False
        return not self._lines.get(lines[-1], True) or self._is_own_expression(tuple(position))

    def _is_own_expression(self, position: tuple[int, ...]) -> bool:
        """Return whether an expression has no part of the program, and is evaluated whatever the program answers."""
        path = _path_to(self._tree, position)
        if not path or self.uses_program(path[-1]):
            return False
        return not any(isinstance(node, _CHOICES) and self.uses_program(node) for node in path)

    def is_controlled(self, line: int) -> bool:
        """Return whether a statement on this line is reached only because of the program."""
        return self._controlled.get(line, True)

    def depends(self, line: int) -> bool:
        """Return whether a statement on this line depends on the program in any way."""
        return self._lines.get(line, True) or self._controlled.get(line, True)

    def _add(self, names: Iterable[str]) -> None:
        self._names.update(name for name in names if name not in self._known)

    def _follow(self, node: ast.AST) -> None:
        """Add the names that one node makes depend on the program."""
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)) and (
            self._has_defaults(node) or self._may_be_given_answers(node)
        ):
            given = node.args
            arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            self._add(one.arg for one in arguments if one is not None and one.arg != "self")
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            if any(self.uses_program(stmt) for stmt in node.body):
                self._add([node.name])
        elif isinstance(node, ast.Call):
            self._follow_call(node)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None and self.uses_program(node.value):
                self._add(_stored(node))
                self._add(_attributes(node))
        elif isinstance(node, ast.comprehension):
            if self.uses_program(node.iter):
                self._add(_stored(node.target))
        elif isinstance(node, _BRANCHES) or type(node).__name__ == "Match":
            if self.uses_program(_header(node)):
                self._add(_changed(node))
        elif isinstance(node, _GUARDS) and self.uses_program(node):
            self._add(_changed(node))

    def _has_defaults(self, node: Any) -> bool:
        """Return whether a function's arguments may be the program's where its calls leave them out."""
        defaults = (*node.args.defaults, *node.args.kw_defaults)
        return any(one is not None and self.uses_program(one) for one in defaults)

    def _may_be_given_answers(self, node: Any) -> bool:
        """Return whether a function may be called with something of the program; only calls by its name tell."""
        name = getattr(node, "name", "")
        if self._shares_process or self._functions.get(name) is not node or name in self._escaped:
            return True
        if name == "check" or name.startswith("test"):
            return True
        calls = (part for part in ast.walk(self._tree) if isinstance(part, ast.Call) and _called(part) == name)
        return any(
            self.uses_program(part) for call in calls for part in (*call.args, *(word.value for word in call.keywords))
        )

    def _follow_call(self, call: ast.Call) -> None:
        """What is passed along with something of the program, or changed by it, depends on it."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(self.uses_program(part) for part in (call.func, *given)):
            return
        self._add(part.id for value in given for part in ast.walk(value) if isinstance(part, ast.Name))
        if isinstance(call.func, ast.Attribute):
            self._add(_base(call.func))

    def _mark(self, body: Sequence[ast.stmt], *, is_controlled: bool) -> bool:
        """Mark the lines of a block; return whether it may be left early because of the program."""
        leaves = False
        for stmt in body:
            leaves = self._mark_one(stmt, is_controlled=is_controlled or leaves) or leaves
        return leaves

    def _mark_one(self, stmt: ast.stmt, *, is_controlled: bool) -> bool:
        header = _header(stmt)
        is_guard = isinstance(stmt, _GUARDS)
        depends = self.uses_program(stmt if is_guard else header)
        for line in _header_lines(stmt):
            self._lines[line] = self._lines.get(line, False) or depends
            self._controlled[line] = self._controlled.get(line, False) or is_controlled
        if isinstance(stmt, _FUNCTIONS):
            self._mark(stmt.body, is_controlled=False)  # the lines of its callers say the rest
            return False
        if is_guard:
            self._mark_guarded(stmt, is_controlled=is_controlled, depends=depends)
        else:
            inner = is_controlled or (depends and not isinstance(stmt, ast.ClassDef))
            for block in _blocks(stmt):
                self._mark(block, is_controlled=inner)
        return (depends or is_controlled) and _may_leave(stmt)

    def _mark_guarded(self, stmt: Any, *, is_controlled: bool, depends: bool) -> None:
        """In ``try`` and ``with``, whatever follows a use of the program is reached because that did not raise."""
        used = False
        for part in stmt.body:
            self._mark_one(part, is_controlled=is_controlled or used)
            used = used or self.uses_program(part)
        for handler in getattr(stmt, "handlers", ()):
            self._lines[handler.lineno] = self._controlled[handler.lineno] = depends or is_controlled
            self._mark(handler.body, is_controlled=is_controlled or depends)
        self._mark(getattr(stmt, "orelse", ()), is_controlled=is_controlled or depends)
        self._mark(getattr(stmt, "finalbody", ()), is_controlled=is_controlled)


def _path_to(node: ast.AST, position: tuple[int, ...]) -> list[ast.AST]:
    """Return the nodes from a tree down to the expression at a position; empty where there is none."""
    place = (getattr(node, name, None) for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"))
    if isinstance(node, ast.expr) and tuple(place) == position:
        return [node]
    for child in ast.iter_child_nodes(node):
        if position and (path := _path_to(child, position)):
            return [node, *path]
    return []


def _own_functions(tree: ast.Module) -> dict[str, ast.AST]:
    """Return the functions at the top of tests that nothing decorates."""
    return {stmt.name: stmt for stmt in tree.body if isinstance(stmt, _FUNCTIONS) and not stmt.decorator_list}


def _own_methods(tree: ast.Module) -> Iterator[str]:
    """Yield the methods of the classes of tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (stmt.name for stmt in node.body if isinstance(stmt, _FUNCTIONS))


def _attributes(node: ast.AST) -> Iterator[str]:
    """Yield the attributes that targets set, of whatever object."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.attr


def _used_otherwise(tree: ast.Module) -> set[str]:
    """Return the names that are read other than to be called."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "solution"):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)


def _header(stmt: ast.AST) -> ast.AST:
    """Return what of a statement is evaluated before its blocks; the statement itself where it has none."""
    if isinstance(stmt, (ast.If, ast.While)):
        return stmt.test
    if isinstance(stmt, (ast.For, ast.AsyncFor)):
        return stmt.iter
    if isinstance(stmt, _FUNCTIONS):
        return ast.Tuple(elts=[*stmt.decorator_list, *stmt.args.defaults], ctx=ast.Load())
    if isinstance(stmt, ast.ClassDef):
        return ast.Tuple(elts=[*stmt.decorator_list, *stmt.bases], ctx=ast.Load())
    if type(stmt).__name__ == "Match":
        return stmt.subject  # type: ignore[attr-defined,no-any-return]  # Python 3.10
    return stmt


def _header_lines(stmt: ast.stmt) -> range:
    first = min([stmt.lineno, *(one.lineno for one in getattr(stmt, "decorator_list", ()))])
    blocks = [block for block in _blocks(stmt) if block]
    if blocks:
        return range(first, max(stmt.lineno + 1, blocks[0][0].lineno))
    return range(first, (stmt.end_lineno or stmt.lineno) + 1)


def _blocks(stmt: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(stmt, name, []) for name in _BLOCKS]
    return [*found, *(case.body for case in getattr(stmt, "cases", ()))]


def _may_leave(stmt: ast.stmt) -> bool:
    """Return whether a compound statement holds something that ends its block early."""
    if not any(_blocks(stmt)):
        return False
    return any(
        isinstance(node, _JUMPS) or (isinstance(node, ast.Call) and _called(node) in _EXITS) for node in ast.walk(stmt)
    )


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _stored(node: ast.AST) -> Iterator[str]:
    """Yield the names that targets bind or change."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
            yield from _base(part)


def _changed(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound or changed somewhere in a statement."""
    yield from _stored(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            yield from _base(part.func)
        elif isinstance(part, ast.ExceptHandler) and part.name:
            yield part.name


def _base(node: ast.AST) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id
