"""Strict JSON in and out: RFC 8259, no NaN, any text that Python can hold.

orjson encodes and decodes; the standard library is the fallback for lone surrogates and integers beyond 64 bits, which
orjson refuses and which models do produce.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

_LINE_SEPARATORS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def dumps(value: object) -> str:
    """Return compact JSON text with sorted keys.

    Raises:
        ValueError: The value holds something that JSON has no form for.
    """
    return dumps_bytes(value).decode()


def dumps_bytes(value: object) -> bytes:
    """Return compact JSON with sorted keys as UTF-8 bytes; NaN and infinities become null.

    Raises:
        ValueError: The value holds something that JSON has no form for.
    """
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return text.encode("ascii")


def dumps_line(value: object) -> bytes:
    """Return compact JSON on one line, for JSON Lines.

    Unicode line separators are escaped, because ``str.splitlines`` and many readers split at them.
    """
    line = dumps_bytes(value)
    if line.isascii():  # a tenth of the time of looking for each
        return line + b"\n"
    for raw, escaped in _LINE_SEPARATORS:
        if raw in line:
            line = line.replace(raw, escaped)
    return line + b"\n"


def pretty(value: object) -> bytes:
    """Return indented JSON with sorted keys and a final newline, for files that people open."""
    try:
        return orjson.dumps(value, option=_OPTIONS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return (json.dumps(_plain(value), sort_keys=True, indent=2, allow_nan=False) + "\n").encode("ascii")


def loads(text: str | bytes) -> Any:  # JSON of any shape; callers check what they use
    """Return the value of a JSON text, NaN literals refused.

    Raises:
        ValueError: The text is not strict JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text, parse_constant=_refuse_constant)
        except RecursionError as error:
            raise ValueError("the JSON is nested too deeply") from error


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value - value != 0.0:
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"a {type(value).__name__} has no JSON form")
