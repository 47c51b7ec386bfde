"""Plain values as JSON and back: what may cross between a program and its tests.

Exact builtin types cross by value; a subclass is reduced to the builtin it derives from, so that
nothing it overrides crosses with it. Often used values of the standard library cross by their
parts. Everything else has no plain form: it crosses as a reference into the program's process, or
not at all. Never pickle, marshal or ``eval``; the bytes come from a hostile process, whose words
name no module.
"""

from __future__ import annotations

import abc
import collections
import enum
import functools
import importlib
import math
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nel.sandbox.verdict.agent import standard

PROGRAM = "solution"
"""The module that a program is."""
DEPTH_MAX = 200
ANSWER_DEPTH_MAX = DEPTH_MAX // 2
"""Less, so that whatever came as an answer can be passed back in an argument."""
_PLAIN_INT_MAX = 1 << 53
_FIELDS_MAX = 64


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


_CARRIED = (str, int, float, bytes)
"""Of these a subclass crosses by its value, and its own methods are asked of the object."""


class Parts:
    """The containers within a value, each once, in an order that is the same at both ends.

    Encoded once more, a container at another place than before says at which it was.
    """

    def __init__(self, before: Sequence[Any] | None = None, group: int | None = None) -> None:
        """Begin without any.

        Args:
            before: Those of the value when it crossed last; None if it never did.
            group: The number of the value in `Containers`.
        """
        self.before = before
        self.group = group
        self.seen: dict[int, tuple[int, Any]] = {}
        self._places = {id(part): place for place, part in enumerate(before or ())}

    def all(self) -> list[Any]:
        """Return the containers."""
        return [part for _, part in self.seen.values()]

    def mark_place(self, part: Any, form: Any) -> Any:
        """Return the form of a container with the place where it was, if that is another."""
        was = self._places.get(id(part), -1)
        return form if was == self.seen[id(part)][0] else ["o", [was, form]]


class Sender:
    """Encodes values as something `json` can write."""

    def __init__(
        self,
        refer: Callable[[Any], Any],
        depth_max: int = DEPTH_MAX,
        addresses: Mapping[int, list[int]] = types.MappingProxyType({}),
    ) -> None:
        """Prepare to encode.

        Args:
            refer: Returns the encoded form of an object that crosses by reference, or raises
                `CannotCross`.
            depth_max: Deeper values raise `TooDeep`.
            addresses: Where both ends have a container, by its `id`.
        """
        self._refer = refer
        self._depth_max = depth_max
        self._addresses = addresses
        self.referred: tuple[type, ...] = ()
        """Classes of values that cross by reference, although they have parts."""
        self.is_of_class = False
        """Whether values are of a class under test, which is asked for what it overrides."""

    def encode(self, value: Any, parts: Parts | None = None) -> Any:
        """Return a value in its plain form; raises `TooDeep`, and what `refer` raises."""
        return self._encode(value, 0, Parts() if parts is None else parts)

    def _encode(self, value: Any, depth: int, parts: Parts) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_PLAIN_INT_MAX < value < _PLAIN_INT_MAX else ["i", hex(value)]
        if kind is float:
            return value if math.isfinite(value) else ["f", repr(value)]
        if depth >= self._depth_max:
            raise TooDeep(f"it is nested more than {self._depth_max} deep")
        if type(kind) not in (type, abc.ABCMeta):  # one of the program compares as it likes
            return self._encode_object(value, kind, depth, parts)
        if not standard.is_changeable(value):
            return self._encode_body(value, kind, depth, parts)
        key = id(value)
        if key in parts.seen:
            return ["b", parts.seen[key][0]]
        address = self._addresses.get(key)
        if address is not None and address[0] != parts.group:
            return ["c", address]
        form = self._encode_body(value, kind, depth, parts)
        parts.seen[key] = (len(parts.seen), value)
        return form if parts.before is None else parts.mark_place(value, form)

    def _encode_body(self, value: Any, kind: type, depth: int, parts: Parts) -> Any:
        if kind in _TAGS:
            return [_TAGS[kind], self._encode_all(value, depth, parts)]
        if kind is dict:
            items = (item for pair in value.items() for item in pair)
            return ["d", self._encode_all(items, depth, parts)]
        has_parts = kind in standard.BY_PARTS and kind not in self.referred
        if has_parts and not standard.is_in_other_zone(value):
            address = f"{kind.__module__}:{kind.__name__}"
            return ["x", [address, self._encode_all(standard.BY_PARTS[kind](value), depth, parts)]]
        return self._encode_object(value, kind, depth, parts)

    def plain(self, value: Any) -> Any:
        """Return what an object compares with plain values by what it holds, None for others."""
        kind = type(value)
        for base, make in standard.EQUAL_TO_PLAIN:
            if issubclass(kind, base):
                return make(value)
        for base, parts in standard.BY_PARTS.items():
            if issubclass(kind, base):
                return standard.MAKERS.get(base, base)(*parts(value))
        return None

    def _encode_all(self, values: Any, depth: int, parts: Parts) -> list[Any]:
        return [self._encode(value, depth + 1, parts) for value in values]

    def _encode_object(self, value: Any, kind: type, depth: int, parts: Parts) -> Any:
        if id(value) in standard.CLASS_NAMES:
            return ["y", standard.CLASS_NAMES[id(value)]]
        if issubclass(kind, (StandIn, enum.Enum, BaseException)):
            return self._refer(value)
        has_members = standard.has_members(kind)
        names: Any = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
        if type(names) is tuple and set(map(type, names)) <= {str} and not has_members:
            items = self._encode_all(tuple.__iter__(value), depth, parts)
            at = self._refer(value) if kind.__module__ == PROGRAM else None
            return ["n", [kind.__name__, list(names), items, at]]
        if (array := standard.array_parts(value, kind)) is not None:
            return ["a", array]
        for base, reduce in standard.REDUCED:
            if not issubclass(kind, base):
                continue
            if not has_members and (base in _TAGS or base is dict):
                return self._encode_body(reduce(value), base, depth, parts)
            if not has_members:
                return self._encode(reduce(value), depth, parts)
            if base in _CARRIED and not (self.is_of_class and standard.overrides(kind, base)):
                return ["v", [self._encode(reduce(value), depth + 1, parts), self._refer(value)]]
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

    def decode(
        self, data: Any, parts: list[Any] | None = None, before: Sequence[Any] | None = None
    ) -> Any:
        """Return the value; raises `BadValue` for data that no `Sender` makes.

        Args:
            parts: Gets the containers within the value, as `Parts` has them.
            before: Those of the value when it crossed last, which are changed into the new ones.
        """
        try:
            return self._decode(data, 0, [] if parts is None else parts, before or ())
        except BadValue:
            raise
        except BaseException as error:  # noqa: BLE001 - what a foreign body makes of it
            raise BadValue(f"no encoded value: {type(error).__name__}") from None

    def _decode(self, data: Any, depth: int, parts: list[Any], before: Sequence[Any]) -> Any:
        if data is None or isinstance(data, (bool, str, int, float)):
            return data
        if depth > self._depth_max:
            raise BadValue("a value that is nested too deep")
        tag, body = data
        if tag in ("R", "e", "k", "c"):
            return self._resolve(tag, body)
        if tag == "b":
            return parts[body]
        was = None
        if tag == "o":
            was, (tag, body) = body
        encoded = body if tag in _WHOLE else _WITHIN[tag](body) if tag in _WITHIN else ()
        items = [self._decode(item, depth + 1, parts, before) for item in encoded]
        value = _MADE[tag](body, items)
        if standard.is_changeable(value):
            place = len(parts) if was is None else was
            if 0 <= place < len(before):
                value = standard.refill(before[place], value)
            parts.append(value)
        return value


