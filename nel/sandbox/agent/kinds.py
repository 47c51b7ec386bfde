"""Values of the standard library that cross by their parts, and builtin classes that cross by their names.

A class is recognised by being the very object of that name in its module; what a program calls so is its own.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

_TYPES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice),
        *(object, type, type(None)),
    )
}
_TYPES |= {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind.__name__ == name
}
_TYPES |= {"Ellipsis": ..., "NotImplemented": NotImplemented}
_NAMES = {id(value): name for name, value in _TYPES.items()}

_PARTS: dict[str, Callable[[Any], list[Any]]] = {
    "builtins:slice": lambda value: [value.start, value.stop, value.step],
    "uuid:UUID": lambda value: [str(value)],
    "pathlib:PosixPath": lambda value: [str(value)],
    "pathlib:PurePosixPath": lambda value: [str(value)],
    "ipaddress:IPv4Address": lambda value: [str(value)],
    "ipaddress:IPv6Address": lambda value: [str(value)],
    "datetime:timezone": lambda value: [value.utcoffset(None)],
}
_CHANGING_PARTS: dict[str, Callable[[Any], list[Any]]] = {
    "builtins:memoryview": lambda value: [bytes(value)],
    "types:MappingProxyType": lambda value: [dict(value)],
    "types:SimpleNamespace": lambda value: [dict(vars(value))],
    "array:array": lambda value: [value.typecode, value.tolist()],
    "collections:UserDict": lambda value: [dict(value.data)],
    "collections:UserList": lambda value: [list(value.data)],
    "collections:UserString": lambda value: [str(value.data)],
    "collections:ChainMap": lambda value: list(value.maps),
}
"""What changes later would not be seen to have changed; so it crosses as an answer alone."""
_ALL = {**_PARTS, **_CHANGING_PARTS}


def name_of(value: Any) -> str | None:
    """Return the name of a builtin class or constant; None for anything else."""
    return _NAMES.get(id(value))


def type_of(name: Any) -> Any:
    """Return the builtin class or constant of a name."""
    return _TYPES[name]


def parts_of(value: Any, *, is_answer: bool) -> tuple[str, list[Any]] | None:
    """Return the class of a value of the standard library and what it is made of; None for anything else."""
    kind = type(value)
    module, name = kind.__module__, kind.__name__
    name = "MappingProxyType" if kind is types.MappingProxyType else name
    module = "types" if module == "builtins" and name == "MappingProxyType" else module
    place = f"{module}:{name}"
    parts = (_ALL if is_answer else _PARTS).get(place)
    if parts is None or getattr(sys.modules.get(module), name, None) is not kind:
        return None
    return place, parts(value)


def made_of(place: Any, parts: list[Any]) -> Any:
    """Return a value of the standard library of its parts."""
    if place not in _ALL:
        raise KeyError(place)
    module, _, name = place.partition(":")
    kind = getattr(importlib.import_module(module), name)
    return kind(**parts[0]) if name == "SimpleNamespace" else kind(*parts)
