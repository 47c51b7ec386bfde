"""Names of samples: the row's own id, or a hash of the row. Does no I/O and never sees a position.

An own id is normalised (``1`` and ``"1"`` are one id, so are NFC and NFD spellings), while the
content hash is exact; the caller must refuse two rows with one own id, and give equal rows an
occurrence number.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import TYPE_CHECKING

import orjson

from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEX_DIGITS = 16


def own_id(value: object) -> str:
    """Return the text form of an id that a row brings, NFC-normalised.

    Raises:
        DatasetError: It is not a string or an integer, is blank, or holds a lone surrogate.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        what = "null" if value is None else f"of type {type(value).__name__}"
        raise DatasetError(f"the id is {what}; an id is a string or an integer")
    text = unicodedata.normalize("NFC", str(value))
    if not text.strip():
        raise DatasetError(
            "the id is empty; give the row an id, or name no id field to use a hash of the row"
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise DatasetError(f"the id {text!a} holds a lone surrogate, which no file can store")
    return text


def content_id(row: Mapping[str, object]) -> str:
    """Return 16 hex digits of the SHA-256 of the row as JSON, whatever the order of its keys.

    Raises:
        DatasetError: The row holds something that is not JSON.
    """
    try:
        encoded = _quickly_encoded(row)
        if encoded is not None:
            return hashlib.sha256(encoded).hexdigest()[:_HEX_DIGITS]
        text = json.dumps(
            row, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(
            f"the row has no id, and no hash can name it: {error}; give it an id"
        ) from error
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_HEX_DIGITS]


def _quickly_encoded(row: Mapping[str, object]) -> bytes | None:
    """Return the row as `json.dumps` writes it, with orjson; None where the two may differ."""
    if set(map(type, row.values())) - {str}:
        return None
    try:
        encoded = orjson.dumps(row, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a lone surrogate, or a key that is not a text
        return None
    # `json` escapes what is not ASCII, and DEL; orjson does neither.
    return encoded if encoded.isascii() and b"\x7f" not in encoded else None


def occurrence_id(base: str, n: int) -> str:
    """Return the id of the n-th sample with the same content; n counts from 1.

    Raises:
        ValueError: ``n`` is less than 1.
    """
    if n < 1:
        raise ValueError(f"occurrences count from 1, not {n}")
    return base if n == 1 else f"{base}#{n}"
