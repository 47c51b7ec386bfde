"""What tests in the program's process make of its answers: no value equals another because it says so.

As apart from the program, a subclass is reduced to the builtin it derives from before it is compared or used, and an
object of the program's own class equals no plain value, unless the task is about that class. Comparisons, operations
and calls of the tests are rewritten for this. It is no wall: a program that searches its process can undo it.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import enum
import importlib
import operator
import re
import sys
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

from nel.sandbox.agent import codec, running
from nel.sandbox.agent.dependence import Dependence

FILE_NAME = "nel-agent/answers.py"
OTHER = "_nel_other"
"""What tests that are turned around call for a value that is unequal to the one that they expect."""
_ANSWER, _PLAIN, _COMPARE, _OPERATE = "_nel_answer", "_nel_plain", "_nel_compare", "_nel_operate"
_CHANGED_BY_ALL = ("sys", "os", "builtins", "random", "warnings", "logging")
"""Modules whose attributes honest programs set."""
_DEPTH_MAX = 100
_OTHER_NUMBER = 7919
_OTHER_TEXT = "another value than the expected one"
_HEAP_TYPE = 1 << 9
_SCALARS = frozenset((int, float, complex, str, bytes, bool, type(None)))
_COMPARING = re.compile(r"assert\w*(?:Equals?|In|Greater\w*|Less\w*)")
"""Methods of `unittest` that compare what they are given."""
_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_SAME: dict[type, Callable[[Any, Any], Any]] = {ast.Is: operator.is_, ast.IsNot: operator.is_not}
_OPERATED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_BY_NAME = {kind.__name__: operate for kind, operate in (*_COMPARED.items(), *_SAME.items(), *_OPERATED.items())}
_CONTAINERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (list, lambda value: list(list.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
)


class _Opaque:
    """An object of the program's own class where it is compared: equal to no plain value, whatever it says."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __iter__(self) -> Any:
        return iter(self.value)

    def __contains__(self, item: Any) -> bool:
        return any(item is one or item == one for one in self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def _between(operate: Callable[[Any, Any], Any]) -> Callable[[_Opaque, Any], Any]:
    def between(left: _Opaque, right: Any) -> Any:
        return operate(left.value, right.value) if type(right) is _Opaque else NotImplemented

    return between


for _name in "eq ne lt le gt ge add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split():
    setattr(_Opaque, f"__{_name.rstrip('_')}__", _between(getattr(operator, _name)))


class Answers:
    """Tells the program's classes from all others; made before the program is loaded."""

    def __init__(self, modules: Collection[str] = ()) -> None:
        """Note the classes that are there, and what modules hold which the tests import."""
        self._before = [(owner, dict(vars(owner))) for name in modules for owner in _owners(name)]
        self._known = _classes()
        self._numbers = {id(kind) for kind in self._known}
        self._module: Mapping[str, Any] = {}
        self._space: dict[str, Any] = {}
        self._asked: Collection[str] = ()

    def guard(
        self, tree: ast.Module, given: Mapping[str, Any], module: Mapping[str, Any], space: dict[str, Any]
    ) -> None:
        """Rewrite tests so that they compare plain values, and give their modules back what the program replaced.

        Args:
            given: The task: names that the program gives, and which of them are classes.
            module: The program's names.
            space: Those of the tests, which get what the rewritten tests call.
        """
        for owner, before in self._before:
            now = vars(owner)
            for name in [name for name, value in before.items() if now.get(name) is not value]:
                with contextlib.suppress(AttributeError, TypeError):
                    setattr(owner, name, before[name])
        self._module, self._space = module, space
        self._asked = (*given["classes"], *given["prompt_classes"])
        names = [*given["wanted"], given["entry_point"] or "candidate", "candidate"]
        dependence = Dependence(tree, names, given["supplied"])
        _Rewriter(dependence).visit(tree)
        ast.fix_missing_locations(tree)
        space.update({_ANSWER: self.answer, _PLAIN: self.plain, _COMPARE: self.compare, _OPERATE: self.operate})
        space[OTHER] = other

    def answer(self, value: Any) -> Any:
        """Return what a call gave; a number or a text of the program's own class as the builtin it derives from."""
        return self._reduced(value, 0, self._scalar)

    def plain(self, value: Any) -> Any:
        """Return what a value is compared as."""
        return self._reduced(value, 0, self._compared)

    def compare(self, names: str, *values: Any) -> Any:
        """Compare values of the tests, one after the other."""
        if len(values) == 2 and type(values[0]) in _SCALARS and type(values[1]) in _SCALARS:  # noqa: PLR2004 - for speed
            return _BY_NAME[names](*values)
        result: Any = True
        for place, name in enumerate(names.split()):
            left, right = values[place], values[place + 1]
            if not name.startswith("Is"):
                left, right = self.plain(left), self.plain(right)
            result = _BY_NAME[name](left, right)
            if place + 2 < len(values) and not result:
                break
        return result

    def operate(self, name: str, left: Any, right: Any) -> Any:
        """Return what an operator of the tests makes of two values."""
        return _BY_NAME[name](self._used(left), self._used(right))

    def _reduced(self, value: Any, depth: int, other: Callable[[Any, type], Any]) -> Any:
        kind = type(value)
        if kind in _SCALARS or depth > _DEPTH_MAX:
            return value
        if kind in (list, tuple, set, frozenset, collections.deque):
            items = list(value)
            plain = [self._reduced(item, depth + 1, other) for item in items]
            return value if all(map(operator.is_, items, plain)) else kind(plain)
        if kind is dict:
            items = [part for pair in dict.items(value) for part in pair]
            plain = [self._reduced(item, depth + 1, other) for item in items]
            return value if all(map(operator.is_, items, plain)) else dict(zip(plain[::2], plain[1::2]))  # noqa: B905
        if self._is_trusted(kind):
            return value
        found = other(value, kind)
        return found if found is value or type(found) is _Opaque else self._reduced(found, depth + 1, other)

    def _used(self, value: Any) -> Any:
        return value if type(value) in _SCALARS or self._is_trusted(type(value)) else self._compared(value, type(value))

    def _scalar(self, value: Any, kind: type) -> Any:
        is_scalar = issubclass(kind, (str, int, float, bytes)) and not issubclass(kind, enum.Enum)
        return codec.reduced(value) if is_scalar else value

    def _compared(self, value: Any, kind: type) -> Any:
        for base, reduce in _CONTAINERS:
            if issubclass(kind, base):
                return reduce(value)
        found = codec.reduced(value)
        return _Opaque(value) if found is value else found

    def _is_trusted(self, kind: type) -> bool:
        """Return whether a class is none that the program made to be compared with what the tests expect."""
        if id(kind) in self._numbers or not type.__dict__["__flags__"].__get__(kind) & _HEAP_TYPE:
            return not _is_mock(kind)
        return any(self._is_of_task(one) for one in type.__dict__["__mro__"].__get__(kind)[:-1]) or (
            _is_of_module(kind) and not _is_mock(kind)
        )

    def _is_of_task(self, kind: type) -> bool:
        """Return whether the tests define a class, or are about it."""
        name = type.__dict__["__name__"].__get__(kind)
        if dict.get(self._space, name) is kind or (name in self._asked and self._module.get(name) is kind):
            return True
        members = list(type.__dict__["__dict__"].__get__(kind).values())
        codes = [one.__code__ for one in members if type(one) is types.FunctionType]
        return any(code.co_filename == running.FILE_NAME for code in codes)


def other(value: Any, depth: int = 0) -> Any:
    """Return a value of the same kind that is unequal to one of the tests' own.

    Raises:
        TypeError: No such value is known.
    """
    kind = type(value)
    if value is None or depth > _DEPTH_MAX:
        return _OTHER_TEXT
    if kind is bool:
        return not value
    if kind in (int, float, complex):
        return value + max(_OTHER_NUMBER, abs(value))
    if kind in (str, bytes):
        return value + (_OTHER_TEXT if kind is str else _OTHER_TEXT.encode())
    if kind in (list, tuple):
        return kind([other(item, depth + 1) for item in value] or [_OTHER_NUMBER])
    if kind is dict:
        return {**{key: other(item, depth + 1) for key, item in value.items()}, _OTHER_TEXT: _OTHER_NUMBER}
    if kind in (set, frozenset):
        return kind([*value, _OTHER_TEXT])
    if kind.__module__ == "solution" and type(getattr(value, "__dict__", None)) is dict and value.__dict__:
        made = copy.copy(value)
        made.__dict__.update({name: other(item, depth + 1) for name, item in value.__dict__.items()})
        return made
    raise TypeError(f"no other value than one of the kind {kind.__name__} is known")


def _owners(name: str) -> list[Any]:
    """Return a module of the standard library, with its classes where it is one that runs tests."""
    if name.partition(".")[0] in _CHANGED_BY_ALL:
        return []
    try:
        module = importlib.import_module(name)
    except Exception:  # noqa: BLE001 - the tests will say so
        return []
    if name.partition(".")[0] != "unittest":
        return [module]
    own = [
        vars(part) for part in list(sys.modules.values()) if str(getattr(part, "__name__", "")).startswith("unittest")
    ]
    return [module, *{id(one): one for names in own for one in names.values() if isinstance(one, type)}.values()]


def _classes() -> list[type]:
    """Return all classes of the process."""
    found: list[type] = [object]
    seen = {id(object)}
    for kind in found:
        below: list[type] = type.__subclasses__(kind)
        fresh = [one for one in below if id(one) not in seen]
        seen.update(map(id, fresh))
        found += fresh
    return found


def _is_mock(kind: type) -> bool:
    return kind.__module__ == "unittest.mock" and (kind.__name__ == "_ANY" or hasattr(kind, "_get_child_mock"))


def _is_of_module(kind: type) -> bool:
    """Return whether a class is that of its name in a module, the program's own aside."""
    module = sys.modules.get(str(kind.__module__))
    name = kind.__qualname__.partition(".")[0]
    if module is None or kind.__module__ in ("solution", "__main__", "builtins"):
        return False
    found = vars(module).get(name)
    return found is kind or (isinstance(found, type) and "." in kind.__qualname__)


class _Rewriter(ast.NodeTransformer):
    """Rewrites what uses the program."""

    def __init__(self, dependence: Dependence) -> None:
        self._dependence = dependence
        self._uses: dict[int, bool] = {}

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node after its parts; whether it uses the program is asked before."""
        if not isinstance(node, (ast.Call, ast.Await, ast.Compare, ast.BinOp)):
            return super().visit(node)
        uses = self._dependence.uses_program(node)
        node = self.generic_visit(node)
        return self._rewritten(node) if uses else node

    def visit_Match(self, node: Any) -> Any:
        """Compare the subject as a plain value."""
        node = self.generic_visit(node)
        node.subject = _call(_PLAIN, node.subject, node.subject)
        return node

    def _rewritten(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Compare):
            names = " ".join(type(one).__name__ for one in node.ops)
            return _call(_COMPARE, node, ast.Constant(names), node.left, *node.comparators)
        if isinstance(node, ast.BinOp):
            return _call(_OPERATE, node, ast.Constant(type(node.op).__name__), node.left, node.right)
        if isinstance(node, ast.Call) and _COMPARING.fullmatch(getattr(node.func, "attr", "")):
            node.args = [one if isinstance(one, ast.Starred) else _call(_PLAIN, one, one) for one in node.args]
            return node
        return _call(_ANSWER, node, node)


def _call(name: str, place: ast.AST, *arguments: Any) -> ast.Call:
    function = ast.copy_location(ast.Name(name, ast.Load()), place)
    return ast.copy_location(ast.Call(func=function, args=list(arguments), keywords=[]), place)
