"""Exceptions of the transport and their translation to `Fault`: all that it catches is mapped."""

from __future__ import annotations

import errno
import ssl
import zlib
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade

from nel.config.redaction import redact_url
from nel.models.faults import NO_FILES, Fault

_DROPPED: Final = (errno.ECONNRESET, errno.EPIPE)
_TOO_MANY_FILES: Final = (errno.EMFILE, errno.ENFILE)
"""Of this process, and of the machine."""
REDIRECTS: Final = range(300, 400)
NO_TLS: Final = (
    "the endpoint does not speak TLS there; if it is one of plain HTTP, its URL begins with http://"
)
_NO_TLS: Final = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "PACKET_LENGTH_TOO_LONG",
    "UNKNOWN_PROTOCOL",
)
"""What OpenSSL says of bytes that are not a record of TLS."""


class ResponseTooLarge(ValueError):
    """The head or the body of a response exceeds its size limit."""


class ConnectFailed(OSError):
    """No connection was established, so the request was not sent."""


class ConnectionDropped(OSError):
    """The connection closed between the sending and the first byte of the response."""


class ResponseIncomplete(OSError):
    """The connection closed in the middle of a response, or a second response followed."""


class DeadlineExceeded(TimeoutError):
    """A deadline passed; `kind` is the kind of the fault."""

    def __init__(self, kind: str, message: str) -> None:
        """Set the kind and the message."""
        super().__init__(message)
        self.kind = kind


def deadline_exceeded(kind: str, seconds: float) -> DeadlineExceeded:
    """Return the exception of a deadline, named by the kind of its fault."""
    messages = {
        "connect_timeout": f"no connection within {seconds:g} s",
        "first_byte_timeout": f"no response began within {seconds:g} s",
        "idle_timeout": f"no data for {seconds:g} s in the middle of a response",
        "timeout": f"no complete response within the total timeout of {seconds:g} s",
    }
    return DeadlineExceeded(kind, messages[kind])


def fault_of_exception(error: Exception) -> Fault:
    """Return the fault of an exception; one that is not listed is a connection fault."""
    text = str(error) or type(error).__name__
    # From the special to the general: deadlines, TLS errors and broken connections are all
    # OSErrors, and ResponseTooLarge is a ValueError like unreadable content.
    if isinstance(error, DeadlineExceeded):
        return Fault(kind=error.kind, message=text, retryable=True)
    if isinstance(error, ResponseTooLarge):
        return Fault(kind="too_large", message=text, retryable=False)
    if isinstance(error, ssl.SSLError):
        if any(reason in text.upper().replace(" ", "_") for reason in _NO_TLS):
            text = f"{NO_TLS} ({text})"
        return Fault(kind="tls", message=f"TLS: {text}", retryable=False)
    if isinstance(error, ConnectionDropped):
        message = "the endpoint closed the connection before it answered"
        return Fault(kind="connection", message=message, retryable=True, hung_up=True)
    if isinstance(error, _UNREADABLE):
        if isinstance(error, HttpParserUpgrade):
            text = "the endpoint changes to another protocol than HTTP/1.1"
        return Fault(kind="malformed", message=f"unreadable response: {text}", retryable=True)
    # ConnectFailed has no errno of its own; the error that it was raised from has.
    if any(getattr(cause, "errno", None) in _TOO_MANY_FILES for cause in (error, error.__cause__)):
        message = f"{text}; not the endpoint's fault: raise the limit of open files (ulimit -n)"
        return Fault(kind=NO_FILES, message=message, retryable=True, never_connected=True)
    never_connected = isinstance(error, ConnectFailed)
    dropped = not never_connected and isinstance(error, OSError) and error.errno in _DROPPED
    return Fault(
        kind="connection",
        message=text,
        retryable=True,
        never_connected=never_connected,
        hung_up=dropped,
    )


_UNREADABLE: Final = (
    ResponseIncomplete,
    HttpParserError,
    HttpParserUpgrade,
    ValueError,
    zlib.error,
)


def redirect_fault(status: int, location: str | None) -> Fault:
    """Return the fault of a redirect. None is followed: the key would go to another host."""
    try:
        where = (
            f"redirected to {redact_url(location)[:200]}"
            if location
            else "redirected, but not where to"
        )
    except ValueError:
        where = "redirected to something that is not a URL"
    message = f"HTTP {status}: {where}; redirects are not followed, give the final URL"
    return Fault(kind="not_found", message=message, retryable=False, status=status)