def _parts_made(body: Any, items: list[Any]) -> Any:
    kind = standard.PLACES[body[0]]
    return standard.MAKERS.get(kind, kind)(*items)


def _tuple_made(body: Any, items: list[Any]) -> Any:
    name, fields = body[:2]
    at = items.pop()
    if len(fields) > _FIELDS_MAX or max(map(len, (name, *fields))) > _FIELDS_MAX:
        raise BadValue("too large a tuple")
    value = tuple.__new__(_tuple_class(name, tuple(fields), at is not None), items)
    return value if at is None else _carry(value, at)


def _subclass_made(_: Any, items: list[Any]) -> Any:
    value, at = items
    return _carry(_carried_class(_CARRIED[_CARRIED.index(type(value))])(value), at)


def _array_made(body: Any, _: Any) -> Any:
    numpy = importlib.import_module("numpy")
    kind, shape, data = body
    if data is None:
        return numpy.dtype(kind)
    array = numpy.frombuffer(bytes.fromhex(data), dtype=numpy.dtype(kind)).copy()
    return array.reshape(shape) if shape is not None else array[0]


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


_TAGS: dict[type, str] = {list: "l", tuple: "t", set: "S", frozenset: "z"}
_WHOLE = frozenset((*_TAGS.values(), "d", "v"))
"""Tags whose body is a list of encoded values."""
_WITHIN: dict[str, Callable[[Any], Any]] = {
    "x": lambda body: body[1],
    "n": lambda body: [*body[2], body[3]],
}
"""The encoded values within the body of others; the rest have none."""
_MADE: dict[str, Callable[[Any, Any], Any]] = {
    "l": lambda _, items: items,
    "t": lambda _, items: tuple(items),
    "S": lambda _, items: set(items),
    "z": lambda _, items: frozenset(items),
    "d": lambda _, items: {items[at]: items[at + 1] for at in range(0, len(items), 2)},
    "i": lambda body, _: int(body, 16),
    "f": lambda body, _: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body],
    "y": lambda body, _: standard.CLASSES[body],
    "x": _parts_made,
    "n": _tuple_made,
    "v": _subclass_made,
    "a": _array_made,
}
"""What a body is, of the values within it."""
