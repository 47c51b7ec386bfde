"""What an endpoint's headers say about waiting and about its limits. Sends nothing.

A header is a stranger's text. Whatever cannot be read is as good as absent; nothing here raises.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_LENGTH_MAX: Final = 32
"""No number and no duration is longer."""
_EPOCH_MIN: Final = 1_000_000_000.0
"""A reset above this many seconds is a point in time (2001 and later), not a wait."""
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
_PREFIXES: Final = ("x-ratelimit-{what}-{kind}", "anthropic-ratelimit-{kind}-{what}")

_KINDS: Final = ("requests", "tokens")
_LIMITS: Final = tuple(prefix.format(what="limit", kind=kind) for prefix in _PREFIXES for kind in _KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What is left of one limit of an endpoint."""

    limit: float
    remaining: float
    reset_seconds: float | None
    """Until all of it is there again; None where the endpoint does not say."""

    @property
    def per_second(self) -> float:
        """Return the rate that this limit allows.

        A minute is the common window; a reset that comes sooner shows a faster one.
        """
        refill = (self.limit - self.remaining) / self.reset_seconds if self.reset_seconds else 0.0
        return max(self.limit / 60, refill)


def wait_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait a server asks for after a refusal, in seconds from now; None where it asks for none.

    ``retry-after-ms``, then ``Retry-After`` as seconds or as an HTTP date (against the response's own ``Date``), then
    the reset of whichever limit is used up. Absent, negative and unreadable values count as none.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("Retry-After")
    if given is not None:
        return _retry_after(given, headers)
    resets = [quota.reset_seconds for quota in quotas(headers).values() if quota.remaining <= 0]
    known = [reset for reset in resets if reset is not None]
    return max(known) if known else None


def quotas(headers: Mapping[str, str]) -> dict[str, Quota]:
    """Return what the headers say of ``requests`` and ``tokens``; limits that are not named are absent."""
    if not any(name in headers for name in _LIMITS):
        return {}
    found: dict[str, Quota] = {}
    for kind in _KINDS:
        for prefix in _PREFIXES:
            limit = _number(headers.get(prefix.format(what="limit", kind=kind)))
            remaining = _number(headers.get(prefix.format(what="remaining", kind=kind)))
            if limit and remaining is not None:
                reset = duration_seconds(headers.get(prefix.format(what="reset", kind=kind)), headers.get("Date"))
                found[kind] = Quota(limit=limit, remaining=remaining, reset_seconds=reset)
    return found


def duration_seconds(text: str | None, date: str | None = None) -> float | None:
    """Return a reset in seconds: ``1.5``, ``1m30s``, ``250ms``, seconds since 1970, or an ISO or HTTP date.

    Args:
        date: The response's own ``Date``, against which points in time are measured.
    """
    if text is None or len(text) > _LENGTH_MAX:
        return None
    number = _number(text)
    if number is not None:
        return number if number < _EPOCH_MIN else _positive(number - _now(date).timestamp())
    parts = _PART.findall(text.strip())
    if parts and "".join(amount + unit for amount, unit in parts) == text.strip():
        return sum(float(amount) * _UNITS[unit] for amount, unit in parts)
    until = _iso(text) or _http_date(text)
    return None if until is None else _positive((until - _now(date)).total_seconds())


def _retry_after(given: str, headers: Mapping[str, str]) -> float | None:
    seconds = _number(given)
    if seconds is not None:
        return seconds
    until = _http_date(given)
    return None if until is None else _positive((until - _now(headers.get("Date"))).total_seconds())


def _now(date: str | None) -> datetime:
    return _http_date(date) or datetime.fromtimestamp(time.time(), UTC)


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None and len(text) <= _LENGTH_MAX else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _http_date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
