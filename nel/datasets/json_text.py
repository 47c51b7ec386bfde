"""Strict JSON for datasets: no duplicate keys, no NaN, no integer that loses digits. Does no I/O.

orjson is several times faster than the standard library but keeps the last of two equal keys and
turns integers beyond 64 bits into floats. Both are found afterwards by counting, and only such
texts are parsed a second time. The count may be too high (a colon inside a string), never too low.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import orjson

from nel.datasets.plain import DEPTH_MAX

_INT64 = float(2**63)
_EXACT = frozenset({str, int, bool, type(None)})
"""Types of values that hold no key and have all digits."""
_TOO_DEEP = "JSON that is nested too deeply"


class BadJsonError(Exception):
    """Says in a few words why a text is not a usable JSON value; the caller adds the place."""


def parse(text: bytes) -> object:
    """Return the value of one JSON text.

    Raises:
        BadJsonError: The text is not strict UTF-8 JSON, an object names a key twice, or it is
            nested deeper than `DEPTH_MAX`.
    """
    try:
        value = orjson.loads(text)
        is_exact = _is_exact(value, text)
    except orjson.JSONDecodeError:
        is_exact = False
    if not is_exact:
        value = _parse_slowly(text)
    # Most texts have fewer brackets than that in all.
    if text.count(b"[") + text.count(b"{") > DEPTH_MAX and _is_too_deep(value):
        raise BadJsonError(_TOO_DEEP)
    return value


def _is_too_deep(value: object) -> bool:
    """Return whether lists and objects stand in each other beyond `DEPTH_MAX`."""
    level = [value] if isinstance(value, (list, dict)) else []
    for _ in range(DEPTH_MAX):
        lists = [item.values() if isinstance(item, dict) else item for item in level]
        level = [item for items in lists for item in items if isinstance(item, (list, dict))]
        if not level:
            return False
    return True


def _is_exact(value: Any, text: bytes) -> bool:
    """Return whether a value has all keys of its text, and no integer that lost digits."""
    n_keys = 0
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is dict:
            n_keys += len(item)
            item, kind = item.values(), list
        if kind is list:
            if not _EXACT.issuperset(map(type, item)):
                pending.extend(item)
        elif kind is float and abs(item) >= _INT64:
            return False
    return n_keys == text.count(b":") or n_keys == _n_keys_at_most(text)


def _n_keys_at_most(text: bytes) -> int:
    """Return how many colons stand after a quote or white space, as all that follow a key do."""
    return text.count(b'":') + sum(text.count(bytes((space, ord(":")))) for space in b" \t\r\n")


def _parse_slowly(text: bytes) -> object:
    if b"\0" in text:
        raise BadJsonError(f"a NUL byte (byte {text.index(0) + 1})")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJsonError(f"invalid UTF-8 (byte {error.start + 1})") from error
    try:
        return json.loads(
            decoded,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except json.JSONDecodeError as error:
        where = f"column {error.colno}"
        if error.lineno > 1:
            where = f"line {error.lineno}, {where}"
        raise BadJsonError(f"invalid JSON ({error.msg}, {where}){_cr_hint(error)}") from error
    except RecursionError as error:
        raise BadJsonError(_TOO_DEEP) from error
    except ValueError as error:  # int() refuses more than 4300 digits
        raise BadJsonError("an integer with too many digits") from error


def _cr_hint(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data" and "\r" in error.doc.rstrip("\r"):
        return "; if the lines end in CR alone, convert them to LF"
    return ""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data: dict[str, object] = {}
    for key, value in pairs:
        if key in data:
            raise BadJsonError(f"duplicate key {json.dumps(key)}")
        data[key] = value
    return data


def _refuse_constant(name: str) -> NoReturn:
    raise BadJsonError(f"{name}, which is not JSON; write null or a string")


def _finite_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise BadJsonError(f"the number {digits[:40]}, which is too large for a float")
    return value
