"""Plain values as JSON text and back: what may cross between a program and its tests.

Exact builtin types cross by value; a subclass is reduced to the builtin it derives from, so that nothing it overrides
crosses with it. Containers that can change are numbered in each frame: two places that hold the same list still hold
the same list on the other side. Everything else crosses as a reference into the program's process. Never pickle,
marshal or ``eval``; the bytes come from a hostile process.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import functools
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from nel.sandbox.agent import kinds

DEPTH_MAX = 200
_PLAIN_INT_MAX = 1 << 53
_DIGITS_MAX = 1 << 22
_FIELDS_MAX = 64
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_TIMES: dict[str, Any] = {"date": datetime.date, "time": datetime.time, "datetime": datetime.datetime}

_Each = Callable[[Any], Any]


class CannotCross(Exception):
    """A value that has no plain form and may not be passed by reference."""


class TooDeep(Exception):
    """A value that is nested beyond all measure."""


class BadValue(Exception):
    """Bytes that are no encoded value."""


class Sender:
    """Encodes the values of one frame as something `json` can write."""

    def __init__(self, refer: Callable[[Any], Any], known: Sequence[Any] = (), *, is_answer: bool = True) -> None:
        """Start a frame.

        Args:
            refer: Returns what stands for an object that crosses by reference, or raises `CannotCross`.
            known: Containers that the other side has, by number.
            is_answer: The values come from the program: what it keeps of them need not follow their changes.
        """
        self._refer = refer
        self._is_answer = is_answer
        self.containers = list(known)
        self._numbers = {id(container): number for number, container in enumerate(known)}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a value in its plain form.

        Raises:
            CannotCross: `refer` refuses.
            TooDeep: It is nested too deep.
        """
        if value is None or value is True or value is False:
            return value
        kind = type(value)
        if kind is str:
            return value
        if kind is int:
            return value if -_PLAIN_INT_MAX < value < _PLAIN_INT_MAX else ["i", hex(value)]
        if kind is float:
            return value if math.isfinite(value) else ["f", repr(value)]
        if kind in _CONTAINERS:
            return ["P", self._number(value)]
        if depth >= DEPTH_MAX:
            raise TooDeep(f"it is nested more than {DEPTH_MAX} deep")
        if kind is tuple:
            return ["t", [self.encode(item, depth + 1) for item in value]]
        known = _ENCODERS.get(kind)
        if known is not None:
            return known(value, lambda item: self.encode(item, depth + 1))
        return self._encode_other(value, kind, depth)

    def _encode_other(self, value: Any, kind: type, depth: int) -> Any:
        if (name := kinds.name_of(value)) is not None:
            return ["Y", name]
        if (parts := kinds.parts_of(value, is_answer=self._is_answer)) is not None:
            return ["X", [parts[0], [self.encode(part, depth + 1) for part in parts[1]]]]
        fields = getattr(kind, "_fields", None)
        if issubclass(kind, tuple) and type(fields) is tuple and all(type(name) is str for name in fields):
            items = [self.encode(item, depth + 1) for item in tuple.__iter__(value)]
            return ["N", [kind.__name__, list(fields), ["t", items]]]
        if _has_methods(kind):
            return ["R", self._refer(value)]
        if issubclass(kind, (list, dict, set)):
            return ["P", self._number(value)]
        plain = reduced(value)
        return ["R", self._refer(value)] if plain is value else self.encode(plain, depth)

    def _number(self, container: Any) -> int:
        number = self._numbers.get(id(container))
        if number is None:
            number = self._numbers[id(container)] = len(self.containers)
            self.containers.append(container)
        return number

    def contents(self, container: Any) -> Any:
        """Return what a container holds."""
        kind = type(container)
        if kind not in _CONTAINERS:
            kind = next(base for base in (list, dict, set) if issubclass(kind, base))
        tag, body = _CONTAINERS[kind]
        return [tag, body(container, self.encode)]

    def table(self, first: int = 0) -> list[Any]:
        """Return what the containers from a number on hold, those included that turn up on the way."""
        found: list[Any] = []
        while first + len(found) < len(self.containers):
            found.append(self.contents(self.containers[first + len(found)]))
        return found


