"""Functions of the tests that go to the program as code: those that keep nothing between two calls.

Such a function uses its arguments, constants, modules, builtins and other functions of the kind. One that changes a
variable, or holds something that can change, stays with the tests, and they share the program's process. Code goes this
way alone: never from a program to its tests.
"""

from __future__ import annotations

import base64
import builtins
import dis
import importlib
import marshal
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

_CONSTANTS = (int, float, complex, str, bytes, bool, type(None))
_CHANGES = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"))
_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
_HIDES_NAMES = frozenset(("exec", "eval", "globals", "locals", "vars", "compile", "open", "input", "print", "id"))
_COUNT_MAX = 64
_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset())
"""None before Python 3.10: all functions stay with the tests there."""
_METHOD = type(str.upper)


class NotPortable(Exception):
    """A value that a function uses and that cannot go with it."""


class Porter:
    """Packs functions of the tests."""

    def __init__(self, refer: Callable[[Any], int | None]) -> None:
        """Start to pack.

        Args:
            refer: Returns the number of an object of the program, None for what is the tests'.
        """
        self._refer = refer
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}

    def packed(self, value: Any) -> dict[str, Any] | None:
        """Return a function as it goes to the program, None where it stays with the tests."""
        try:
            return self._packed(value, {})
        except NotPortable:
            return None

    def _packed(self, value: Any, seen: dict[int, int]) -> dict[str, Any]:
        if isinstance(value, (types.BuiltinFunctionType, _METHOD)):
            return {"builtin": _place_of(value)}
        if type(value) is not types.FunctionType:
            raise NotPortable
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        if id(value) in seen:
            return {"own": number}
        if len(seen) > _COUNT_MAX or value.__dict__:
            raise NotPortable
        seen[id(value)] = number
        code = value.__code__
        names = _global_names(code)
        known = {name: value.__globals__[name] for name in names if name in value.__globals__}
        if any(not hasattr(builtins, name) for name in names if name not in known):
            raise NotPortable
        return {
            "own": number,
            "code": base64.b64encode(marshal.dumps(code)).decode("ascii"),
            "name": value.__name__,
            "globals": {name: self._used(used, seen) for name, used in known.items()},
            "defaults": [self._used(used, seen) for used in value.__defaults__ or ()],
            "options": {name: self._used(used, seen) for name, used in (value.__kwdefaults__ or {}).items()},
            "closure": [self._used(_content_of(cell), seen) for cell in value.__closure__ or ()],
        }

    def _used(self, value: Any, seen: dict[int, int]) -> Any:
        """Return something that a function uses."""
        if type(value) in _CONSTANTS:
            return {"constant": base64.b64encode(marshal.dumps(value)).decode("ascii")}
        if type(value) is tuple:
            return {"tuple": [self._used(item, seen) for item in value]}
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] not in _STANDARD:
                raise NotPortable
            return {"module": value.__name__}
        if isinstance(value, type):
            return {"builtin": _place_of_type(value)}
        reference = self._refer(value)
        return self._packed(value, seen) if reference is None else {"reference": reference}


class Unpacker:
    """Makes functions of what the tests sent."""

    def __init__(self, resolve: Callable[[int], Any]) -> None:
        """Start to make.

        Args:
            resolve: Returns the program's object of a number.
        """
        self._resolve = resolve
        self._made: dict[int, Any] = {}

    def function(self, data: dict[str, Any]) -> Any:
        """Return the function that `Porter.packed` packed; the same one for the same function of the tests."""
        if "builtin" in data:
            return _found(data["builtin"])
        number = data["own"]
        if number in self._made:
            return self._made[number]
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": "tests"}
        code = marshal.loads(base64.b64decode(data["code"]))  # noqa: S302 - it comes from the tests
        cells = tuple(types.CellType() for _ in data["closure"])
        function = self._made[number] = types.FunctionType(code, names, data["name"], None, cells)
        for cell, used in zip(cells, data["closure"]):  # noqa: B905 - Python 3.9
            cell.cell_contents = self._used(used)
        names.update({name: self._used(used) for name, used in data["globals"].items()})
        function.__defaults__ = tuple(self._used(used) for used in data["defaults"]) or None
        function.__kwdefaults__ = {name: self._used(used) for name, used in data["options"].items()} or None
        return function

    def _used(self, data: dict[str, Any]) -> Any:
        if "constant" in data:
            return marshal.loads(base64.b64decode(data["constant"]))  # noqa: S302 - likewise
        if "tuple" in data:
            return tuple(self._used(item) for item in data["tuple"])
        if "module" in data:
            return importlib.import_module(data["module"])
        return self._resolve(data["reference"]) if "reference" in data else self.function(data)


def _global_names(code: types.CodeType) -> set[str]:
    """Return the global names that a function and those within it use."""
    found: set[str] = set()
    for inner in _codes(code):
        if inner.co_flags & 0x280:  # a coroutine, or an asynchronous generator
            raise NotPortable
        for instruction in dis.get_instructions(inner):
            # A function may change what is its own or an outer function's within it, not what outlives its call.
            is_own = instruction.argval in inner.co_cellvars or inner is not code
            if instruction.opname in _CHANGES and not (is_own and instruction.opname.endswith("DEREF")):
                raise NotPortable
            if instruction.opname in _GLOBALS:
                found.add(instruction.argval)
    if found & _HIDES_NAMES or _changes_free(code):
        raise NotPortable
    return found


def _changes_free(code: types.CodeType) -> bool:
    """Return whether a function within one changes a variable that is outside of both."""
    return any(
        instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in code.co_freevars
        for inner in _codes(code)
        for instruction in dis.get_instructions(inner)
    )


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise NotPortable from None


def _place_of(value: Any) -> str:
    """Return module and name of a builtin function, or of a method that belongs to no object."""
    owner = getattr(value, "__objclass__", None)
    module = owner.__module__ if owner is not None else getattr(value, "__module__", None)
    name = f"{owner.__name__}.{value.__name__}" if owner is not None else value.__name__
    place = f"{module}:{name}"
    try:
        is_found = _found(place) is value and str(module).partition(".")[0] in _STANDARD
    except (ImportError, AttributeError, ValueError, TypeError):
        is_found = False
    if not is_found or name in _HIDES_NAMES:
        raise NotPortable
    return place


def _place_of_type(value: type) -> str:
    module, name = str(value.__module__), str(value.__name__)
    is_found = vars(sys.modules[module]).get(name) is value if module in sys.modules else False
    if not is_found or module.partition(".")[0] not in _STANDARD or module == "__main__":
        raise NotPortable
    return f"{module}:{name}"


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
