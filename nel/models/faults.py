"""Decides what a failed attempt means: retry or not, whose fault, how long to wait. Sends nothing.

HTTP 200 is not success. An error object, an empty list of choices or an HTML login page arrive with it too.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from nel.core.plain_numbers import plain_int
from nel.core.strict_json import loads
from nel.models.context_window import PROMPT_CODES, blame
from nel.models.rate_limit_headers import retry_after_seconds
from nel.types import FailureKind

_LOG = logging.getLogger(__name__)
RETRYABLE_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_KINDS: Final = {
    400: "bad_request",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    413: "bad_request",
    422: "bad_request",
    429: "rate_limit",
}
_CONTENT_FILTER = re.compile(r"content.?(?:filter|policy|management)|flagged as potentially violating", re.IGNORECASE)
_BAD_KEY: Final = re.compile(r"api key not valid|no connected db", re.IGNORECASE)
"""Gemini says so with 400, and LiteLLM without a database, in which it would look for any key but its own."""
_NO_CREDIT: Final = re.compile(r"credit balance is too low", re.IGNORECASE)
"""Anthropic says so with 400."""
_RETRY_DELAY: Final = re.compile(rb'"retryDelay"\s*:\s*"([0-9]{1,9}(?:\.[0-9]{1,9})?)s"')
"""Of Gemini, which sends no Retry-After."""
_STATUS_OF_CODE: Final = {
    "context_length_exceeded": 400,
    "content_filter": 400,
    "invalid_request_error": 400,
    "invalid_api_key": 401,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "model_not_found": 404,
    "server_error": 500,
    "invalid_prompt": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Codes that vendors put into an error object, by the status they belong to."""
_MESSAGE_CHARACTERS_MAX = 300
_READ_CHARACTERS_MAX = 4_000
"""Of an error body that are read for what it says."""
_BAD_REQUEST = 400
_UNAUTHORIZED = 401
_SERVER_ERROR = 500
_ERROR_STATUSES = range(400, 600)
_OK = 200
_CODE_CHARACTERS_MAX = 100
_CODE_MAX = 1_000_000
NO_FILES: Final = "open_files"
"""Kind of the fault of a connection that this process, or this machine, may not open."""
UNSIGNED: Final = "unsigned"
"""Kind of the fault of a request that could not be signed, so that it was not sent."""
_NO_QUOTA: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One failed attempt."""

    kind: str
    message: str
    retryable: bool
    status: int | None = None
    wait_seconds: float | None = None
    """What the server asked for."""
    model_failure: FailureKind | None = None
    """Set when the request was answered and the model is to blame."""
    never_connected: bool = False
    """The request never left; no request of any kind could have."""
    hung_up: bool = False
    """The connection was closed without a byte of an answer, as an idle one is that is used again too late."""
    on_reused: bool = False
    """On a connection that had served another request before."""

    @property
    def may_have_cost(self) -> bool:
        """Return whether the endpoint may have worked, and bill, without its answer having arrived."""
        if self.status is not None and self.status != _OK:
            return False
        return not self.is_of_connection

    @property
    def is_of_connection(self) -> bool:
        """Return whether no connection was made, which no request is the reason for."""
        return self.never_connected or self.kind == "connect_timeout"


def fault_of_status(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Return what a response with an error status means."""
    fault = _fault_of(status, headers, error_body(body))
    delay = _RETRY_DELAY.search(body) if fault.retryable and fault.wait_seconds is None else None
    return fault if delay is None else replace(fault, wait_seconds=float(delay[1]))


def _fault_of(status: int, headers: Mapping[str, str], said: ErrorBody) -> Fault:
    message = _clip(said.message)
    described = f"HTTP {status}" + (f": {message}" if message else "")
    failure = _model_failure(status, said)
    if failure is not None:
        return Fault(kind=failure, message=described, retryable=False, status=status, model_failure=failure)
    if not _NO_QUOTA.isdisjoint(said.codes) or (status == _BAD_REQUEST and _NO_CREDIT.search(said.message)):
        return Fault(kind="quota", message=described, retryable=False, status=status)
    status_of_kind = _UNAUTHORIZED if status == _BAD_REQUEST and _BAD_KEY.search(said.message) else status
    kind = _KINDS.get(status_of_kind) or ("server_error" if status >= _SERVER_ERROR else f"http_{status}")
    return Fault(
        kind=kind,
        message=described,
        retryable=_retryable(status, headers),
        status=status,
        wait_seconds=retry_after_seconds(headers),
    )