class Receiver:
    """Decodes the values of one frame."""

    def __init__(self, resolve: Callable[[Any], Any], known: Sequence[Any] = (), limit: int = DEPTH_MAX) -> None:
        """Start a frame.

        Args:
            resolve: Returns what stands for a reference.
            known: Containers that were sent, by number.
            limit: How deep a value may be nested.
        """
        self._resolve = resolve
        self._limit = limit
        self.containers = list(known)

    def take(self, table: Any) -> None:
        """Make the containers of a table.

        Raises:
            BadValue: It is nothing that `Sender.table` makes.
        """
        first = len(self.containers)
        with _Guarded():
            self.containers += [_MADE[tag](body) for tag, body in table]
            for place, (tag, body) in enumerate(table, first):
                _FILLED[tag](self.containers[place], body, self._decoded)

    def change(self, number: int, contents: Any) -> None:
        """Replace what a container holds.

        Raises:
            BadValue: They are nothing that it may hold.
        """
        with _Guarded():
            tag, body = contents
            fresh = _MADE[tag](body)
            _FILLED[tag](fresh, body, self._decoded)
            _CHANGED[tag](self.containers[number], fresh)

    def decode(self, data: Any) -> Any:
        """Return the value that a `Sender` encoded.

        Raises:
            BadValue: It is nothing that one makes.
        """
        with _Guarded():
            return self._decoded(data)

    def _decoded(self, data: Any, depth: int = 0) -> Any:
        if data is None or isinstance(data, (bool, str, int, float)):
            return data
        if depth > self._limit + 1 or not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], str):  # noqa: PLR2004
            raise BadValue("no encoded value")
        tag, body = data
        if tag == "R":
            return self._resolve(body)
        if tag == "P":
            if type(body) is not int or not 0 <= body < len(self.containers):
                raise BadValue("no encoded value")
            return self.containers[body]
        decoder = _DECODERS.get(tag)
        if decoder is None:
            raise BadValue("no encoded value")
        return decoder(body, lambda item: self._decoded(item, depth + 1))


class _Guarded:
    """Turns whatever a foreign body does to a constructor into `BadValue`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (BadValue, RecursionError)):
            raise BadValue(f"no encoded value: {type(error).__name__}") from None


def reduced(value: Any) -> Any:
    """Return a value of a class that derives from a builtin which cannot change as that builtin; any other as it is."""
    kind = type(value)
    return next((reduce(value) for base, reduce in _REDUCED if issubclass(kind, base)), value)


def encode(value: Any, refer: Callable[[Any], Any], *, is_answer: bool = True) -> Any:
    """Return one value in its plain form, with the containers that it holds.

    Raises:
        CannotCross: `refer` refuses.
        TooDeep: It is nested too deep.
    """
    sender = Sender(refer, is_answer=is_answer)
    data = sender.encode(value)
    table = sender.table()
    return ["G", [data, table]] if table else data


def decode(data: Any, resolve: Callable[[Any], Any], limit: int = DEPTH_MAX) -> Any:
    """Return the value that `encode` made of it.

    Raises:
        BadValue: It is nothing that `encode` makes.
    """
    receiver = Receiver(resolve, limit=limit)
    if isinstance(data, list) and len(data) == 2 and data[0] == "G":  # noqa: PLR2004
        if not isinstance(data[1], list) or len(data[1]) != 2:  # noqa: PLR2004
            raise BadValue("no encoded value")
        data, table = data[1]
        receiver.take(table)
    return receiver.decode(data)


def dumps(value: Any) -> bytes:
    """Return encoded data as bytes; lone surrogates survive."""
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def loads(data: bytes) -> Any:
    """Return the data of bytes.

    Raises:
        BadValue: They are not JSON, or nested beyond all measure.
    """
    try:
        return _DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError, MemoryError):
        raise BadValue("not JSON") from None


def _refuse(word: str) -> object:
    raise ValueError(word)


def _integer(digits: str) -> int:
    if len(digits) > 32:  # noqa: PLR2004 - larger ones cross in hexadecimal
        raise ValueError("too long")
    return int(digits)


def _has_methods(kind: type) -> bool:
    """Return whether a class is the program's own container with methods, which its plain value would lose."""
    return (
        issubclass(kind, (list, dict, set))
        and kind.__module__ == "solution"
        and any(not name.startswith("_") and callable(member) for name, member in vars(kind).items())
    )


