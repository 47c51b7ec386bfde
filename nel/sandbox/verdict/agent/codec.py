"""Plain values as JSON and back: what may cross between a program and its tests.

Exact builtin types cross by value; a subclass is reduced to the builtin it derives from, so that
nothing it overrides crosses with it. Often used values of the standard library cross by their
parts. Everything else has no plain form: it crosses as a reference into the program's process, or
not at all. Never pickle, marshal or ``eval``; the bytes come from a hostile process, whose words
name no module.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import math
import sys
import types
import zoneinfo
from collections.abc import Callable
from typing import Any, ClassVar

PROGRAM = "solution"
"""The module that a program is."""
DEPTH_MAX = 200
ANSWER_DEPTH_MAX = DEPTH_MAX // 2
"""Less, so that whatever came as an answer can be passed back in an argument."""
_PLAIN_INT_MAX = 1 << 53
_FIELDS_MAX = 64
CHANGES = frozenset(
    "append extend insert pop remove clear update add discard setdefault sort reverse popitem"
    " appendleft popleft extendleft __setitem__ __delitem__".split()
)
"""Methods that change a container."""
_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))
CHANGEABLE = (
    *(list, dict, set, bytearray, collections.deque),
    *(collections.defaultdict, collections.Counter, collections.OrderedDict),
)
"""Containers that both ends may keep: each is told what the other has changed."""
_OF_CLASSES = frozenset(
    "__module__ __doc__ __dict__ __weakref__ __slots__ __annotations__ __orig_bases__ __init__"
    " __parameters__ __abstractmethods__ _abc_impl".split()
)
_OF_TUPLES = _OF_CLASSES | {*vars(collections.namedtuple("_Empty", ()))}
"""What says nothing of a class, and of the class of a named tuple."""


class CannotCross(BaseException):
    """A value that has no plain form is to be passed or compared.

    Not an `Exception`, so that tests cannot catch it.
    """


class TooDeep(Exception):
    """A value that is nested beyond all measure, or holds itself."""


class BadValue(Exception):
    """Data that is not an encoded value."""


class StandIn:
    """What stands for an object of the program in the tests."""

    __slots__ = ()


class ValueStandIn(StandIn):
    """What crossed by value and stands for an object, which is asked for its other attributes."""

    _at: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._at is None or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._at, name)


_CLASSES: dict[str, Any] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and not name.startswith("_")
    if not issubclass(kind, BaseException) or issubclass(kind, Exception)
} | {"NoneType": type(None), "Ellipsis": ..., "NotImplemented": NotImplemented}
_CLASS_NAMES = {id(kind): name for name, kind in _CLASSES.items()}
_KEYS, _ITEMS, _VALUES = (type({}.keys()), type({}.items()), type({}.values()))  # type: ignore[var-annotated]
_BY_PARTS: dict[Any, Callable[[Any], list[Any]]] = {
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
    datetime.date: lambda value: [value.isoformat()],
    zoneinfo.ZoneInfo: lambda value: [value.key],
    datetime.timedelta: lambda value: [value.days, value.seconds, value.microseconds],
    datetime.timezone: lambda value: list(value.__getinitargs__()),
    _KEYS: lambda value: [list(value)],
    _ITEMS: lambda value: [[list(pair) for pair in value]],
    _VALUES: lambda value: [list(value)],
    collections.deque: lambda value: [list(value), value.maxlen],
    collections.Counter: lambda value: [dict(value)],
    collections.OrderedDict: lambda value: [[list(pair) for pair in value.items()]],
    collections.defaultdict: lambda value: [value.default_factory, dict(value)],
}
"""What each of these is made of; those of `_MAKERS` are not made by calling the class."""
_MAKERS: dict[Any, Callable[..., Any]] = {
    _KEYS: lambda keys: dict.fromkeys(keys).keys(),
    _ITEMS: lambda pairs: dict(pairs).items(),
    _VALUES: lambda values: dict(enumerate(values)).values(),
    bytes: bytes.fromhex,
    bytearray: bytearray.fromhex,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: lambda text, zone, fold: _in_zone(datetime.time, text, zone, fold),
    datetime.datetime: lambda text, zone, fold: _in_zone(datetime.datetime, text, zone, fold),
}
_PLACES = {f"{kind.__module__}:{kind.__name__}": kind for kind in _BY_PARTS}
_CLASSES.update(_PLACES)
_CLASS_NAMES.update(
    (id(kind), place) for place, kind in _PLACES.items() if id(kind) not in _CLASS_NAMES
)
_UNNAMED = {
    f"builtins:{kind.__name__}": kind
    for kind in vars(types).values()
    if isinstance(kind, type) and kind.__module__ == "builtins"
}
"""Classes that the module `builtins` does not name, such as the one of generators."""
_REDUCED: tuple[tuple[type, Callable[[Any], Any]], ...] = (
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
_CARRIED = (str, int, float, bytes)
"""Of these a subclass crosses by its value, and its own methods are asked of the object."""
_EQUAL_TO_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    *_REDUCED,
    (collections.abc.Mapping, dict),
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


class Sender:
    """Encodes values as something `json` can write."""

    def __init__(self, refer: Callable[[Any], Any], depth_max: int = DEPTH_MAX) -> None:
        """Prepare to encode.

        Args:
            refer: Returns the encoded form of an object that crosses by reference, or raises
                `CannotCross`.
            depth_max: Deeper values raise `TooDeep`.
        """
        self._refer = refer
        self._depth_max = depth_max

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a value in its plain form; raises `TooDeep`, and what `refer` raises."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_PLAIN_INT_MAX < value < _PLAIN_INT_MAX else ["i", hex(value)]
        if kind is float:
            return value if math.isfinite(value) else ["f", repr(value)]
        if depth >= self._depth_max:
            raise TooDeep(f"it is nested more than {self._depth_max} deep")
        if kind in (list, tuple, set, frozenset):
            return [_TAGS[kind], [self.encode(item, depth + 1) for item in value]]
        if kind is dict:
            return ["d", self._encode_all((item for pair in value.items() for item in pair), depth)]
        if kind in _BY_PARTS and not _is_in_other_zone(value):
            address = f"{kind.__module__}:{kind.__name__}"
            return ["x", [address, self._encode_all(_BY_PARTS[kind](value), depth)]]
        return self._encode_object(value, kind, depth)

    def plain(self, value: Any) -> Any:
        """Return what an object compares with plain values by what it holds, None for others."""
        kind = type(value)
        for base, make in _EQUAL_TO_PLAIN:
            if issubclass(kind, base):
                return make(value)
        for base, parts in _BY_PARTS.items():
            if issubclass(kind, base):
                return _MAKERS.get(base, base)(*parts(value))
        return None

    def _encode_all(self, values: Any, depth: int) -> list[Any]:
        return [self.encode(value, depth + 1) for value in values]

    def _encode_object(self, value: Any, kind: type, depth: int) -> Any:
        if id(value) in _CLASS_NAMES:
            return ["y", _CLASS_NAMES[id(value)]]
        if issubclass(kind, (StandIn, enum.Enum, BaseException)):
            return self._refer(value)
        has_members = _has_members(kind)
        names: Any = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
        if type(names) is tuple and set(map(type, names)) <= {str} and not has_members:
            items = self._encode_all(tuple.__iter__(value), depth)
            at = self._refer(value) if kind.__module__ == PROGRAM else None
            return ["n", [kind.__name__, list(names), items, at]]
        if (array := _array_parts(value, kind)) is not None:
            return ["a", array]
        for base, reduce in _REDUCED:
            if not issubclass(kind, base):
                continue
            if not has_members:
                return self.encode(reduce(value), depth)
            if base in _CARRIED:
                return ["v", [self.encode(reduce(value), depth + 1), self._refer(value)]]
        return self._refer(value)


class Receiver:
    """Decodes what a `Sender` encoded."""

    def __init__(
        self,
        resolve: Callable[[str, Any], Any],
        depth_max: int = DEPTH_MAX,
    ) -> None:
        """Prepare to decode.

        Args:
            resolve: Returns what stands for the object of a reference or of an exception.
            depth_max: Deeper values are not values.
        """
        self._depth_max = depth_max
        self._resolve = resolve

    def decode(self, data: Any) -> Any:
        """Return the value; raises `BadValue` for data that no `Sender` makes."""
        try:
            return self._decode(data, 0)
        except BadValue:
            raise
        except BaseException as error:  # noqa: BLE001 - what a foreign body makes of it
            raise BadValue(f"no encoded value: {type(error).__name__}") from None

    def _decode(self, data: Any, depth: int) -> Any:
        if data is None or isinstance(data, (bool, str, int, float)):
            return data
        if depth > self._depth_max:
            raise BadValue("a value that is nested too deep")
        tag, body = data
        if tag in ("R", "e", "k"):
            return self._resolve(tag, body)
        if tag in _SEQUENCES:
            return _SEQUENCES[tag]([self._decode(item, depth + 1) for item in body])
        if tag == "d":
            parts = [self._decode(encoded, depth + 1) for encoded in body]
            return {parts[at]: parts[at + 1] for at in range(0, len(parts), 2)}
        if tag == "i":
            return int(body, 16)
        if tag == "f":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body]
        return self._OTHERS[tag](self, body, depth + 1)

    def _decoded_parts(self, body: Any, depth: int) -> Any:
        kind = _PLACES[body[0]]
        return _MAKERS.get(kind, kind)(*[self._decode(item, depth) for item in body[1]])

    def _decoded_class(self, body: Any, depth: int) -> Any:
        return _CLASSES[body]

    def _decoded_tuple(self, body: Any, depth: int) -> Any:
        name, fields, items, at = body
        if len(fields) > _FIELDS_MAX or max(map(len, (name, *fields))) > _FIELDS_MAX:
            raise BadValue("too large a tuple")
        kind = _tuple_class(name, tuple(fields), at is not None)
        value = tuple.__new__(kind, [self._decode(item, depth) for item in items])
        return value if at is None else _carry(value, self._decode(at, depth))

    def _decoded_subclass(self, body: Any, depth: int) -> Any:
        value, at = (self._decode(item, depth) for item in body)
        return _carry(_carried_class(_CARRIED[_CARRIED.index(type(value))])(value), at)

    def _decoded_array(self, body: Any, depth: int) -> Any:
        numpy = importlib.import_module("numpy")
        kind, shape, data = body
        if data is None:
            return numpy.dtype(kind)
        array = numpy.frombuffer(bytes.fromhex(data), dtype=numpy.dtype(kind)).copy()
        return array.reshape(shape) if shape is not None else array[0]

    _OTHERS: ClassVar[dict[Any, Callable[..., Any]]] = {
        "x": _decoded_parts,
        "y": _decoded_class,
        "n": _decoded_tuple,
        "v": _decoded_subclass,
        "a": _decoded_array,
    }


def _carry(value: Any, at: Any) -> Any:
    value._at = at  # noqa: SLF001 - of `ValueStandIn`
    return value


@functools.lru_cache(maxsize=64)
def _tuple_class(name: str, fields: tuple[str, ...], is_carried: bool) -> Any:
    make: Any = collections.namedtuple
    kind = make(name, fields, module=PROGRAM if is_carried else "collections")
    return type(name, (ValueStandIn, kind), {"__module__": PROGRAM}) if is_carried else kind


@functools.lru_cache(maxsize=8)
def _carried_class(base: type) -> Any:
    return type(base.__name__, (ValueStandIn, base), {"__module__": PROGRAM})


def _in_zone(kind: Any, text: str, zone: Any, fold: int) -> Any:
    return kind.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _is_in_other_zone(value: Any) -> bool:
    """Return whether a time is in a zone without a plain form."""
    zone = getattr(value, "tzinfo", None)
    return zone is not None and type(zone) not in _BY_PARTS


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
    """Return whether a value is a container or an array that `become` can change."""
    kind = type(value)
    return kind in CHANGEABLE or (kind.__module__, kind.__name__) == ("numpy", "ndarray")


def become(old: Any, new: Any) -> Any:
    """Change a value into another of its kind, as far as it can change; return what it is now.

    Lists and dictionaries within it stay the same objects where both values hold one.
    """
    if type(old) is not type(new) or old is new:
        return new
    if type(old) is list:
        matched = [become(a, b) for a, b in zip(old, new)]  # noqa: B905 - Python 3.9
        old[:] = matched + new[len(matched) :]
    elif isinstance(old, dict):
        items = [(key, become(old[key], item) if key in old else item) for key, item in new.items()]
        old.clear()
        for key, item in items:
            old[key] = item
    elif type(old) is tuple:
        for a, b in zip(old, new):  # noqa: B905 - Python 3.9
            become(a, b)
        return new
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    elif isinstance(old, (bytearray, collections.deque)):
        old.clear()
        old.extend(new)
    elif is_changeable(old) and (old.shape, old.dtype) == (new.shape, new.dtype):
        old[...] = new
    else:
        return new
    return old


def _has_members(kind: type) -> bool:
    """Return whether a class derived from a plain one has methods or attributes of its own."""
    return any(
        name not in (_OF_TUPLES if "_fields" in vars(base) else _OF_CLASSES)
        and name not in getattr(kind, "_fields", ())
        for base in kind.__mro__
        if base not in _BY_PARTS and vars(builtins).get(base.__name__) is not base
        for name in vars(base)
    )


def _array_parts(value: Any, kind: type) -> Any:
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


_TAGS: dict[type, str] = {list: "l", tuple: "t", set: "S", frozenset: "z"}
_SEQUENCES: dict[Any, Callable[[Any], Any]] = {"l": list, "t": tuple, "S": set, "z": frozenset}
