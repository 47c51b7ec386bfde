"""Which mode judges tests in Python: a pure function of the task's text; no program has a say in it."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from nel.sandbox.verdict.names import BUILTIN_ATTRIBUTES, standard_module

_SHARED_STATE: Final = re.compile(
    r"\b(?P<what>redirect_std(?:out|err)|capsys|sys\.std(?:in|out|err)|sys\.argv|asyncio|inspect|pytest"
    r"|mock|monkeypatch|tempfile|sqlite3|assertLogs|assertNoLogs|assertWarns\w*|catch_warnings"
    r"|os\.(?:environ|putenv|chdir|makedirs|mkdir|remove|path\.\w+|listdir|unlink)|shutil"
    r"|write_text|write_bytes|IsolatedAsyncioTestCase|GeneratorType|__class__|__doc__"
    r"|builtins\.\w+[ ]*=(?!=)|(?:from|import) solution)\b"
    r"|\b(?P<open>open\([^)\n]*)"
)
"""What the program prints, its coroutines, files and the environment, which tests share with it."""
_CHANGES: Final = frozenset(
    "append extend insert pop remove clear update add discard setdefault sort reverse popitem".split()
)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_PASSED_THROUGH: Final = ("enumerate", "zip", "reversed", "sorted", "list", "iter")
_OBJECT_MAKERS: Final = ("iter", "map", "filter", "zip", "enumerate", "object", "partial", "open")
_BUILTIN_FUNCTIONS: Final = frozenset(
    name for name in dir(builtins) if not isinstance(getattr(builtins, name), type) and name.islower()
)


def needs_shared(tests: str, tree: ast.Module, program: Collection[str], prompt_classes: Mapping[str, bool]) -> str:
    """Return why tests have to share the program's process; empty where they run apart from it.

    Args:
        program: Names that the program gives.
        prompt_classes: Classes of the prompt, and whether their objects cross by their fields.

    >>> tests = "assert f(lambda x: x) == 1"
    >>> needs_shared(tests, ast.parse(tests), {"f"}, {})
    'line 1 hands the program a function or an object of the tests'
    """
    if match := _SHARED_STATE.search(tests):
        return f"the tests use {match['what'] or 'open'}"
    objects = _Objects(tree, program, prompt_classes)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and _names_in(node.bases) & set(program):
            return f"line {node.lineno} derives from a class of the program"
        if any(map(objects.is_of_program, getattr(node, "decorator_list", ()))):
            return f"line {node.lineno} decorates with a function of the program"  # type: ignore[attr-defined]
        if isinstance(node, ast.Name) and prompt_classes.get(node.id) is False:
            return f"line {node.lineno} uses {node.id}, a class of the prompt"
        if any(map(objects.holds_object, objects.handed_over(node))):
            line = getattr(node, "lineno", 0)
            return f"line {line} hands the program a function or an object of the tests"
        if objects.changes_attribute(node):
            return f"line {getattr(node, 'lineno', 0)} changes what an object of the program holds"
    return ""


class _Objects:
    """Which expressions of tests make something that has no plain form, by names alone."""

    def __init__(self, tree: ast.Module, program: Collection[str], prompt_classes: Mapping[str, bool]) -> None:
        own = [node for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
        self._program = set(program)
        self._modules = set(_imported(tree))
        self._functions = {
            node.name: node.args
            for node in own
            if not isinstance(node, ast.ClassDef) and node.name != "check" and node.name[:4] != "test"
        }
        self._makers = {
            node.name for node in own if isinstance(node, ast.ClassDef) and not prompt_classes.get(node.name)
        }
        self._objects: set[str] = set()
        self._answers = set(program)
        size = -1
        while size != len(self._objects) + len(self._makers) + len(self._answers):
            size = len(self._objects) + len(self._makers) + len(self._answers)
            for node in ast.walk(tree):
                self._follow(node)

    def _follow(self, node: ast.AST) -> None:
        if isinstance(node, _FUNCTIONS) and any(
            isinstance(part, (ast.Yield, ast.YieldFrom))
            or (isinstance(part, ast.Return) and part.value is not None and self.holds_object(part.value))
            for part in ast.walk(node)
        ):
            self._makers.add(node.name)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = getattr(node, "targets", None) or [getattr(node, "target", node)]
            self._bind(targets, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for value in _iterated(node.iter):
                self._bind([node.target], value)
        elif isinstance(node, ast.Call) and any(map(self.holds_object, node.args)):
            takes = self._functions.get(getattr(node.func, "id", ""))
            self._objects.update(argument.arg for argument in (takes.args if takes else ()))

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        names = [name for target in targets for name in _stored(target)]
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
        if isinstance(node, ast.Assign) and any(
            isinstance(target, (ast.Attribute, ast.Subscript)) and self.is_of_program(target) for target in node.targets
        ):
            return [node.value]
        return []

    def holds_object(self, node: ast.AST) -> bool:
        """Return whether a value may hold a function, an iterator or an object of the tests' own."""
        if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
            return True
        if isinstance(node, ast.Name):
            known = (self._objects, self._functions, self._makers, self._modules, _BUILTIN_FUNCTIONS)
            return any(node.id in names for names in known)
        if isinstance(node, ast.Attribute):
            owner = getattr(node.value, "id", None)
            is_method = node.attr in BUILTIN_ATTRIBUTES and owner not in self._answers
            return owner in self._makers or is_method or (owner is not None and _is_function(node))
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            return name in self._makers or name in _OBJECT_MAKERS or getattr(node.func, "attr", "") == "partial"
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return any(map(self.holds_object, node.elts))
        if isinstance(node, ast.Dict):
            return any(map(self.holds_object, node.values))
        if isinstance(node, (ast.ListComp, ast.SetComp)):
            return self.holds_object(node.elt)
        return isinstance(node, (ast.Starred, ast.IfExp)) and self.holds_object(
            node.value if isinstance(node, ast.Starred) else node.body
        )

    def changes_attribute(self, node: ast.AST) -> bool:
        """Return whether a statement changes a container that an attribute of the program's object holds."""
        held: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            held = node.func.value if node.func.attr in _CHANGES else None
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            held = node.value
        while isinstance(held, ast.Subscript):
            held = held.value
        if not isinstance(held, ast.Attribute) or not self.is_of_program(held):
            return False
        return not (isinstance(held.value, ast.Name) and held.value.id == "self")


def _iterated(value: ast.expr) -> list[ast.expr]:
    """Return what a loop takes its items from, past builtins such as ``enumerate``."""
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") in _PASSED_THROUGH:
        return [inner for part in value.args for inner in _iterated(part)]
    return [value]


def _is_function(node: ast.Attribute) -> bool:
    """Return whether an attribute is a function of a module or class of the standard library."""
    owner = getattr(node.value, "id", "")
    module = standard_module(owner) or builtins
    kinds = (module, getattr(module, owner, None))
    return any(
        inspect.isroutine(value) or inspect.isclass(value)
        for kind in kinds
        if (value := getattr(kind, node.attr, None))
    )


def _stored(target: ast.AST) -> Iterator[str]:
    for part in ast.walk(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.attr


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)


def _names_in(nodes: list[ast.expr]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}