def _items(value: Any, each: _Each) -> list[Any]:
    return [each(item) for item in value]


def _pairs(value: Any, each: _Each) -> list[Any]:
    return [[each(key), each(item)] for key, item in dict.items(value)]


def _tagged(tag: str, body: Callable[[Any], Any]) -> Callable[[Any, _Each], Any]:
    return lambda value, each: [tag, body(value)]


def _listed(tag: str) -> Callable[[Any, _Each], Any]:
    return lambda value, each: [tag, _items(value, each)]


def _defaults(value: Any, each: _Each) -> Any:
    """Return a dictionary that makes what is missing: by a builtin class, or always the same plain value."""
    factory = value.default_factory
    if factory is None or (name := kinds.name_of(factory)) is not None:
        made = ["n", None if factory is None else name]
    else:
        try:
            made = ["v", encode(factory(), _cannot)]
        except Exception:  # noqa: BLE001 - a factory of the program
            made = ["n", None]
    return [made, _pairs(value, each)]


def _cannot(value: Any) -> Any:
    raise CannotCross(type(value).__name__)


_CONTAINERS: dict[type, tuple[str, Callable[[Any, _Each], Any]]] = {
    list: ("l", lambda value, each: [each(item) for item in list.__iter__(value)]),
    dict: ("d", _pairs),
    set: ("s", lambda value, each: [each(item) for item in set.__iter__(value)]),
    bytearray: ("a", lambda value, each: value.hex()),
    collections.deque: ("q", lambda value, each: [_items(value, each), value.maxlen]),
    collections.Counter: ("C", _pairs),
    collections.OrderedDict: (
        "O",
        lambda value, each: [[each(key), each(item)] for key, item in collections.OrderedDict.items(value)],
    ),
    collections.defaultdict: ("E", _defaults),
}
"""What can change, and so is one thing wherever it is held."""

_ENCODERS: dict[type, Callable[[Any, _Each], Any]] = {
    frozenset: _listed("z"),
    range: _tagged("r", lambda value: [hex(part) for part in (value.start, value.stop, value.step)]),
    bytes: _tagged("b", bytes.hex),
    complex: _tagged("c", lambda value: [repr(value.real), repr(value.imag)]),
    decimal.Decimal: _tagged("D", str),
    fractions.Fraction: _tagged("F", lambda value: [hex(value.numerator), hex(value.denominator)]),
    datetime.date: _tagged("T", lambda value: ["date", value.isoformat()]),
    datetime.time: _tagged("T", lambda value: ["time", value.isoformat()]),
    datetime.datetime: _tagged("T", lambda value: ["datetime", value.isoformat()]),
    datetime.timedelta: _tagged("U", lambda value: [value.days, value.seconds, value.microseconds]),
    _VIEWS[0]: _listed("k"),
    _VIEWS[1]: _listed("V"),
    _VIEWS[2]: _listed("I"),
}

_REDUCED: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__mul__(value, 1.0)),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (bytes, lambda value: bytes(bytes.__iter__(value))),
)


def _size_checked(text: Any) -> str:
    if not isinstance(text, str) or len(text) > _DIGITS_MAX:
        raise BadValue("too long a number")
    return text


def _hex(text: Any) -> int:
    return int(_size_checked(text), 16)