def _model_failure(status: int, said: ErrorBody) -> FailureKind | None:
    """Return how the model failed where a refusal says that it did: a prompt too long, or an answer filtered."""
    is_too_long = status in (400, 413, 422, 500) and blame(said.message, said.codes) == "prompt"
    # A server error alone is worth another try: one that names the sizes or the code is not chance.
    is_sure = status < _SERVER_ERROR or not PROMPT_CODES.isdisjoint(said.codes) or re.search("[0-9]", said.message)
    if is_too_long and is_sure:
        return "context_exceeded"
    if status in (400, 403, 422) and ("content_filter" in said.codes or _CONTENT_FILTER.search(said.message)):
        return "content_filter"
    return None


def _retryable(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a status is worth another try; the server's own word (``x-should-retry``) wins."""
    told = headers.get("x-should-retry", "").lower()
    if told == "false":
        return False
    return status in RETRYABLE_STATUSES or (told == "true" and status >= _SERVER_ERROR)


def fault_of_error_object(error: object) -> Fault:
    """Return what an ``error`` inside an HTTP 200 body means, by its own code."""
    said = _said(error)
    numbers = (plain_int(code) for code in said.codes)
    known = [number for number in numbers if number is not None and number in _ERROR_STATUSES]
    known += [_STATUS_OF_CODE[code] for code in said.codes if code in _STATUS_OF_CODE]
    inner = _fault_of(known[0] if known else _SERVER_ERROR, {}, said)
    return replace(inner, message=f"HTTP 200 with an error: {_clip(said.message)}", status=_OK)


def aborted(finish_reason: str) -> Fault:
    """Return the fault of an answer that the server broke off; worth another try."""
    return Fault(
        kind="aborted",
        message=f'the server broke off its answer (finish reason "{_clip(finish_reason)}")',
        retryable=True,
        status=_OK,
    )


def malformed(message: str) -> Fault:
    """Return the fault of an answer that is not what the protocol says; worth another try."""
    return Fault(kind="malformed", message=message, retryable=True, status=_OK)


UNREADABLE: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What code that reads an answer may raise where the answer has a shape that it was not written for."""


def unreadable(error: Exception) -> Fault:
    """Return the fault of an answer that made its reader raise; the traceback goes to the log.

    A bug of the reader, but one answer never ends a run.
    """
    _LOG.error("an answer could not be read", exc_info=error)
    return malformed(f"the answer could not be read ({type(error).__name__}: {_clip(str(error))})")


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error body says, whatever its shape."""

    message: str
    codes: tuple[str, ...] = ()
    """Its ``code``, ``type`` and ``status``, as far as they are words or numbers, in lower case."""


def error_body(body: bytes) -> ErrorBody:
    """Return the message and the codes of an error body, as far as it has them."""
    try:
        payload = loads(body)
    except ValueError:
        text = body[:_READ_CHARACTERS_MAX].decode("utf-8", "replace")
        return ErrorBody(re.sub(r"<[^>]{0,200}>", " ", text))
    if isinstance(payload, list) and len(payload) == 1:  # as Gemini sends it
        payload = payload[0]
    if isinstance(payload, dict) and isinstance(payload.get("error"), str) and "message" in payload:
        return _said(payload)
    return _said(payload.get("error") or payload if isinstance(payload, dict) else payload)


def _said(error: object) -> ErrorBody:
    if not isinstance(error, Mapping):
        return ErrorBody(_text(error))
    message = next((error[name] for name in ("message", "detail", "error", "msg") if error.get(name)), "")
    codes = (error.get(name) for name in ("code", "type", "status"))
    return ErrorBody(_text(message), tuple(_text(code).lower() for code in codes if _is_code(code)))


def _is_code(code: object) -> bool:
    """Return whether a code is a word or a number of a length that one may have."""
    if isinstance(code, str):
        return len(code) <= _CODE_CHARACTERS_MAX
    return type(code) is int and 0 <= code < _CODE_MAX


def _text(value: object) -> str:
    """Return a JSON value of any size and depth as text of bounded length."""
    if isinstance(value, str):
        return value[:_READ_CHARACTERS_MAX]
    try:
        return str(value)[:_READ_CHARACTERS_MAX]
    except (ValueError, RecursionError):  # a number of 5,000 digits, or lists in lists
        return f"a {type(value).__name__}"


def _clip(text: str) -> str:
    start = text[: 2 * _MESSAGE_CHARACTERS_MAX]
    line = " ".join("".join(character if character.isprintable() else " " for character in start).split())
    return line if len(line) <= _MESSAGE_CHARACTERS_MAX else f"{line[:_MESSAGE_CHARACTERS_MAX]}…"
