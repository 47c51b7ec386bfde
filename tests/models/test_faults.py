"""Every failed attempt is classified: retry or not, whose fault, how long to wait."""

from __future__ import annotations

import errno
from datetime import UTC, datetime

import pytest
from multidict import CIMultiDict

from nel.models.faults import fault_of_error_object
from nel.models.rate_limit_headers import retry_after_seconds
from nel.models.transport import ResponseTooLarge, fault_of_exception


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"message": "x", "code": "429"}, "rate_limit", True),
        ({"message": "x", "code": "insufficient_quota"}, "quota", False),
        ({"message": "too long", "code": "context_length_exceeded"}, "context_exceeded", False),
        ({"message": "maximum context length is 5", "code": 400}, "context_exceeded", False),
        ({"message": "x", "type": "invalid_request_error"}, "bad_request", False),
        ("overloaded", "server_error", True),
        ({"message": "x", "code": 7}, "server_error", True),
    ],
)
def test_error_objects_inside_a_200(error: object, kind: str, retryable: bool) -> None:
    """An error object is classified by its own code, number or word."""
    fault = fault_of_error_object(error)
    assert (fault.kind, fault.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "abc"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "Fri, 13 Nov 2026 10:00:07 GMT", "Date": "Fri, 13 Nov 2026 10:00:00 GMT"}, 7.0),
        ({"Retry-After": "Friday, 13-Nov-26 10:00:07 GMT", "Date": "Fri, 13 Nov 2026 10:00:00 GMT"}, 7.0),
        ({"Retry-After": "Fri Nov 13 10:00:07 2026", "Date": "Fri, 13 Nov 2026 10:00:00 GMT"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "Tue, 99 Foo 2025 99:99:99 GMT"}, None),
        ({"retry-after-ms": "500", "Retry-After": "60"}, 0.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "0.5s"}, 0.5),
        ({"Retry-After": "Fri, 13 Nov 2026 09:00:00 GMT", "Date": "Fri, 13 Nov 2026 10:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and the three HTTP dates, measured by the server's own clock; nonsense is ignored."""
    assert retry_after_seconds(headers) == seconds


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (ResponseTooLarge("too large"), "too_large", False),
        (ConnectionResetError("reset"), "connection", True),
        (OSError(errno.EMFILE, "Too many open files"), "open_files", True),
        (OSError(errno.ENFILE, "Too many open files in system"), "open_files", True),
    ],
)
def test_transport_exceptions(error: Exception, kind: str, retryable: bool) -> None:
    fault = fault_of_exception(error)
    assert (fault.kind, fault.retryable) == (kind, retryable)
    assert fault.message


_DATE = "Fri, 13 Nov 2026 10:00:00 GMT"
_EPOCH = int(datetime(2026, 11, 13, 10, tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("30s", 30.0),
        ("1m30s", 90.0),
        ("500ms", 0.5),
        ("30 seconds", 30.0),
        ("PT1M30S", 90.0),
        ('"30"', 30.0),
        ("30, 30", 30.0),
        ("2026-11-13T10:00:07Z", 7.0),
        (str(_EPOCH + 60), 60.0),
        (str((_EPOCH + 60) * 1000), 60.0),
        (str(_EPOCH - 60), None),
        ("soon", None),
        (",", None),
        ("30 parsecs", None),
    ],
)
def test_a_wait_in_any_dialect(value: str, seconds: float | None) -> None:
    """Durations with units, times since 1970 in any fraction of a second, and a header that proxies wrote twice.

    A time since 1970 that counts as seconds from now ends a run with "takes no request before 2036".
    """
    assert retry_after_seconds({"Retry-After": value, "Date": _DATE}) == seconds


@pytest.mark.parametrize(
    "headers",
    [
        {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str((_EPOCH + 59) * 1000)},
        {"RateLimit-Limit": "20", "RateLimit-Remaining": "0", "RateLimit-Reset": "59"},
        {"RateLimit": "limit=20, remaining=0, reset=59"},
        {"RateLimit": '"default";r=0;t=59'},
        {"anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-input-tokens-reset": "59s"},
        {"x-ratelimit-remaining-requests-day": "0", "x-ratelimit-reset-requests-day": "59"},
        {"x-ms-retry-after-ms": "59000"},
        {"Retry-After": "soon", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "59s"},
    ],
)
def test_a_limit_that_is_used_up_under_any_name(headers: dict[str, str]) -> None:
    """OpenRouter's and GitHub's, the IETF's drafts, Anthropic's, Cerebras' and Azure's names."""
    assert retry_after_seconds(CIMultiDict({**headers, "Date": _DATE})) == 59.0
