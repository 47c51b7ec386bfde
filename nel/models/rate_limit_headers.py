"""Parses response headers about rate limits and retries: Retry-After, x-ratelimit-*, anthropic-ratelimit-*. No I/O.

Headers are untrusted text: a value that cannot be parsed counts as absent, and no function here raises.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from nel.core.plain_numbers import plain_number

_LENGTH_MAX: Final = 32
"""Longer values are ignored."""
_EPOCH_MIN: Final = 1_000_000_000.0
"""A reset above this many seconds is a time since 1970 (2001 and later), not a duration."""
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[smhd])")
_DATE: Final = re.compile(r"[0-9A-Za-z ,:.+-]{1,64}")
"""The characters of an HTTP or ISO date; the parsers below read underscores and the digits of all scripts too."""
_PREFIXES: Final = ("x-ratelimit-{what}-{kind}", "anthropic-ratelimit-{kind}-{what}")

_KINDS: Final = ("requests", "tokens")
_LIMITS: Final = tuple(prefix.format(what="limit", kind=kind) for prefix in _PREFIXES for kind in _KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One rate limit of an endpoint, and how much of it remains."""

    limit: float
    remaining: float
    reset_seconds: float | None
    """Until the limit is full again; None where no header says."""

    @property
    def per_second(self) -> float:
        """Return the rate that this limit allows: per minute, which is the usual window, or faster if its reset says
        so.
        """
        refill = (self.limit - self.remaining) / self.reset_seconds if self.reset_seconds else 0.0
        return max(self.limit / 60, refill)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait that a server asks for after a refusal, in seconds from now; None where it names none.

    Read are ``retry-after-ms``, then ``Retry-After`` as seconds or as an HTTP date (relative to the response's own
    ``Date``), then the latest reset of the limits that are used up. Negative and unreadable values count as absent.
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
    """Return the limits on ``requests`` and ``tokens`` that the headers name."""
    if not any(name in headers for name in _LIMITS):
        return {}
    found: dict[str, Quota] = {}
    for kind in _KINDS:
        for prefix in _PREFIXES:
            limit = _number(headers.get(prefix.format(what="limit", kind=kind)))
            remaining = _number(headers.get(prefix.format(what="remaining", kind=kind)))
            if limit is not None and limit >= 1 and remaining is not None:
                reset = duration_seconds(headers.get(prefix.format(what="reset", kind=kind)), headers.get("Date"))
                found[kind] = Quota(limit=limit, remaining=remaining, reset_seconds=reset)
    return found


def duration_seconds(text: str | None, date: str | None = None) -> float | None:
    """Parse a reset as seconds from now: ``1.5``, ``1m30s``, ``250ms``, seconds since 1970, or an ISO or HTTP date.

    Args:
        date: The response's own ``Date``, from which absolute times are measured.
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
    number = None if text is None else plain_number(text)
    return number if number is not None and number >= 0 else None


def _iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _http_date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text and _DATE.fullmatch(text) else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
