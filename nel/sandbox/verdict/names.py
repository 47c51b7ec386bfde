"""Where the names come from that tests use and do not define, and what they show of the program's.

Pure functions of the tests' tree and the prompt. No program has a say in any of it.
"""

from __future__ import annotations

import ast
import builtins
import collections
import importlib
import re
import symtable
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Final

_ALIASES: Final[Mapping[str, str]] = {
    "np": "numpy",
    "numpy": "numpy",
    "pd": "pandas",
    "pandas": "pandas",
    "sympy": "sympy",
}
_MEMBERS: Final[Mapping[str, str]] = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "math": "isclose isnan isinf isfinite sqrt pi inf nan floor ceil gcd factorial comb",
    "copy": "deepcopy copy",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "datetime": "datetime date time timedelta",
    "typing": "Any Callable Dict Iterable Iterator List Optional Sequence Set Tuple Union",
}
"""What tests use without an import; a program that defines one of these does not judge itself by it."""
_NOT_IMPORTED: Final = ("antigravity", "this", "idlelib", "tkinter", "turtle", "turtledemo", "test")
BUILTIN_ATTRIBUTES: Final = frozenset(
    name
    for kind in (str, bytes, list, tuple, dict, set, int, float, complex, range, collections.deque)
    for name in dir(kind)
)
"""Of plain values, which every answer may be."""


def unbound_names(tests: str) -> set[str]:
    """Return the names that tests look up in their module and neither bind there nor find as builtins."""
    used, bound = set(), set()
    scopes = [symtable.symtable(tests, "tests.py", "exec")]
    while scopes:
        scope = scopes.pop()
        scopes.extend(scope.get_children())
        is_module = scope.get_type() == "module"
        for symbol in scope.get_symbols():
            is_global = is_module or symbol.is_global()
            if is_global and symbol.is_referenced():
                used.add(symbol.get_name())
            if is_global and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(symbol.get_name())
    return used - bound - set(dir(builtins)) - {"__file__"}


def supplied_names(tree: ast.Module, unbound: set[str], prompt: str, entry_point: str) -> dict[str, str]:
    """Return where names come from that tests use as those of well-known modules.

    A place is ``module`` or ``module:name``.
    """
    uses: dict[str, set[str]] = {name: set() for name in unbound}
    called = called_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in uses:
            uses[node.value.id].add(node.attr)  # type: ignore[attr-defined]
    places = {}
    for name in sorted(unbound):
        place = _place_of(name, uses[name], is_called=name in called)
        if place and (":" not in place or not re.search(rf"\b(?:def|class)\s+{name}\b|`{name}\b", prompt)):
            places[name] = place
    if not entry_point and called & unbound <= set(places):
        # The tests call nothing else that a program could define: these are what they are about.
        return {name: place for name, place in places.items() if name not in called}
    return places


def called_names(tree: ast.Module) -> set[str]:
    """Return the names that tests call."""
    return {_called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)} - {""}


def class_names(tree: ast.Module, names: Collection[str], prompt: str) -> frozenset[str]:
    """Return those of the names that are classes: by the prompt, else by how tests use what a call gives.

    >>> tree = ast.parse("s = Stack(); s.push(1); assert s.size == 1; assert Sum(2).real == 3")
    >>> sorted(class_names(tree, {"Stack", "Sum"}, ""))
    ['Stack']
    """
    functions = {name for name in names if re.search(rf"\bdef\s+{name}\b", prompt)}
    classes = {name for name in names if re.search(rf"\bclass\s+{name}\b", prompt)}
    used = set(_used_as_classes(tree, {name for name in names if name.lstrip("_")[:1].isupper()}))
    return frozenset((classes | used) - functions)


def missing_judge(tree: ast.Module, names: Collection[str], entry_point: str) -> str:
    """Return a function that judges the answers it is given and that nothing defines; empty if none.

    >>> missing_judge(ast.parse("assert almost_equal(f(1), 2)"), {"almost_equal"}, "f")
    'almost_equal'
    """
    for node in ast.walk(tree):
        tests = list(_truths(node.test)) if isinstance(node, ast.Assert) and entry_point else []
        for call in tests:
            if isinstance(call, ast.Call) and _called(call) in names and _called(call)[:1].islower():
                given = [part for value in call.args for part in ast.walk(value)]
                if any(getattr(part, "id", "") in (entry_point, "candidate") for part in given):
                    return _called(call)
    return ""


def is_named(name: str, prompt: str) -> bool:
    """Return whether a prompt names a value that a program is to define, and does not just use the word.

    >>> is_named("expected", "Return the expected value."), is_named("MOD", "Take it modulo MOD.")
    (False, True)
    """
    if name.isupper() or "_" in name:
        return re.search(rf"\b{name}\b", prompt) is not None
    pattern = rf"[`'\"]{name}\b|^{name}[ ]*(?::[^=\n]*)?=|\bdef[ ]+{name}\b"
    return re.search(pattern, prompt, re.MULTILINE) is not None


def _truths(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what a condition takes at its word."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _truths(value)
    elif isinstance(test, ast.UnaryOp):
        yield from _truths(test.operand)
    elif isinstance(test, ast.Compare) and isinstance(getattr(test.comparators[0], "value", None), bool):
        yield test.left
    else:
        yield test


def _used_as_classes(tree: ast.Module, names: set[str]) -> Iterator[str]:
    made: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = _called(node.value)
            targets = [getattr(target, "id", getattr(target, "attr", "")) for target in node.targets]
            made.update((target, name) for target in targets if target and name in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr not in BUILTIN_ATTRIBUTES:
            owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
            yield from {owner} & names
            yield from (made[name] for name in {owner} & made.keys())
            yield from (name for name in _calls_in(node.value) if name in names)
        elif isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass"):
            parts = [part for value in node.args[1:] for part in ast.walk(value)]
            yield from (name for part in parts if (name := getattr(part, "id", "")) in names)


def _calls_in(node: ast.expr) -> Iterator[str]:
    """Yield what is called for an expression's value, not for an argument of a call."""
    if isinstance(node, ast.Call):
        yield _called(node)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _calls_in(child)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _place_of(name: str, attributes: set[str], *, is_called: bool) -> str | None:
    if attributes and not is_called:
        if name in _ALIASES:
            return _ALIASES[name]
        module = standard_module(name)
        if module is not None and all(hasattr(module, attribute) for attribute in attributes):
            return name
    home = _homes().get(name)
    return None if home is None else f"{home}:{name}"


@cache
def _homes() -> Mapping[str, str]:
    return {name: module for module, names in _MEMBERS.items() for name in names.split()}


@cache
def standard_module(name: str) -> ModuleType | None:
    """Return the module of the standard library of a name, if there is one."""
    if name in ("antigravity", "this", "idlelib", "tkinter", "turtle", "turtledemo", "test"):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
