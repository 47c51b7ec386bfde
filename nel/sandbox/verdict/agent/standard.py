"""Values of the standard library: what they are made of, which class they have, how they change.

The tables that `codec` encodes by, with the arrays and scalars of numpy where a program has it.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import datetime
import decimal
import fractions
import functools
import sys
import types
import zoneinfo
from collections.abc import Callable
from typing import Any

CHANGES = frozenset(
    "append extend insert pop remove clear update add discard setdefault sort reverse popitem"
    " appendleft popleft extendleft __setitem__ __delitem__".split()
)
"""Methods that change a container."""
_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))
CHANGEABLE = frozenset(
    (
        *(list, dict, set, bytearray, collections.deque),
        *(collections.defaultdict, collections.Counter, collections.OrderedDict),
    )
)
"""Containers that both ends may keep: each is told what the other has changed."""
_OF_CLASSES = frozenset(
    "__module__ __doc__ __dict__ __weakref__ __slots__ __annotations__ __orig_bases__ __init__"
    " __parameters__ __abstractmethods__ _abc_impl".split()
)
_MAKES = _OF_CLASSES | {"__new__"}
_OF_TUPLES = _OF_CLASSES | {*vars(collections.namedtuple("_Empty", ()))}
"""What says nothing of a class, and of the class of a named tuple."""
CLASSES: dict[str, Any] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and not name.startswith("_")
    if not issubclass(kind, BaseException) or issubclass(kind, Exception)
} | {"NoneType": type(None), "Ellipsis": ..., "NotImplemented": NotImplemented}
CLASS_NAMES = {id(kind): name for name, kind in CLASSES.items()}
VIEWS = (type({}.keys()), type({}.items()), type({}.values()))  # type: ignore[var-annotated]
"""Those of a dictionary, which change with it."""
BY_PARTS: dict[Any, Callable[[Any], list[Any]]] = {
    **dict.fromkeys(VIEWS, lambda value: [tuple(value)]),
    bytes: lambda value: [value.hex()],
    bytearray: lambda value: [value.hex()],
    complex: lambda value: [value.real, value.imag],
    range: lambda value: [value.start, value.stop, value.step],
    slice: lambda value: [value.start, value.stop, value.step],
    decimal.Decimal: lambda value: [str(value)],
    fractions.Fraction: lambda value: [value.numerator, value.denominator],
    datetime.time: lambda value: [value.replace(tzinfo=None).isoformat(), value.tzinfo, value.fold],
    datetime.datetime: lambda value: [
        value.replace(tzinfo=None).isoformat(),
        value.tzinfo,
        value.fold,
    ],
    zoneinfo.ZoneInfo: lambda value: [value.key],
    datetime.timezone: lambda value: list(value.__getinitargs__()),
    datetime.date: lambda value: [value.isoformat()],
    datetime.timedelta: lambda value: [value.days, value.seconds, value.microseconds],
    collections.deque: lambda value: [tuple(value), value.maxlen],
    collections.Counter: lambda value: [tuple(value.items())],
    collections.OrderedDict: lambda value: [tuple(value.items())],
    collections.defaultdict: lambda value: [value.default_factory, tuple(value.items())],
}
"""What each of these is made of; those of `MAKERS` are not made by calling the class."""
MAKERS: dict[Any, Callable[..., Any]] = {
    VIEWS[0]: lambda keys: dict.fromkeys(keys).keys(),
    VIEWS[1]: lambda pairs: dict(pairs).items(),
    VIEWS[2]: lambda values: dict(enumerate(values)).values(),
    collections.Counter: lambda pairs: collections.Counter(dict(pairs)),
    bytes: bytes.fromhex,
    bytearray: bytearray.fromhex,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: lambda text, zone, fold: _in_zone(datetime.time, text, zone, fold),
    datetime.datetime: lambda text, zone, fold: _in_zone(datetime.datetime, text, zone, fold),
}
PLACES = {f"{kind.__module__}:{kind.__name__}": kind for kind in BY_PARTS}
CLASSES.update(PLACES)
CLASS_NAMES.update(
    (id(kind), place) for place, kind in PLACES.items() if id(kind) not in CLASS_NAMES
)
_UNNAMED = {
    f"builtins:{kind.__name__}": kind
    for kind in vars(types).values()
    if isinstance(kind, type) and kind.__module__ == "builtins"
}
"""Classes that the module `builtins` does not name, such as the one of generators."""
REDUCED: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__mul__(value, 1.0)),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (bytes, lambda value: bytes(bytes.__iter__(value))),
    (list, lambda value: list(list.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
)
EQUAL_TO_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    *REDUCED,
    (collections.abc.Mapping, dict),
    (collections.abc.KeysView, set),
    (collections.abc.ItemsView, set),
    (collections.UserList, list),
    (collections.UserString, str),
    (memoryview, bytes),
)
"""What compares itself with plain values by what it holds, as the standard library has it."""


_METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)


def place_of(kind: type) -> str:
    """Return the name of a class of the standard library; empty for any other."""
    module, name = kind.__module__, kind.__name__
    is_same = class_at(address := f"{module}:{name}") is kind
    return address if is_same else ""


def owner_of(value: Any) -> Any:
    """Return what a method, or a descriptor of a class, belongs to; None for anything else."""
    if isinstance(value, _DESCRIPTORS):
        return value.__objclass__
    return value.__self__ if isinstance(value, _METHODS) else None


def class_at(address: str) -> type | None:
    """Return the class of the standard library of this name, where its module is loaded."""
    module, _, name = address.partition(":")
    is_standard = module.partition(".")[0] in (*_STANDARD, "numpy") and module in sys.modules
    kind = vars(sys.modules[module]).get(name) if is_standard else None
    return kind if isinstance(kind, type) else _UNNAMED.get(address)


def is_changeable(value: Any) -> bool:
    """Return whether a value is a container or an array that `refill` can change."""
    kind: Any = type(value)
    return kind in CHANGEABLE or _is_container(kind)


@functools.lru_cache(maxsize=256)
def _is_container(kind: type) -> bool:
    is_reduced = issubclass(kind, (list, dict, set)) and not has_members(kind)
    is_array = (kind.__module__, kind.__name__) == ("numpy", "ndarray")
    return is_array or is_reduced


def refill(old: Any, new: Any) -> Any:
    """Give a container the contents of another of its kind; return what holds them now."""
    if not isinstance(old, type(new)):
        return new
    if isinstance(old, (list, bytearray, collections.deque)):
        old.clear()
        old.extend(new)
    elif isinstance(old, (dict, set)):
        old.clear()
        old.update(new)
    elif (old.shape, old.dtype) == (new.shape, new.dtype):
        old[...] = new
    else:
        return new
    return old


def has_members(kind: type) -> bool:
    """Return whether a class derived from a plain one has methods or attributes of its own."""
    return any(
        name not in (_OF_TUPLES if "_fields" in vars(base) else _OF_CLASSES)
        and name not in getattr(kind, "_fields", ())
        for base in kind.__mro__
        if vars(builtins).get(base.__name__) is not base
        for name in vars(base)
    )


def overrides(kind: type, base: type) -> bool:
    """Return whether a class does by itself something that the plain one does."""
    derived = kind.__mro__[: kind.__mro__.index(base)]
    return any(name in vars(base) for each in derived for name in {*vars(each)} - _MAKES)


def array_parts(value: Any, kind: type) -> Any:
    """Return type, shape and bytes of a numpy array or scalar; None for anything else."""
    numpy = sys.modules.get("numpy")
    if not isinstance(numpy, types.ModuleType) or kind.__module__.partition(".")[0] != "numpy":
        return None
    if issubclass(kind, numpy.dtype) and value.kind != "V":
        return [value.str, None, None]
    is_array = kind is numpy.ndarray
    if not (is_array or issubclass(kind, numpy.generic)) or value.dtype.kind in "OV":
        return None  # objects and records
    return [value.dtype.str, list(value.shape) if is_array else None, value.tobytes().hex()]


def _in_zone(kind: Any, text: str, zone: Any, fold: int) -> Any:
    return kind.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def is_in_other_zone(value: Any) -> bool:
    """Return whether a time is in a zone without a plain form."""
    zone = getattr(value, "tzinfo", None)
    return zone is not None and type(zone) not in BY_PARTS
