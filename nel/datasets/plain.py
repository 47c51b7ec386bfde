"""Turns the values of parquet files, the hub and Python callables into plain JSON values.

Dates become ISO 8601 text, decimals their digits, bytes base64, tuples lists. NaN, NaT and NA
become null, because pandas writes a missing value so. The order of the checks matters: a `bool` is
an `int` and a `datetime` a `date`.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from uuid import UUID

from nel.errors import DatasetError

_AS_IS = (str, bool, int, type(None))
_DIGITS_OF_32_BITS = range(6, 10)
"""One of these is the least with which a number of 32 bits can be told from its neighbours."""
_CHARACTERS_MAX = 15
"""Of a number of 32 bits that is written as it is, such as 1234567.125."""
DEPTH_MAX = 100
"""How deep the values of a row may be nested; far below what Python's own recursion allows."""


class NotPlainError(Exception):
    """Says which column holds a value that JSON has no form for."""


def plain_or_problem(row: Mapping[str, object]) -> dict[str, object] | str:
    """Return a copy of the row that holds JSON values only, or why there is none."""
    try:
        return plain_row(row)
    except NotPlainError as problem:
        return str(problem)


def refuse_twins(columns: Iterable[object], where: str) -> None:
    """Raise DatasetError for two columns of one name: a row, a dict, would have the last alone."""
    twin = next((column for column, n in Counter(columns).items() if n > 1), None)
    if twin is not None:
        raise DatasetError(f'{where}: the column "{twin}" is there twice; rename one')


def plain_row(row: Mapping[str, object]) -> dict[str, object]:
    """Return a copy of the row that holds JSON values only.

    Raises:
        NotPlainError: A key is not text, or a value has no JSON form.
    """
    data: dict[str, object] = {}
    for key, value in row.items():
        if not isinstance(key, str):
            raise NotPlainError(f"the column name {key!r} is not a string")
        data[key] = value if type(value) in _AS_IS else _plain(value, key, 0)
    return data


def _plain(value: object, where: str, depth: int) -> object:
    if depth > DEPTH_MAX:
        raise NotPlainError(f'"{where[:60]}…" is nested too deeply')
    if isinstance(value, Enum):
        return _plain(value.value, where, depth + 1)
    if isinstance(value, float):
        return _number(float(value), where)
    if type(value) in _AS_IS:
        return value
    if isinstance(value, Mapping):
        return {
            _key(key, where): _plain(item, f"{where}.{key}", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item, where, depth + 1) for item in value]
    return _leaf(value, where, depth)


def _leaf(value: object, where: str, depth: int) -> object:
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal | UUID | PurePath):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    tolist = getattr(value, "tolist", None)  # numpy scalars and arrays, without importing numpy
    if callable(tolist):
        return _plain(tolist(), where, depth + 1)
    raise NotPlainError(f'"{where}" holds a {type(value).__name__}, which has no JSON form')


def _number(value: float, where: str) -> float | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise NotPlainError(f'"{where}" holds an infinite number')
    return value


def number_of_32_bits(value: object) -> object:
    """Return the number that was written into a column of 32 bits, which gives another double; what
    is not a number, such as an array, as it is.

    >>> number_of_32_bits(0.10000000149011612), number_of_32_bits([0.5])  # a label of STS-B
    (0.1, [0.5])
    """
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    if len(repr(value)) <= _CHARACTERS_MAX:
        return value
    numbers = (float(f"{value:.{digits}g}") for digits in _DIGITS_OF_32_BITS)
    return next((number for number in numbers if _in_32_bits(number) == value), value)


def _in_32_bits(number: float) -> float:
    """Return the double of the 32 bits that a number is stored in."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise NotPlainError(f'"{where}" has the key {key!r}, which is not a string')
    return key
