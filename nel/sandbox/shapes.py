"""What tests show of the names that a program has to give: which are classes, and which could only pass judgement.

Pure functions of the tests' tree and the prompt. No program has a say in any of it.
"""

from __future__ import annotations

import ast
import collections
import re
from collections.abc import Collection, Iterator
from typing import Final

_BUILTIN_ATTRIBUTES: Final = frozenset(
    name
    for kind in (str, bytes, list, tuple, dict, set, int, float, complex, range, collections.deque, collections.Counter)
    for name in dir(kind)
)


def class_names(tree: ast.Module, names: Collection[str], prompt: str) -> frozenset[str]:
    """Return those of the names that are classes: by the prompt, else by how the tests use what a call gives.

    >>> tree = ast.parse("s = Stack(); s.push(1); assert s.size == 1; assert Sum(2).real == 3")
    >>> sorted(class_names(tree, {"Stack", "Sum"}, ""))
    ['Stack']
    """
    functions = {name for name in names if re.search(rf"\bdef\s+{name}\b", prompt)}
    found = {name for name in names if re.search(rf"\bclass\s+{name}\b", prompt)}
    shown = set(_shown(tree, {name for name in names if name.lstrip("_")[:1].isupper()}))
    return frozenset((found | shown) - functions)


def _shown(tree: ast.Module, names: set[str]) -> Iterator[str]:
    made: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = _called(node.value)
            made.update((target.id, name) for target in node.targets if isinstance(target, ast.Name) and name in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr not in _BUILTIN_ATTRIBUTES:
            if isinstance(node.value, ast.Name):
                yield from {node.value.id} & names
                yield from (made[one] for one in {node.value.id} & made.keys())
            yield from (name for name in _calls_in(node.value) if name in names)
        elif isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass") and node.args[1:]:
            yield from (part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name) and part.id in names)


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
