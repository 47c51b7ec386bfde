"""Parses headers about limits: Retry-After, x-ratelimit-*, anthropic-ratelimit-*. No I/O.

Headers are untrusted text: a value that cannot be parsed counts as absent, and no function here
raises.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from nel.config.numbers import plain_number

_LENGTH_MAX: Final = 32
"""Longer values are ignored."""
_EPOCH_MIN: Final = 1_000_000_000.0
"""A reset above this many seconds is a time since 1970 (2001 and later), not a duration."""
_EPOCH_MAX: Final = 100_000_000_000.0
"""Above it, the year 5138, a time counts milliseconds or less."""
_UNITS: Final = {
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "µs", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
_UNIT: Final = "|".join(sorted(_UNITS, key=len, reverse=True))
_PART: Final = re.compile(rf"([0-9]+(?:\.[0-9]+)?) ?({_UNIT})", re.IGNORECASE)
_PARTS: Final = re.compile(
    rf"(?:PT?)?((?:[0-9]{{1,12}}(?:\.[0-9]{{1,12}})? ?(?:{_UNIT})[ T]?){{1,6}})", re.IGNORECASE
)
"""``1m30s``, ``250 ms``, ``30 seconds``, and ``PT1M30S`` of ISO 8601."""
_QUOTES: Final = " \t\"'"
_USED_UP: Final = re.compile(r"\b(?:r|remaining)=0\b[^\"]{0,60}?[;, ](?:t|reset)=([0-9.]{1,20})")
"""Of ``"default";r=0;t=30``, or ``limit=100, remaining=0, reset=30`` of an earlier draft."""
_IN_MILLISECONDS: Final = ("retry-after-ms", "x-ms-retry-after-ms")
_VALUE_MAX: Final = 200
_DATE: Final = re.compile(r"[0-9A-Za-z ,:.+-]{1,64}")
"""The characters of HTTP and ISO dates; the parsers below also read ``_`` and other digits."""
_PREFIXES: Final = ("x-ratelimit-{what}-{kind}", "anthropic-ratelimit-{kind}-{what}")

_KINDS: Final = ("requests", "tokens")
_LIMITS: Final = tuple(
    prefix.format(what="limit", kind=kind) for prefix in _PREFIXES for kind in _KINDS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One rate limit of an endpoint, and how much of it remains."""

    limit: float
    remaining: float
    reset_seconds: float | None
    """Until the limit is full again; None where no header says."""

    @property
    def per_second(self) -> float:
        """Return the rate that this limit allows: per minute, which is the usual window, or faster
        if its reset says so.
        """
        refill = (self.limit - self.remaining) / self.reset_seconds if self.reset_seconds else 0.0
        return max(self.limit / 60, refill)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait that a server asks for after a refusal, in seconds; None if it names none.

    Read are ``retry-after-ms``, then ``Retry-After`` as seconds, a duration or a date (relative to
    the response's own ``Date``), then the latest reset of the limits that are used up, under
    whatever name. Negative and unreadable values count as absent.
    """
    date = headers.get("Date")
    for name in _IN_MILLISECONDS:
        milliseconds = _number(headers.get(name))
        if milliseconds is not None:
            return milliseconds / 1000
    header = headers.get("Retry-After")
    if header is not None and (seconds := _each(header[:_VALUE_MAX], date)):
        return max(seconds)
    resets = [
        reset
        for name, value in headers.items()
        if (reset := _reset_of(name, value, headers, date)) is not None
    ]
    return max(resets) if resets else None


def _each(text: str, date: str | None) -> list[float]:
    """Return a header's durations: one, or several where proxies joined values (``30, 30``)."""
    seconds = duration_seconds(text, date)
    if seconds is not None:
        return [seconds]
    durations = [duration_seconds(item, date) for item in text.split(",")]
    return [duration for duration in durations if duration is not None]


def _reset_of(name: str, value: str, headers: Mapping[str, str], date: str | None) -> float | None:
    """Return the seconds until a used-up limit is full again, by its header; None for others."""
    lowered = name.lower()
    if "ratelimit" not in lowered:
        return None
    if lowered == "ratelimit":  # one field for all, as the IETF drafts it
        match = _USED_UP.search(value[:_VALUE_MAX])
        return None if match is None else duration_seconds(match[1], date)
    if "remaining" not in lowered or _number(value) != 0:
        return None
    return duration_seconds(headers.get(lowered.replace("remaining", "reset")), date)


def quotas(headers: Mapping[str, str]) -> dict[str, Quota]:
    """Return the limits on ``requests`` and ``tokens`` that the headers name."""
    # One by one, since headers may be looked up in any case; a generator costs twice as much.
    if not (
        _LIMITS[0] in headers
        or _LIMITS[1] in headers
        or _LIMITS[2] in headers
        or _LIMITS[3] in headers
    ):
        return {}
    by_name: dict[str, Quota] = {}
    for kind in _KINDS:
        for prefix in _PREFIXES:
            limit = _number(headers.get(prefix.format(what="limit", kind=kind)))
            remaining = _number(headers.get(prefix.format(what="remaining", kind=kind)))
            if limit is not None and limit >= 1 and remaining is not None:
                reset = duration_seconds(
                    headers.get(prefix.format(what="reset", kind=kind)), headers.get("Date")
                )
                by_name[kind] = Quota(limit=limit, remaining=remaining, reset_seconds=reset)
    return by_name


def duration_seconds(text: str | None, date: str | None = None) -> float | None:
    """Parse a reset as seconds from now: ``1.5``, ``1m30s``, ``250ms``, seconds since 1970, or an
    ISO or HTTP date.

    Args:
        date: The response's own ``Date``, from which absolute times are measured.
    """
    if text is None or len(text) > _LENGTH_MAX:
        return None
    bare = text.strip(_QUOTES)
    number = _number(bare)
    if number is not None and number < _EPOCH_MIN:
        return number
    # The response's own clock, where it has one: that of this machine may be off.
    if number is not None:
        return _positive(_epoch(number) - _now(date).timestamp())
    if match := _PARTS.fullmatch(bare):
        return sum(float(amount) * _UNITS[unit.lower()] for amount, unit in _PART.findall(match[1]))
    until = _moment(bare, datetime.fromisoformat) or _http_date(bare)
    return None if until is None else _positive((until - _now(date)).total_seconds())


def _epoch(number: float) -> float:
    """Return seconds since 1970 of a number that counts seconds, milliseconds or microseconds."""
    while number >= _EPOCH_MAX:
        number /= 1000
    return number


def _now(date: str | None) -> datetime:
    return _http_date(date) or datetime.fromtimestamp(time.time(), UTC)


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None


def _number(text: str | None) -> float | None:
    number = None if text is None else plain_number(text)
    return number if number is not None and number >= 0 else None


def _http_date(text: str | None) -> datetime | None:
    return _moment(text, parsedate_to_datetime)


def _moment(text: str | None, parse: Callable[[str], datetime]) -> datetime | None:
    """Return a date as a parser reads it, in UTC where it names no zone."""
    if not text or not _DATE.fullmatch(text):
        return None
    try:
        moment = parse(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
