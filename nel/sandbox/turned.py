"""Tests turned around: what no right program passes, to tell an answer from a forged verdict.

A program that shares its tests' process can take their verdict into its own hands, in more ways than can be refused. It
does so whatever they say. So tests that it has passed are put to it again with their assertions reversed, and with
other values in the place of those that they expect: a program that passes these as well has not answered any of them.

Pure functions of the tests' text.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterator
from typing import Final

from nel.core.python_trees import parse_python
from nel.sandbox.agent.answers import OTHER
from nel.sandbox.agent.dependence import Dependence

_REVERSED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
}
_REVERSED.update({new: old for old, new in list(_REVERSED.items())})
_REVERSED_METHODS: Final = {
    "assertEqual": "assertNotEqual",
    "assertTrue": "assertFalse",
    "assertIn": "assertNotIn",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
    "assertIsInstance": "assertNotIsInstance",
    "assertAlmostEqual": "assertNotAlmostEqual",
    "assertLess": "assertGreaterEqual",
    "assertGreater": "assertLessEqual",
}
_REVERSED_METHODS.update({new: old for old, new in list(_REVERSED_METHODS.items())})
_EQUALITIES: Final = re.compile(r"assert(?:Equal|Equals|ListEqual|DictEqual|TupleEqual|SetEqual|MultiLineEqual)")
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVES: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_ENDS: Final = frozenset(("exit", "quit", "_exit", "abort", "skipTest", "skip"))


def turned_around(
    tests: str, owed: Collection[int], dependence: Dependence, *, has_classes: bool = False
) -> tuple[str, ...]:
    """Return tests that every program fails which passes these, and answers by what it is asked.

    There are none where no assertion is sure to be reached, or where something could pass over its failure.

    Args:
        owed: Lines of the assertions that each passing run reaches.
        dependence: What of the tests depends on the program.
        has_classes: The program gives classes, which may be meant to be equal to anything.

    >>> tests = "assert f(1) == 2"
    >>> turned_around(tests, [1], Dependence(ast.parse(tests), ["f"]))
    ('assert f(1) != 2', 'assert f(1) == _nel_other(2)')
    >>> tests = "try:\\n    assert f(1) == 2\\nexcept Exception:\\n    pass"
    >>> turned_around(tests, [], Dependence(ast.parse(tests), ["f"]))
    ()
    """
    try:
        tree = parse_python(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    sure = {id(node) for node in _sure(tree.body, owed, _called_at_top(tree), is_owed=True)}
    if not sure:
        return ()
    places = [place for place, node in enumerate(ast.walk(tree)) if id(node) in sure]
    found = [ast.unparse(_reversed(copy.deepcopy(tree)))]
    if not has_classes:
        other = copy.deepcopy(tree)
        classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        nodes = list(ast.walk(other))
        changed = {place for place, node in enumerate(nodes) if _expects_other(node, dependence, classes)}
        if not changed.isdisjoint(places):
            found.append(ast.unparse(ast.fix_missing_locations(other)))
    return tuple(found)


def _sure(body: list[ast.stmt], owed: Collection[int], called: Collection[str], *, is_owed: bool) -> Iterator[ast.AST]:
    """Yield the assertions of a block that each passing run reaches, and whose failure ends it.

    Args:
        called: Functions that are called for sure.
        is_owed: Only those that are owed count, since the block need not be run to its end.
    """
    for stmt in body:
        found = _assertion(stmt)
        if found is not None:
            if not is_owed or stmt.lineno in owed:
                yield found
        elif isinstance(stmt, (ast.For, ast.AsyncFor)):
            is_full = isinstance(stmt.iter, (ast.List, ast.Tuple)) and bool(stmt.iter.elts)
            yield from (
                node
                for node in _sure(stmt.body, owed, (), is_owed=is_owed)
                if is_full or getattr(node, "lineno", 0) in owed
            )
        elif isinstance(stmt, _FUNCTIONS):
            is_run = stmt.name == "check" or stmt.name.startswith("test")
            if (is_run or stmt.name in called) and not stmt.decorator_list:
                yield from _sure(stmt.body, owed, (), is_owed=is_owed and is_run and isinstance(stmt, ast.FunctionDef))
        elif isinstance(stmt, ast.ClassDef) and not stmt.decorator_list:
            is_case = any("TestCase" in ast.unparse(base) for base in stmt.bases)
            if is_case or stmt.name.startswith("Test"):
                yield from _sure(stmt.body, owed, (), is_owed=not is_case)
        if not isinstance(stmt, (*_FUNCTIONS, ast.ClassDef)) and _may_leave(stmt):
            return


def _assertion(stmt: ast.stmt) -> ast.AST | None:
    """Return the assertion that a statement is: itself, or the call of a method of `unittest`."""
    if isinstance(stmt, ast.Assert):
        return stmt
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute):
        name = stmt.value.func.attr
        return stmt.value if name in _REVERSED_METHODS or _EQUALITIES.fullmatch(name) else None
    return None


def _may_leave(stmt: ast.stmt) -> bool:
    for node in ast.walk(stmt):
        if isinstance(node, _LEAVES):
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _ENDS:
            return True
    return False


def _called_at_top(tree: ast.Module) -> set[str]:
    """Return the functions that statements at the top call, by themselves or to be run by `asyncio`."""
    found = set()
    for stmt in tree.body:
        call = stmt.value if isinstance(stmt, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "asyncio.run" and call.args:
            call = call.args[0]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            found.add(call.func.id)
    return found


def _reversed(tree: ast.Module) -> ast.Module:
    """Reverse all assertions of a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.test = _opposite(node.test)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if _EQUALITIES.fullmatch(name):
                name = "assertEqual"
            node.func.attr = _REVERSED_METHODS.get(name, node.func.attr)
    return ast.fix_missing_locations(tree)


def _opposite(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.Compare(test.left, [_REVERSED[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _expects_other(node: ast.AST, dependence: Dependence, classes: Collection[str]) -> bool:
    """Put another value in the place of the one that an assertion expects; return whether there is one."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        test = node.test
        sides = [test.left, *test.comparators]
        if len(sides) != 2 or not isinstance(test.ops[0], ast.Eq):  # noqa: PLR2004
            return False
    elif isinstance(node, ast.Call) and _EQUALITIES.fullmatch(getattr(node.func, "attr", "")):
        sides = node.args[:2]
    else:
        return False
    own = [_is_made(side, classes) or not dependence.uses_program(side) for side in sides]
    if sum(own) != 1:
        return False
    sides = [
        ast.Call(ast.Name(OTHER, ast.Load()), [side], []) if is_own else side
        for side, is_own in zip(sides, own, strict=True)
    ]
    if isinstance(node, ast.Assert):
        node.test = ast.Compare(sides[0], [ast.Eq()], [sides[1]])
    else:
        node.args[:2] = sides
    return True


def _is_made(value: ast.expr, classes: Collection[str]) -> bool:
    """Return whether a value is a literal, or an object of one of these classes that is made of literals."""
    if isinstance(value, ast.Call):
        given = [*value.args, *(word.value for word in value.keywords)]
        return getattr(value.func, "id", "") in classes and all(_is_made(one, classes) for one in given)
    parts = ast.walk(value)
    return not any(isinstance(part, (ast.Name, ast.Call, ast.Attribute, ast.Lambda)) for part in parts)
