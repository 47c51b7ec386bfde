"""Plain values as JSON text and back: what may cross between a program and its tests.

Exact builtin types cross by value; a subclass is reduced to the builtin it derives from, so that nothing it overrides
crosses with it. Everything else crosses as a reference into the program's process. Never pickle, marshal or ``eval``;
the bytes come from a hostile process.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import functools
import json
import math
from collections.abc import Callable
from typing import Any

DEPTH_MAX = 200
_PLAIN_INT_MAX = 1 << 53
_DIGITS_MAX = 1 << 22
_FIELDS_MAX = 64
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_TIMES: dict[str, Any] = {"date": datetime.date, "time": datetime.time, "datetime": datetime.datetime}


class CannotCross(Exception):
    """A value that has no plain form and may not be passed by reference."""


class TooDeep(Exception):
    """A value that is nested beyond all measure, or holds itself."""


class BadValue(Exception):
    """Bytes that are no encoded value."""


def encode(value: Any, refer: Callable[[Any], int], depth: int = 0) -> Any:
    """Return a value as something `json` can write.

    Args:
        refer: Returns the number of an object that crosses by reference, or raises `CannotCross`.

    Raises:
        CannotCross: `refer` refuses.
        TooDeep: It is nested too deep, or holds itself.
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
    if depth >= DEPTH_MAX:
        raise TooDeep(f"it is nested more than {DEPTH_MAX} deep, or holds itself")
    known = _ENCODERS.get(kind)
    if known is not None:
        return known(value, refer, depth + 1)
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and type(fields) is tuple and all(type(name) is str for name in fields):
        return ["N", [kind.__name__, list(fields), _items("t")(tuple(tuple.__iter__(value)), refer, depth + 1)]]
    if _has_methods(kind):
        return ["R", refer(value)]
    for base, reduce in _REDUCED:
        if issubclass(kind, base):
            return encode(reduce(value), refer, depth)
    return ["R", refer(value)]


def decode(data: Any, resolve: Callable[[Any], Any], depth: int = 0, limit: int = DEPTH_MAX) -> object:
    """Return the value that `encode` made of it.

    Args:
        resolve: Returns what stands for the reference of a number.
        limit: How deep it may be nested.

    Raises:
        BadValue: It is nothing that `encode` makes.
    """
    if data is None or isinstance(data, (bool, str, int, float)):
        return data
    if depth > limit + 1 or not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], str):  # noqa: PLR2004
        raise BadValue("no encoded value")
    tag, body = data
    if tag == "R":
        return resolve(body)
    decoder = _DECODERS.get(tag)
    if decoder is None:
        raise BadValue("no encoded value")
    try:
        return decoder(body, lambda item: decode(item, resolve, depth + 1, limit))
    except BadValue:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a foreign body does to a constructor
        raise BadValue(f"no encoded value: {type(error).__name__}") from None


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


def _items(tag: str) -> Callable[[Any, Callable[[Any], int], int], Any]:
    return lambda value, refer, depth: [tag, [encode(item, refer, depth) for item in value]]


def _pairs(value: Any, refer: Callable[[Any], int], depth: int) -> object:
    return ["d", [[encode(key, refer, depth), encode(item, refer, depth)] for key, item in dict.items(value)]]


def _text(tag: str, text: Callable[[Any], Any]) -> Callable[[object, Callable[[object], int], int], object]:
    return lambda value, refer, depth: [tag, text(value)]


_ENCODERS: dict[type, Callable[[Any, Callable[[Any], int], int], Any]] = {
    list: _items("l"),
    tuple: _items("t"),
    set: _items("s"),
    frozenset: _items("z"),
    dict: _pairs,
    collections.deque: lambda value, refer, depth: ["q", [_items("l")(value, refer, depth), value.maxlen]],
    range: _text("r", lambda value: [hex(part) for part in (value.start, value.stop, value.step)]),
    bytes: _text("b", bytes.hex),
    bytearray: _text("a", bytearray.hex),
    complex: _text("c", lambda value: [repr(value.real), repr(value.imag)]),
    decimal.Decimal: _text("D", str),
    fractions.Fraction: _text("F", lambda value: [hex(value.numerator), hex(value.denominator)]),
    datetime.date: _text("T", lambda value: ["date", value.isoformat()]),
    datetime.time: _text("T", lambda value: ["time", value.isoformat()]),
    datetime.datetime: _text("T", lambda value: ["datetime", value.isoformat()]),
    datetime.timedelta: _text("U", lambda value: [value.days, value.seconds, value.microseconds]),
    collections.Counter: lambda value, refer, depth: ["C", _pairs(value, refer, depth)],
    collections.OrderedDict: lambda value, refer, depth: ["O", _pairs(value, refer, depth)],
    _VIEWS[0]: _items("k"),
    _VIEWS[1]: _items("V"),
    _VIEWS[2]: _items("I"),
}

_REDUCED: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__mul__(value, 1.0)),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
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


_DECODERS: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "i": lambda body, each: _hex(body),
    "f": lambda body, each: _float_word(body),
    "l": lambda body, each: [each(item) for item in body],
    "t": lambda body, each: tuple([each(item) for item in body]),
    "s": lambda body, each: {each(item) for item in body},
    "z": lambda body, each: frozenset([each(item) for item in body]),
    "d": lambda body, each: {each(key): each(item) for key, item in body},
    "k": lambda body, each: dict.fromkeys([each(item) for item in body]).keys(),
    "V": lambda body, each: dict(enumerate([each(item) for item in body])).values(),
    "I": lambda body, each: dict([each(item) for item in body]).items(),
    "C": lambda body, each: collections.Counter(each(body)),
    "O": lambda body, each: collections.OrderedDict(each(body)),
    "N": lambda body, each: _named_tuple(body[0], tuple(body[1]))(*each(body[2])),
    "q": lambda body, each: collections.deque(each(body[0]), body[1]),
    "r": lambda body, each: range(*[_hex(part) for part in body]),
    "b": lambda body, each: bytes.fromhex(body),
    "a": lambda body, each: bytearray.fromhex(body),
    "c": lambda body, each: complex(float(_size_checked(body[0])), float(_size_checked(body[1]))),
    "D": lambda body, each: _decimal(body),
    "F": lambda body, each: fractions.Fraction(_hex(body[0]), _hex(body[1])),
    "T": lambda body, each: _TIMES[body[0]].fromisoformat(body[1]),
    "U": lambda body, each: datetime.timedelta(*body),
}

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_integer)
"""Made once: a program may replace what the module `json` holds."""
