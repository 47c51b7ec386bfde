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
_REVERSED_CALLS: Final = {
    **dict.fromkeys(
        "assert_called assert_called_once assert_called_with assert_called_once_with assert_any_call assert_has_calls"
        " assert_awaited assert_awaited_once assert_awaited_with assert_awaited_once_with".split(),
        "assert_not_called",
    ),
    "assert_not_called": "assert_called",
    "assert_not_awaited": "assert_called",
}
"""Of mocks; they take no arguments when they are reversed."""
_TRANSPARENT: Final = re.compile(
    r"(?:contextlib\.)?redirect_std(?:out|err)|(?:unittest\.)?(?:mock\.)?patch(?:\.\w+)*|open|(?:self\.)?subTest"
    r"|(?:tempfile\.)?(?:TemporaryDirectory|NamedTemporaryFile)|(?:warnings\.)?catch_warnings"
)
"""Contexts and decorators that pass over no failure."""
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
    sure = {id(node) for node in _sure(tree.body, owed, _called_at_top(tree), _full_at_top(tree))}
    if not sure:
        return ()
    places = [place for place, node in enumerate(ast.walk(tree)) if id(node) in sure]
    found = [ast.unparse(_reversed(copy.deepcopy(tree)))]
    if not has_classes:
        other = copy.deepcopy(tree)
        own = {node.name for node in tree.body if isinstance(node, ast.ClassDef)} | set(_looped(tree))
        nodes = list(ast.walk(other))
        changed = {place for place, node in enumerate(nodes) if _expects_other(node, dependence, own)}
        if not changed.isdisjoint(places):
            found.append(ast.unparse(ast.fix_missing_locations(other)))
    return tuple(found)


def _sure(
    body: list[ast.stmt], owed: Collection[int], called: Collection[str], full: Collection[str]
) -> Iterator[ast.AST]:
    """Yield the assertions of a block that each passing run reaches, and whose failure ends it.

    Args:
        called: Functions that are called for sure.
        full: Variables that hold something to loop over.
    """
    for stmt in body:
        found = _assertion(stmt)
        if found is not None:
            yield found
        elif isinstance(stmt, (ast.For, ast.AsyncFor)):
            is_full = _is_full(stmt.iter) or getattr(stmt.iter, "id", "") in full
            inner = _sure(stmt.body, owed, (), full)
            yield from (node for node in inner if is_full or getattr(node, "lineno", 0) in owed)
        elif isinstance(stmt, (ast.With, ast.AsyncWith)):
            if _are_transparent([item.context_expr for item in stmt.items]):
                yield from _sure(stmt.body, owed, (), full)
        elif isinstance(stmt, _FUNCTIONS):
            if (stmt.name in called or _is_run(stmt)) and _are_transparent(stmt.decorator_list):
                yield from _sure(stmt.body, owed, (), full)
        elif isinstance(stmt, ast.ClassDef) and _is_case(stmt):
            tests = [one for one in stmt.body if isinstance(one, _FUNCTIONS) and one.name.startswith("test")]
            yield from _sure(list(tests), owed, [one.name for one in tests], full)
        if not isinstance(stmt, (*_FUNCTIONS, ast.ClassDef)) and _may_leave(stmt):
            return


def _is_run(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the harness calls a function of the tests."""
    count = len(function.args.posonlyargs + function.args.args) - len(function.args.defaults)
    if isinstance(function, ast.AsyncFunctionDef):
        return False
    return count <= 1 if function.name == "check" else function.name.startswith("test") and count == 0


def _is_case(stmt: ast.ClassDef) -> bool:
    is_named = stmt.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in stmt.bases)
    return is_named and not stmt.decorator_list


def _is_full(value: ast.expr | None) -> bool:
    return isinstance(value, (ast.List, ast.Tuple)) and any(not isinstance(one, ast.Starred) for one in value.elts)


def _full_at_top(tree: ast.Module) -> set[str]:
    """Return the variables that hold a list or a tuple with something in it, all the time."""
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    made = [stmt for stmt in tree.body if isinstance(stmt, ast.Assign) and _is_full(stmt.value)]
    names = {target.id for stmt in made for target in stmt.targets if isinstance(target, ast.Name)}
    return {name for name in names if stored.count(name) == 1}


def _assertion(stmt: ast.stmt) -> ast.AST | None:
    """Return the assertion that a statement is: itself, or the call of a method of `unittest`."""
    if isinstance(stmt, ast.Assert):
        return stmt
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute):
        name = stmt.value.func.attr
        is_known = name in _REVERSED_METHODS or name in _REVERSED_CALLS or _EQUALITIES.fullmatch(name)
        return stmt.value if is_known else None
    return None


def _are_transparent(calls: list[ast.expr]) -> bool:
    return all(isinstance(one, ast.Call) and _TRANSPARENT.fullmatch(ast.unparse(one.func)) for one in calls)


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
            name = "assertEqual" if _EQUALITIES.fullmatch(node.func.attr) else node.func.attr
            if name in _REVERSED_CALLS:
                node.func.attr, node.args, node.keywords = _REVERSED_CALLS[name], [], []
            node.func.attr = _REVERSED_METHODS.get(name, node.func.attr)
    return ast.fix_missing_locations(tree)


def _opposite(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.Compare(test.left, [_REVERSED[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _looped(tree: ast.Module) -> Iterator[str]:
    """Yield the variables of loops over what tests write down, which no call of the tests is given."""
    full = _full_at_top(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = {part.id for call in calls for part in ast.walk(call) if isinstance(part, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and (_is_full(node.iter) or getattr(node.iter, "id", "") in full):
            yield from (
                part.id for part in ast.walk(node.target) if isinstance(part, ast.Name) and part.id not in given
            )


def _expects_other(node: ast.AST, dependence: Dependence, made: Collection[str]) -> bool:
    """Put another value in the place of the one that an assertion expects; return whether there is one.

    Args:
        made: Classes and variables of the tests' own.
    """
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        test = node.test
        sides = [test.left, *test.comparators]
        if len(sides) != 2 or not isinstance(test.ops[0], ast.Eq):  # noqa: PLR2004
            return False
    elif isinstance(node, ast.Call) and _EQUALITIES.fullmatch(getattr(node.func, "attr", "")):
        sides = node.args[:2]
    else:
        return False
    own = [_is_made(side, made) or not dependence.uses_program(side) for side in sides]
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


def _is_made(value: ast.expr, made: Collection[str]) -> bool:
    """Return whether a value is a literal, one of these variables, or made of such by one of these classes."""
    if isinstance(value, ast.Name):
        return value.id in made
    if isinstance(value, ast.Call):
        given = [*value.args, *(word.value for word in value.keywords)]
        return getattr(value.func, "id", "") in made and all(_is_made(one, made) for one in given)
    parts = ast.walk(value)
    return not any(isinstance(part, (ast.Name, ast.Call, ast.Attribute, ast.Lambda)) for part in parts)
