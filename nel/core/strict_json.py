"""Strict JSON in and out (RFC 8259, no NaN), and the types of fields of artifacts.

orjson encodes and decodes; the standard library is the fallback for lone surrogates and integers
beyond 64 bits, which orjson refuses to encode and which models do produce. orjson decodes such
integers as floats, so what the standard library encoded is marked with a space after its first
bracket, and decoded by it too.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, TypeAlias

import orjson
from annotated_types import Ge, Gt, Le, Lt, MinLen

_LINE_SEPARATORS = (
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
    (b"\xc2\x85", b"\\u0085"),
)
_EXACT = frozenset((" ", b" "))
"""The second character of a text whose integers may be beyond 64 bits."""
_SORTED = orjson.OPT_SORT_KEYS
_ANY_KEYS = _SORTED | orjson.OPT_NON_STR_KEYS
"""Takes keys that are not text, at half as much CPU again for all others."""


def dumps(value: object) -> str:
    """Return compact JSON text with sorted keys.

    Raises:
        ValueError: The value holds something that JSON has no form for.
    """
    try:
        return orjson.dumps(value, option=_SORTED).decode()
    except TypeError:
        return _dumps_of_any_keys(value).decode()


def dumps_bytes(value: object) -> bytes:
    """Return compact JSON with sorted keys as UTF-8 bytes; NaN and infinities become null.

    Raises:
        ValueError: The value holds something that JSON has no form for.
    """
    try:
        return orjson.dumps(value, option=_SORTED)
    except TypeError:
        return _dumps_of_any_keys(value)


def _dumps_of_any_keys(value: object) -> bytes:
    try:
        return orjson.dumps(value, option=_ANY_KEYS)
    except TypeError:
        text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return _mark(text)


def dumps_unless_text(value: object) -> str:
    """Return a text as it is, and of any other value its compact JSON."""
    return value if isinstance(value, str) else dumps(value)


def dumps_line(value: object) -> bytes:
    """Return compact JSON on one line, for JSON Lines.

    Unicode line separators are escaped, because ``str.splitlines`` and many readers split at them.
    """
    line = dumps_bytes(value)
    if line.isascii():  # a tenth of the time of looking for each
        return line + b"\n"
    for separator, escape in _LINE_SEPARATORS:
        if separator in line:
            line = line.replace(separator, escape)
    return line + b"\n"


def pretty(value: object) -> bytes:
    """Return indented JSON with sorted keys and a final newline, for files that people open."""
    try:
        return orjson.dumps(
            value, option=_ANY_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )
    except TypeError:
        return _mark(json.dumps(_plain(value), sort_keys=True, indent=2, allow_nan=False) + "\n")


def loads(text: str | bytes) -> Any:  # JSON of any shape; callers check what they use
    """Return the value of a JSON text, NaN literals refused.

    Integers beyond 64 bits are floats, except in a text that was written here.

    Raises:
        ValueError: The text is not strict JSON.
    """
    if text[1:2] in _EXACT:
        return _loads_exactly(text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _loads_exactly(text)


def _loads_exactly(text: str | bytes) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _mark(text: str) -> bytes:
    # `{"n":…}` becomes `{ "n":…}`, which is the same to every other reader of JSON.
    return (f"{text[0]} {text[1:]}" if text[0] in "[{" else text).encode("ascii")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _plain(value: object) -> object:
    # As orjson writes them: NaN and infinities become null, and keys of any type become texts.
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"a {type(value).__name__} has no JSON form")


Count: TypeAlias = Annotated[int, Ge(0)]
Positive: TypeAlias = Annotated[int, Ge(1)]
Amount: TypeAlias = Annotated[float, Ge(0)]
"""Seconds, tokens per second or money."""
Rate: TypeAlias = Annotated[float, Ge(0), Le(1)]
Level: TypeAlias = Annotated[float, Gt(0), Lt(1)]
"""Of an interval, 0.95 for 95 %."""
Text: TypeAlias = Annotated[str, MinLen(1)]
