"""Moments as dates of artifacts: ISO 8601 in UTC, to the millisecond."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def date_of(seconds: float | None) -> str | None:
    """Return the date of a moment, None where it is not known.

    >>> date_of(1700000000.25)
    '2023-11-14T22:13:20.250Z'
    """
    if seconds is None:
        return None
    second, milliseconds = divmod(int(seconds * 1000), 1000)
    return f"{_date_of_second(second)}.{milliseconds:03d}Z"


@lru_cache(maxsize=64)
def _date_of_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
