"""What goes wrong between here and the endpoint, as exceptions, and the fault that each of them is."""

from __future__ import annotations

import errno
import ssl
import zlib
from typing import Final

import aiohttp
from httptools import HttpParserError, HttpParserUpgrade

from nel.config.redaction import redact_url
from nel.models.faults import Fault

_HUNG_UP: Final = (errno.ECONNRESET, errno.EPIPE)
REDIRECTS: Final = range(300, 400)


class ResponseTooLarge(ValueError):
    """A body went over the configured size."""


class NeverConnected(OSError):
    """No connection was made."""


class HungUp(OSError):
    """The connection ended before the first byte of an answer."""


class BrokenOff(OSError):
    """The connection ended in the middle of an answer."""


class TooLate(TimeoutError):
    """A deadline passed; the message says which, `kind` names it."""

    def __init__(self, kind: str, message: str) -> None:
        """Name the deadline."""
        super().__init__(message)
        self.kind = kind


def too_late(kind: str, seconds: float) -> TooLate:
    """Return what passing a named deadline is."""
    said = {
        "connect_timeout": f"no connection within {seconds:g} s",
        "first_byte_timeout": f"no answer began within {seconds:g} s",
        "idle_timeout": f"silence in the middle of an answer within {seconds:g} s",
        "timeout": f"not finished within the total timeout of {seconds:g} s",
    }
    return TooLate(kind, said[kind])


def fault_of_exception(error: Exception) -> Fault:
    """Return what an exception of a transport means; every one that a transport catches is mapped."""
    text = str(error) or type(error).__name__
    if isinstance(error, TooLate):
        return Fault(kind=error.kind, message=text, retryable=True)
    if isinstance(error, ResponseTooLarge):
        return Fault(kind="too_large", message=text, retryable=False)
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError)):
        return Fault(kind="tls", message=f"TLS: {text}", retryable=False)
    if isinstance(error, aiohttp.InvalidURL):
        return Fault(kind="not_found", message=f"invalid URL: {text}", retryable=False)
    if isinstance(error, (HungUp, aiohttp.ServerDisconnectedError)):
        return Fault(kind="connection", message="the endpoint hung up before it answered", retryable=True, hung_up=True)
    if isinstance(error, _UNREADABLE):
        return Fault(kind="malformed", message=f"unreadable response: {text}", retryable=True)
    never_connected = isinstance(error, (NeverConnected, aiohttp.ClientConnectorError))
    hung_up = not never_connected and isinstance(error, OSError) and error.errno in _HUNG_UP
    return Fault(kind="connection", message=text, retryable=True, never_connected=never_connected, hung_up=hung_up)


_UNREADABLE: Final = (
    BrokenOff,
    HttpParserError,
    HttpParserUpgrade,
    aiohttp.ClientPayloadError,
    aiohttp.ClientResponseError,
    ValueError,
    zlib.error,
)


def redirected(status: int, location: str | None) -> Fault:
    """Return the fault of an endpoint that says it is somewhere else."""
    where = redact_url(location or "?")[:200]
    message = f"HTTP {status}: redirected to {where}; redirects are not followed, give the final URL"
    return Fault(kind="not_found", message=message, retryable=False, status=status)