def _float_word(text: Any) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]


@functools.lru_cache(maxsize=64)
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    if len(fields) > _FIELDS_MAX or max(map(len, (name, *fields))) > _FIELDS_MAX:
        raise BadValue("too large a tuple")
    return collections.namedtuple(name, fields)


def _decimal(text: Any) -> decimal.Decimal:
    return decimal.Decimal(_size_checked(text))


def _factory(made: Any) -> Callable[[], Any] | None:
    how, what = made
    if how == "v":
        return lambda: decode(what, _cannot)
    return None if what is None else kinds.type_of(what)


def _fill_pairs(container: Any, pairs: Any, each: _Each) -> None:
    for key, item in pairs:
        container[each(key)] = each(item)


def _fill_items(container: Any, items: Any, each: _Each) -> None:
    container.extend([each(item) for item in items])


def _replace_items(container: Any, fresh: Any) -> None:
    container[:] = fresh


def _replace_all(container: Any, fresh: Any) -> None:
    container.clear()
    container.update(fresh)


def _replace_pairs(container: Any, fresh: Any) -> None:
    container.clear()
    for key, item in fresh.items():
        container[key] = item


def _replace_queue(container: Any, fresh: Any) -> None:
    container.clear()
    container.extend(fresh)


_MADE: dict[str, Callable[[Any], Any]] = {
    "l": lambda body: [],
    "d": lambda body: {},
    "s": lambda body: set(),
    "a": lambda body: bytearray(),
    "q": lambda body: collections.deque(maxlen=body[1]),
    "C": lambda body: collections.Counter(),
    "O": lambda body: collections.OrderedDict(),
    "E": lambda body: collections.defaultdict(_factory(body[0])),
}
_FILLED: dict[str, Callable[[Any, Any, _Each], None]] = {
    "l": _fill_items,
    "d": _fill_pairs,
    "s": lambda container, items, each: container.update([each(item) for item in items]),
    "a": lambda container, body, each: container.extend(bytes.fromhex(body)),
    "q": lambda container, body, each: _fill_items(container, body[0], each),
    "C": _fill_pairs,
    "O": _fill_pairs,
    "E": lambda container, body, each: _fill_pairs(container, body[1], each),
}
_CHANGED: dict[str, Callable[[Any, Any], None]] = {
    "l": _replace_items,
    "d": _replace_pairs,
    "s": _replace_all,
    "a": _replace_items,
    "q": _replace_queue,
    "C": _replace_pairs,
    "O": _replace_pairs,
    "E": _replace_pairs,
}

_DECODERS: dict[str, Callable[[Any, _Each], Any]] = {
    "i": lambda body, each: _hex(body),
    "f": lambda body, each: _float_word(body),
    "t": lambda body, each: tuple([each(item) for item in body]),
    "z": lambda body, each: frozenset([each(item) for item in body]),
    "k": lambda body, each: dict.fromkeys([each(item) for item in body]).keys(),
    "V": lambda body, each: dict(enumerate([each(item) for item in body])).values(),
    "I": lambda body, each: dict([each(item) for item in body]).items(),
    "N": lambda body, each: _named_tuple(body[0], tuple(body[1]))(*each(body[2])),
    "r": lambda body, each: range(*[_hex(part) for part in body]),
    "b": lambda body, each: bytes.fromhex(body),
    "c": lambda body, each: complex(float(_size_checked(body[0])), float(_size_checked(body[1]))),
    "D": lambda body, each: _decimal(body),
    "F": lambda body, each: fractions.Fraction(_hex(body[0]), _hex(body[1])),
    "T": lambda body, each: _TIMES[body[0]].fromisoformat(body[1]),
    "U": lambda body, each: datetime.timedelta(*body),
    "X": lambda body, each: kinds.made_of(body[0], [each(part) for part in body[1]]),
    "Y": lambda body, each: kinds.type_of(body),
}

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_integer)
"""Made once: a program may replace what the module `json` holds."""
