"""Plain values as JSON and back: what may cross between a program and its tests.

Exact builtin types cross by value, and so does what is made of them in the standard library. A list
or another container crosses as a number: it is one object for both ends, and each message brings
the contents of those that are new or that its sender has changed. Everything else has no plain
form: it crosses as a reference into the program's process, or not at all. Never pickle, marshal or
``eval``; the bytes come from a hostile process, whose words name no module.
"""

from __future__ import annotations

import abc
import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nel.sandbox.verdict.agent import standard

PROGRAM = "solution"
"""The module that a program is."""
DEPTH_MAX = 200
ANSWER_DEPTH_MAX = DEPTH_MAX // 2
"""Less, so that whatever came as an answer can be passed back in an argument."""
_PLAIN_INT_MAX = 1 << 53
_ITEMS_MAX = 10_000
"""Of a container that both ends keep: what is larger is told once."""


class CannotCross(BaseException):
    """A value that has no plain form is to be passed or compared.

    Not an `Exception`, so that tests cannot catch it.
    """


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

    def __eq__(self, other: object) -> Any:
        """Compare what it holds; where that differs the object may have an equality of its own."""
        is_equal = super().__eq__(other)
        if is_equal is True or self._at is None:
            return is_equal
        return self._at == other

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


class Codec:
    """One end of a channel: encodes and decodes, and knows the containers that both ends have."""

    def __init__(
        self,
        refer: Callable[[Any], Any],
        resolve: Callable[[str, Any], Any],
        *,
        first_number: int,
        sent_depth: int,
        received_depth: int,
    ) -> None:
        """Prepare to encode and decode.

        Args:
            refer: Returns the encoded form of an object that crosses by reference, or raises
                `CannotCross`.
            resolve: Returns what stands for the object of a reference or of an exception.
            first_number: Of a container; 0 at the one end and 1 at the other.
            sent_depth: What is deeper within tuples crosses by reference.
            received_depth: Deeper values are not values.
        """
        self._refer = refer
        self._resolve = resolve
        self._sent_depth = sent_depth
        self._received_depth = received_depth
        self._free = itertools.count(first_number, 2)
        self._containers: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        """Of each container, by its `id`."""
        self._forms: dict[int, Any] = {}
        """As the other end has each."""
        self._pending: list[int] = []
        self._is_unpacking = False
        self.is_of_class = False
        """Whether values are of a class under test, which is asked for what it overrides."""
        self.sends_views = True
        """Whether views of dictionaries cross by value; those of the program change with it."""

    def pack(self, value: Any) -> dict[str, Any]:
        """Return a value in its plain form, with the containers that are new or have changed.

        Raises:
            CannotCross: As `refer` does.
        """
        # A question asked while an answer is unpacked, such as the hash of an object that becomes
        # a key, tells of no changes: containers of the answer may still be without contents.
        numbers = [] if self._is_unpacking else [*self._containers]
        form, forms = self._encode_whole(value, numbers)
        news = []
        for number, contents in forms.items():
            if contents != self._forms.get(number):
                news.append([number, contents])
        self._forms.update(forms)
        return {"value": form, "now": news}

    def unpack(self, message: Mapping[str, Any]) -> Any:
        """Return the value of a message, having changed the containers that it tells of.

        Raises:
            BadValue: No `pack` makes such a message.
        """
        is_outermost = not self._is_unpacking
        self._is_unpacking = True
        try:
            # First all new containers, empty, then the contents: they may hold each other.
            news = [(number, contents) for number, contents in message["now"]]
            for number, (name, _, made_with) in news:
                if number not in self._containers:
                    container = standard.new_container(name, self.decode(made_with))
                    self._note(number, container)
            for number, contents in news:
                items = [self.decode(item) for item in contents[1]]
                standard.refill(self._containers[number], items)
                self._forms[number] = contents
            return self.decode(message["value"])
        except BadValue:
            raise
        except BaseException as error:  # noqa: BLE001 - what a foreign body makes of it
            raise BadValue(f"no encoded value: {type(error).__name__}") from None
        finally:
            self._is_unpacking = not is_outermost

    def check_plain(self, value: Any) -> None:
        """Raise `CannotCross` where a value has no plain form; nothing crosses."""
        numbers = {*self._containers}
        try:
            self._encode_whole(value, [])
        finally:
            self.forget({*self._containers} - numbers)

    def losses(self) -> list[int]:
        """Forget containers that are held nowhere else, or too large; return their numbers."""
        positions: list[int] = []
        if self._is_unpacking:
            return positions
        count = -1
        # What an outer container held is held nowhere else once that is gone: until none is left.
        while count != len(positions):
            count = len(positions)
            for number in [*self._containers]:  # the outer ones first
                is_large = standard.size_of(self._containers[number]) > _ITEMS_MAX
                if is_large or _count(self._containers, number) == _UNHELD:
                    self.forget([number])
                    positions.append(number)
        return positions

    def forget(self, numbers: Iterable[int]) -> None:
        """Forget containers, which cross like new ones from now on."""
        for number in numbers:
            self._numbers.pop(id(self._containers.pop(number, None)), None)
            self._forms.pop(number, None)

    def _note(self, number: int, container: Any) -> None:
        self._containers[number] = container
        self._numbers[id(container)] = number

    def _encode_whole(self, value: Any, numbers: list[int]) -> tuple[Any, dict[int, Any]]:
        """Return the form of a value, and the contents of these containers and of new ones."""
        self._pending = numbers  # grows by the new ones that are met within the others
        form = self.encode(value)
        return form, {at: self._encode_contents(self._containers[at]) for at in numbers}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a part of a message that is packed."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_PLAIN_INT_MAX < value < _PLAIN_INT_MAX else ["i", hex(value)]
        if kind is float:
            return value if math.isfinite(value) else ["f", repr(value)]
        if depth >= self._sent_depth or type(kind) not in (type, abc.ABCMeta):
            return self._refer(value)  # the metaclass of a program compares as it likes
        if standard.container_kind(value) is not None:
            return ["c", self._number_of(value)]
        if kind is bytes:
            return ["b", value.hex()]
        if kind is tuple or kind is frozenset:
            return [kind.__name__, [self.encode(item, depth + 1) for item in value]]
        if kind in standard.BY_PARTS and (parts := standard.parts_of(value)) is not None:
            return ["x", [kind.__name__, self.encode(parts, depth + 1)]]
        if kind in standard.VIEWS and self.sends_views:
            return ["view", [kind.__name__, self.encode(tuple(value), depth + 1)]]
        if id(value) in standard.CLASS_NAMES:
            return ["y", standard.CLASS_NAMES[id(value)]]
        return self._encode_object(value, kind, depth)

    def _encode_object(self, value: Any, kind: type, depth: int) -> Any:
        """Return the form of a scalar of numpy, of a subclass of a plain class, or of a reference."""
        if issubclass(kind, (StandIn, BaseException)):
            return self._refer(value)
        if standard.is_numpy(kind, "generic") and value.dtype.kind not in "OV":
            return ["g", [value.dtype.str, value.tobytes().hex()]]
        for base, reduce in standard.REDUCED:
            if issubclass(kind, base) and not (self.is_of_class and standard.overrides(kind, base)):
                reduced = self.encode(reduce(value), depth + 1)
                return (
                    ["v", [reduced, self._refer(value)]] if standard.has_members(kind) else reduced
                )
        return self._refer(value)

    def _number_of(self, container: Any) -> int:
        number = self._numbers.get(id(container))
        if number is None:
            number = next(self._free)
            self._note(number, container)
            self._pending.append(number)
        return number

    def _encode_contents(self, container: Any) -> list[Any]:
        kind = standard.container_kind(container)
        items, made_with = standard.contents_of(container, kind)
        encoded = [self.encode(item) for item in items]
        return [kind.__name__, encoded, self.encode(made_with)]

    def decode(self, data: Any, depth: int = 0) -> Any:
        """Return a part of a message that is unpacked."""
        if data is None or isinstance(data, (bool, str, int, float)):
            return data
        if depth > self._received_depth:
            raise BadValue("a value that is nested too deep")
        tag, body = data
        if tag in ("R", "e"):
            return self._resolve(tag, body)
        if tag in ("tuple", "frozenset", "v"):
            items = [self.decode(item, depth + 1) for item in body]
            return _MAKERS_OF_ITEMS[tag](items)
        if tag == "view":
            return standard.view_of(body[0], self.decode(body[1], depth + 1))
        if tag == "x":
            kind = standard.CLASSES[body[0]]
            if kind not in standard.BY_PARTS:
                raise BadValue("a class that is not made of parts")
            return kind(*self.decode(body[1], depth + 1))
        return self._containers[body] if tag == "c" else _MAKERS[tag](body)


def _carry(items: list[Any]) -> Any:
    """Return a value that stands for an object."""
    reduced, at = items
    base: Any = type(reduced)
    value = _carried_class(base)(reduced)
    value._at = at  # noqa: SLF001 - its class stands above
    return value


@functools.lru_cache(maxsize=8)
def _carried_class(base: Any) -> Any:
    return type(base.__name__, (ValueStandIn, base), {"__module__": PROGRAM})


_MAKERS_OF_ITEMS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "v": _carry,
}
_MAKERS: dict[str, Callable[[Any], Any]] = {
    "i": lambda body: int(body, 16),
    "f": {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.__getitem__,
    "b": bytes.fromhex,
    "y": standard.CLASSES.__getitem__,
    "g": lambda body: standard.new_array(body[0], (), bytes.fromhex(body[1]))[()],
}


def _count(containers: Mapping[int, Any], number: int) -> int:
    return sys.getrefcount(containers[number])


_UNHELD = _count({0: []}, 0)
"""What this interpreter says of a container that nothing else holds."""
