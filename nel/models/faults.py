"""Decides what a failed attempt means: retry or not, whose fault, how long to wait. Sends nothing.

HTTP 200 is not success. An error object, an empty list of choices or an HTML login page arrive with
it too.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from nel.config.numbers import plain_int
from nel.models.answer_json import Contradiction
from nel.models.error_bodies import BOM, ErrorBody, error_body, error_in, error_said
from nel.models.rate_limit_headers import retry_after_seconds
from nel.types import FailureKind, ResponseError

if TYPE_CHECKING:
    from nel.models.vendor_words import Meaning

_LOG = logging.getLogger(__name__)
_RETRYABLE_BELOW_500: Final = frozenset({408, 409, 425, 429, 499})
"""Timeout, conflict, too early, too many requests, and nginx's for a request that was cancelled."""
FINAL_SERVER_ERRORS: Final = frozenset({501, 505, 506, 510, 511})
"""Of the server, and the same for each request: not implemented, another version of HTTP, a network
to sign in to.
"""
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
    499: "server_error",  # nginx and gRPC: the request was cancelled, and not by its sender
}
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
    "invalid_argument": 400,
    "failed_precondition": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "resource_exhausted": 429,
    "throttlingexception": 429,
    "internal": 500,
    "unavailable": 503,
    "deadline_exceeded": 504,
}
"""Codes that vendors put into an error object, by the status they belong to."""
_MESSAGE_CHARACTERS_MAX = 300
_START_BYTES = 1_000
"""Of a body that is not JSON, for saying what it is instead."""
_BAD_REQUEST = 400
_TOO_MANY = 429
_PROMPT_STATUSES: Final = frozenset({400, 413, 422, 500})
"""Statuses with which servers refuse a prompt that is too long."""
_STATUS_OF_MEANING: Final[Mapping[str, int]] = {"auth": 401, "rate_limit": 429}
_TOO_LARGE_FOR_RATE: Final = re.compile(
    r"request too large\b.{0,200}\btokens per min", re.IGNORECASE | re.DOTALL
)
"""OpenAI and Groq refuse a request above the tokens of a minute; waiting does not change that."""
_SERVER_ERROR = 500
_ERROR_STATUSES = range(400, 600)
_SERVER_ERRORS: Final = range(500, 600)
_OK = 200
ANSWERED: Final = frozenset({200, 201, 203})
"""Statuses of an answer: frameworks send 201 for any POST unless told otherwise, proxies 203."""
NO_FILES: Final = "open_files"
"""Kind of the fault of a connection that this process, or this machine, may not open."""
UNSIGNED: Final = "unsigned"
"""Kind of the fault of a request that could not be signed, so that it was not sent."""
_REFUSED: Final = frozenset({"auth", "not_found", "bad_request", "tls", UNSIGNED})
_OTHER_STATUS: Final = "http_"
"""A status that is not an answer and that no retry cures: 204, 426, 451 …"""


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
    """The connection closed without a byte of an answer, as an idle one may on late reuse."""
    on_reused: bool = False
    """On a connection that had served another request before."""

    @property
    def may_have_cost(self) -> bool:
        """Return whether the endpoint may have worked, and bill, though no answer arrived."""
        if self.status is not None and self.status != _OK:
            return False
        return not self.is_of_connection

    @property
    def is_of_connection(self) -> bool:
        """Return whether no connection was made, which no request is the reason for."""
        return self.never_connected or self.kind == "connect_timeout"


def fault_of_status(
    status: int, headers: Mapping[str, str], body: bytes, *, max_tokens: int | None = None
) -> Fault:
    """Return what a response with an error status means.

    Args:
        max_tokens: The limit on the answer that was sent; some servers name its sum with the prompt
            alone.
    """
    body_error = error_body(body)
    # Bedrock's body has a message alone; the code is "ThrottlingException:http://…" in a header.
    if aws := headers.get("x-amzn-errortype"):
        body_error = replace(body_error, codes=(*body_error.codes, aws.partition(":")[0].lower()))
    fault = _fault_of(status, headers, body_error, max_tokens)
    if not fault.retryable or fault.wait_seconds is not None:
        return fault
    delay = _RETRY_DELAY.search(body)
    return fault if delay is None else replace(fault, wait_seconds=float(delay[1]))


def _fault_of(
    status: int, headers: Mapping[str, str], error: ErrorBody, max_tokens: int | None = None
) -> Fault:
    from nel.models.vendor_words import meaning_of  # noqa: PLC0415 - most runs see no refusal

    message = _clip(error.message)
    described = f"HTTP {status}" + (f": {message}" if message else "")
    meaning = meaning_of(status, error)
    failure = _model_failure(status, error, meaning, max_tokens)
    if failure is not None:
        return Fault(
            kind=failure, message=described, retryable=False, status=status, model_failure=failure
        )
    if meaning == "quota":
        return Fault(kind="quota", message=described, retryable=False, status=status)
    # What the words mean prevails over the status: a wrong key with 400 is handled as one with 401.
    status_of_kind = _STATUS_OF_MEANING.get(meaning or "", status)
    other_kind = "server_error" if status >= _SERVER_ERROR else f"{_OTHER_STATUS}{status}"
    kind = _KINDS.get(status_of_kind, other_kind)
    is_hopeless = status_of_kind == _TOO_MANY and _TOO_LARGE_FOR_RATE.search(error.message)
    return Fault(
        kind=kind,
        message=described,
        retryable=_retryable(status_of_kind, headers) and not is_hopeless,
        status=status,
        wait_seconds=retry_after_seconds(headers),
    )


