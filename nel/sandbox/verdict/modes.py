"""Which mode judges tests in Python: by the task's text, never by the program."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Collection, Iterator
from typing import Final

from nel.sandbox.verdict.names import BUILTIN_ATTRIBUTES, standard_module

_SHARED_STATE: Final = re.compile(
    r"\b(?P<what>redirect_std(?:out|err)|capsys|sys\.std(?:in|out|err)|sys\.argv|asyncio|inspect|pytest"
    r"|mock|monkeypatch|tempfile|sqlite3|assertLogs|assertNoLogs|assertWarns\w*|catch_warnings"
    r"|os\.(?:environ|putenv|chdir|makedirs|mkdir|remove|path\.\w+|listdir|unlink)|shutil"
    r"|write_text|write_bytes|IsolatedAsyncioTestCase|random\.seed|GeneratorType|__class__|__doc__"
    r"|builtins\.\w+[ ]*=(?!=)|(?:from|import) (?:solution|pathlib|uuid|ipaddress))\b"
    r"|\b(?P<open>open\([^)\n]*)"
)
"""What tests share with a program: output, coroutines, random numbers, files, environment."""
_CHANGES: Final = frozenset(
    "append extend insert pop remove clear update add discard setdefault sort reverse popitem".split()
)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_PASSED_THROUGH: Final = ("enumerate", "zip", "reversed", "sorted", "list", "iter")
_OBJECT_MAKERS: Final = ("iter", "map", "filter", "zip", "enumerate", "object", "partial", "open")


def needs_shared(
    tests: str, tree: ast.Module, program: Collection[str], prompt_classes: Collection[str]
) -> str:
    """Return why tests have to share the program's process; empty where they run apart from it.

    Args:
        program: Names that the program gives.
        prompt_classes: Classes of the prompt, of which tests and program would each have their own.

    >>> tests = "assert f(lambda x: x) == 1"
    >>> needs_shared(tests, ast.parse(tests), {"f"}, ())
    'line 1 hands the program a function or an object of the tests'
    """
    if match := _SHARED_STATE.search(tests):
        return f"the tests use {match['what'] or 'open'}"
    objects = _Objects(tree, program)
    for node in ast.walk(tree):
        line = f"line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ClassDef) and not program_names(node.bases).isdisjoint(program):
            return f"{line} derives from a class of the program"
        if isinstance(node, ast.Name) and node.id in prompt_classes:
            return f"{line} uses {node.id}, a class of the prompt"
        if any(map(objects.holds_object, objects.handed_over(node))):
            return f"{line} hands the program a function or an object of the tests"
        if objects.changes_attribute(node):
            return f"{line} changes what an object of the program holds"
    return ""


class _Objects:
    """Which expressions of tests make something that has no plain form, by names alone."""

    def __init__(self, tree: ast.Module, program: Collection[str]) -> None:
        self._makers: set[str] = set()
        """Classes of the tests, and functions that return their objects."""
        self._objects: set[str] = set()
        """Names of what has no plain form."""
        self._answers = set(program)
        """Names of what the program gives, and of its answers."""
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._makers.add(node.name)
            elif (
                isinstance(node, _FUNCTIONS)
                and node.name != "check"
                and not node.name.startswith("test")
            ):
                self._objects.add(node.name)
        size = -1
        while size != (size := len(self._makers) + len(self._objects) + len(self._answers)):
            for node in ast.walk(tree):
                self._follow(node)

    def _follow(self, node: ast.AST) -> None:
        """Add the names that a statement gives to objects and answers."""
        if isinstance(node, _FUNCTIONS) and any(map(self._is_object_given, ast.walk(node))):
            self._makers.add(node.name)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._bind(getattr(node, "targets", None) or [node.target], node.value)  # type: ignore[union-attr]
        elif isinstance(node, (ast.For, ast.comprehension)):
            for value in _iterated_values(node.iter):
                self._bind([node.target], value)

    def _is_object_given(self, node: ast.AST) -> bool:
        """Return whether a statement of a function gives its caller an object."""
        is_return = (
            isinstance(node, ast.Return)
            and node.value is not None
            and self.holds_object(node.value)
        )
        return is_return or isinstance(node, (ast.Yield, ast.YieldFrom))

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        names = [name for target in targets for name in _stored_names(target)]
        if self.holds_object(value):
            self._objects.update(names)
        if self.is_of_program(value):
            self._answers.update(names)

    def is_of_program(self, node: ast.AST) -> bool:
        """Return whether an expression is the program's, or a part or a result of such."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Await)):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
                return node.attr in self._answers
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and node.id in self._answers

    def handed_over(self, node: ast.AST) -> list[ast.expr]:
        """Return what a call or an assignment of the tests hands to the program."""
        if isinstance(node, ast.Call) and self.is_of_program(node.func):
            return [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node, ast.Assign):
            parts = [
                target
                for target in node.targets
                if isinstance(target, (ast.Attribute, ast.Subscript))
            ]
            return [node.value] if any(map(self.is_of_program, parts)) else []
        return []

    def holds_object(self, node: ast.AST) -> bool:
        """Return whether a value may hold a function, iterator or object of the tests."""
        if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
            return True
        if isinstance(node, ast.Name):
            is_builtin = inspect.isbuiltin(getattr(builtins, node.id, None))
            return node.id in self._objects or node.id in self._makers or is_builtin
        if isinstance(node, ast.Attribute):
            owner = getattr(node.value, "id", None)
            is_method = node.attr in BUILTIN_ATTRIBUTES and owner not in self._answers
            return (
                owner in self._makers
                or is_method
                or (owner is not None and _is_function(owner, node.attr))
            )
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            return name in self._makers or name in _OBJECT_MAKERS
        if isinstance(node, (ast.ListComp, ast.SetComp)):
            return self.holds_object(node.elt)
        literals = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.IfExp)
        return isinstance(node, literals) and any(
            map(self.holds_object, ast.iter_child_nodes(node))
        )

    def changes_attribute(self, node: ast.AST) -> bool:
        """Return whether a statement changes a container that a program's object holds."""
        target: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = node.func.value if node.func.attr in _CHANGES else None
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            target = node.value
        while isinstance(target, ast.Subscript):
            target = target.value
        is_own = isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self"
        return isinstance(target, ast.Attribute) and not is_own and self.is_of_program(target)


def program_names(nodes: Collection[ast.AST]) -> set[str]:
    """Return all names in some expressions."""
    return {child.id for node in nodes for child in ast.walk(node) if isinstance(child, ast.Name)}


def _iterated_values(value: ast.expr) -> list[ast.expr]:
    """Return what a loop takes its items from, past builtins such as ``enumerate``."""
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") in _PASSED_THROUGH:
        return [inner for argument in value.args for inner in _iterated_values(argument)]
    return [value]


def _is_function(owner: str, name: str) -> bool:
    """Return whether an attribute is a function of a module or class of the standard library."""
    module = standard_module(owner) or builtins
    values = [getattr(kind, name, None) for kind in (module, getattr(module, owner, None))]
    return any(inspect.isroutine(value) for value in values)


def _stored_names(target: ast.AST) -> Iterator[str]:
    for child in ast.walk(target):
        if isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Store):
            yield child.id if isinstance(child, ast.Name) else child.attr