def _model_failure(
    status: int, error: ErrorBody, meaning: Meaning | None, max_tokens: int | None
) -> FailureKind | None:
    """Return how a refusal says that the model failed: prompt too long, or answer filtered."""
    from nel.models.context_window import blame, is_sure  # noqa: PLC0415 - as above

    if meaning == "content_filter":
        return "content_filter"
    if meaning is not None or status not in _PROMPT_STATUSES:
        return None
    if blame(error.message, error.codes, max_tokens=max_tokens) != "prompt":
        return None
    # A server error is worth another try, unless it names a size or an excess.
    if status >= _SERVER_ERROR and not is_sure(error.message, error.codes):
        return None
    return "context_exceeded"


def _retryable(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a status is worth another try.

    ``x-should-retry: false`` overrules any status, ``true`` only that of a server error.
    """
    header = headers.get("x-should-retry", "").lower()
    if header == "false":
        return False
    is_server_error = status in _SERVER_ERRORS and status not in FINAL_SERVER_ERRORS
    return (
        is_server_error
        or status in _RETRYABLE_BELOW_500
        or (header == "true" and status >= _SERVER_ERROR)
    )


def fault_of_error_object(error: object) -> Fault:
    """Return the fault of an ``error`` in an HTTP 200 body, by its code, or else by its words."""
    body_error = error_said(error)
    # A number that is a status, such as OpenRouter's {"code": 429}, before a word that stands for
    # one.
    numbers = (plain_int(code) for code in body_error.codes)
    statuses = [number for number in numbers if number is not None and number in _ERROR_STATUSES]
    statuses += [_STATUS_OF_CODE[code] for code in body_error.codes if code in _STATUS_OF_CODE]
    status = statuses[0] if statuses else _status_of_words(body_error)
    fault = _fault_of(status, {}, body_error)
    message = _clip(body_error.message) or "no message"
    return replace(fault, message=f"HTTP 200 with an error: {message}", status=_OK)


def _status_of_words(error: ErrorBody) -> int:
    """Return the status that an error without a code would have had."""
    from nel.models.context_window import blame  # noqa: PLC0415 - as above
    from nel.models.vendor_words import RATE, meaning_of  # noqa: PLC0415

    if RATE.search(error.message):
        return _TOO_MANY
    is_refused = meaning_of(_BAD_REQUEST, error) is not None
    if is_refused or blame(error.message, error.codes) == "prompt":
        return _BAD_REQUEST
    return _SERVER_ERROR


def aborted_fault(finish_reason: str) -> Fault:
    """Return the fault of an answer that the server broke off; worth another try."""
    return Fault(
        kind="aborted",
        message=f'the server broke off its answer (finish reason "{_clip(finish_reason)}")',
        retryable=True,
        status=_OK,
    )


def object_in(payload: object) -> dict[str, Any] | Fault:
    """Return the object that a decoded body has to be, or the fault that it is instead."""
    if not isinstance(payload, dict):
        return no_answer(payload, f"the body is a JSON {type(payload).__name__}, not an object")
    return fault_of_error_object(error_in(payload)) if payload.get("error") else payload


def no_answer(payload: object, message: str) -> Fault:
    """Return the fault of a body without an answer: the error in it, or else malformed."""
    error = error_in(payload)
    return malformed_fault(message) if error is None else fault_of_error_object(error)


def malformed_fault(message: str) -> Fault:
    """Return the fault of an answer that is not what the protocol says; worth another try."""
    return Fault(kind="malformed", message=message, retryable=True, status=_OK)


def not_json(body: bytes, error: ValueError) -> Fault:
    """Return the fault of a body that is not JSON or contradicts itself, with what it holds."""
    start = body[:_START_BYTES].removeprefix(BOM).strip()
    if isinstance(error, Contradiction):
        return malformed_fault(str(error))
    if not start:
        return malformed_fault("the body is empty")
    if start[:1] == b"<":
        return malformed_fault(
            f"the body is a web page, not JSON: {_clip(error_body(body).message)}"
        )
    return malformed_fault(f"the body is not JSON ({error}): {start[:80]!r}")


UNREADABLE: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What code that reads an answer may raise where the answer has an unforeseen shape."""


def unreadable(error: Exception) -> Fault:
    """Return the fault of an answer that made its reader raise; the traceback goes to the log.

    A bug of the reader, but one answer never ends a run.
    """
    _LOG.error("an answer could not be read", exc_info=error)
    return malformed_fault(
        f"the answer could not be read ({type(error).__name__}: {_clip(str(error))})"
    )


def _clip(text: str) -> str:
    start = text[: 2 * _MESSAGE_CHARACTERS_MAX]
    printable = "".join(character if character.isprintable() else " " for character in start)
    line = " ".join(printable.split())
    return line if len(line) <= _MESSAGE_CHARACTERS_MAX else f"{line[:_MESSAGE_CHARACTERS_MAX]}…"


def is_refusal(error: ResponseError | None) -> bool:
    """Return whether an endpoint refused a request for good, and not for its prompt or answer."""
    if error is None or error.model_failure is not None:
        return False
    return (
        error.kind in _REFUSED
        or error.kind.startswith(_OTHER_STATUS)
        or error.status in FINAL_SERVER_ERRORS
    )


def is_unanswered(error: ResponseError | None) -> bool:
    """Return whether a request was refused, or its connection closed without an answer."""
    return is_refusal(error) or (error is not None and error.kind == "connection")
