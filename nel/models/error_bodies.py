"""Reads error bodies of any shape: the message, and the codes beside or below it.

The shapes and who sends them; no I/O:

    {"error": {"message", "code", "type"}}               OpenAI and most others; in a list Gemini
    {"error": "…", "code": "…"}                          xAI, TGI, Ollama
    {"message"}, {"detail"}, {"errors": […]}             Mistral, FastAPI, watsonx
    {"base_resp": {"status_code", "status_msg"}}         MiniMax, with HTTP 200
    {"error": {"metadata": {"raw": "…"}}}                OpenRouter: the server's own message
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from nel.core.strict_json import loads

BOM: Final = b"\xef\xbb\xbf"
"""A byte order mark, which some servers and proxies put before JSON."""
_READ_CHARACTERS_MAX = 4_000
"""Of an error body that are read for what it says."""
_CODE_CHARACTERS_MAX = 100
_CODE_MAX = 1_000_000
_DEPTH_MAX: Final = 4
_CODES_MAX: Final = 16
_PARTS_MAX: Final = 8
"""Of a list of errors that are read."""
_MESSAGES: Final = (
    "message",
    "detail",
    "error",
    "errors",
    "msg",
    "error_msg",
    "status_msg",
    "errorMessage",
    "title",
)
_CODES: Final = (
    "code",
    "type",
    "status",
    "reason",
    "error_code",
    "error_type",
    "status_code",
    "__type",
    "finishReason",
)
_INNER: Final = (
    "error",
    "detail",
    "innererror",
    "inner_error",
    "base_resp",
    "metadata",
    "details",
    "errors",
)
"""Fields below which further codes stand."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error body says, whatever its shape."""

    message: str
    codes: tuple[str, ...] = ()
    """Its ``code``, ``type``, ``status`` and the like: words and numbers, in lower case."""


def error_body(body: bytes) -> ErrorBody:
    """Return the message and the codes of an error body, as far as it has them."""
    try:
        return error_said(loads(body))
    except ValueError:
        # A web page, mostly of a proxy: its words, without style sheets, scripts and tags.
        text = body[:_READ_CHARACTERS_MAX].decode("utf-8", "replace")
        text = re.sub(
            r"<(style|script)\b.{0,4000}?(?:</\1>|$)", " ", text, flags=re.IGNORECASE | re.DOTALL
        )
        return ErrorBody(re.sub(r"<[^>]{0,200}>", " ", text))


def error_said(error: object) -> ErrorBody:
    """Return the message and the codes of an error, whatever JSON it is."""
    codes = dict.fromkeys(_codes(error, _DEPTH_MAX))
    return ErrorBody(_message(error, _DEPTH_MAX), tuple(codes)[:_CODES_MAX])


def error_in(payload: object) -> object:
    """Return the error that a decoded body is or holds instead of an answer; None where it is not
    known to be one.

    With HTTP 200 some servers send an error without an ``error``: FastChat an object of the type
    ``error``, MiniMax a ``base_resp``, Baidu an ``error_code``, Gemini a list of an object with an
    ``error``, others nothing but a message.
    """
    if isinstance(payload, list) and len(payload) == 1:
        return error_in(payload[0]) if isinstance(payload[0], Mapping) else None
    if not isinstance(payload, Mapping):
        return None
    if payload.get("error"):
        error = payload["error"]
        # A text may have its code, or a longer message, beside it.
        is_beside = isinstance(error, str) and ("message" in payload or "code" in payload)
        return payload if is_beside else error
    if "error" in (payload.get("object"), payload.get("type")) or payload.get("error_code"):
        return payload
    state = payload.get("base_resp")
    if isinstance(state, Mapping) and state.get("status_code"):
        return state
    if "choices" in payload:
        return None
    has_message = any(isinstance(payload.get(name), str) and payload[name] for name in _MESSAGES)
    return payload if has_message or payload.get("errors") else None


def _message(error: object, depth: int) -> str:
    """Return an error's message and, where a proxy repeats it, that of the server behind it."""
    if isinstance(error, list):
        items = error[:_PARTS_MAX] if depth > 0 else []
        messages = filter(None, (_message(item, depth - 1) for item in items))
        return "; ".join(messages)[:_READ_CHARACTERS_MAX] or _text(error)
    if not isinstance(error, Mapping):
        return _text(error)
    text = next((error[name] for name in _MESSAGES if error.get(name)), None)
    if text is None:
        base_response = error.get("base_resp")
        if depth > 0 and isinstance(base_response, Mapping):
            return _message(base_response, depth - 1)
        return ""
    message = _message(text, depth - 1) if depth > 0 else _text(text)
    message = f"{_location(error)}{message}"
    source = _source(error)
    if source is None or depth <= 0:
        return message
    return f"{message}: {_message(source, depth - 1)}"


def _location(error: Mapping[str, object]) -> str:
    """Return where pydantic locates a problem, e.g. ``max_tokens: ``; empty for other errors."""
    location = error.get("loc")
    if not isinstance(location, list):
        return ""
    names = [
        str(step)
        for step in location[:_PARTS_MAX]
        if isinstance(step, str | int) and step != "body"
    ]
    return ".".join(names)[:_CODE_CHARACTERS_MAX] + ": " if names else ""


def _source(error: Mapping[str, object]) -> object:
    """Return what a proxy repeats of the server behind it, decoded if it is JSON; else None."""
    metadata = error.get("metadata")
    provider_text = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if not isinstance(provider_text, str) or not provider_text:
        return provider_text if isinstance(provider_text, Mapping) else None
    try:
        decoded = loads(provider_text[: 4 * _READ_CHARACTERS_MAX])
    except ValueError:
        return provider_text
    return decoded if isinstance(decoded, Mapping | list) else provider_text


def _codes(error: object, depth: int) -> Iterator[str]:
    if depth <= 0:
        return
    if isinstance(error, list):
        for item in error[:_PARTS_MAX]:
            yield from _codes(item, depth - 1)
    elif isinstance(error, Mapping):
        yield from (_text(error[name]).lower() for name in _CODES if _is_code(error.get(name)))
        for name in _INNER:
            if isinstance(error.get(name), Mapping | list):
                yield from _codes(error[name], depth - 1)
        if "metadata" in error and not isinstance(source := _source(error), str):
            yield from _codes(source, depth - 1)


def _is_code(code: object) -> bool:
    """Return whether a code is a word or a number of a length that one may have."""
    if isinstance(code, str):
        return 0 < len(code) <= _CODE_CHARACTERS_MAX
    return type(code) is int and 0 <= code < _CODE_MAX


def _text(value: object) -> str:
    """Return a JSON value of any size and depth as text of bounded length."""
    if isinstance(value, str):
        return value[:_READ_CHARACTERS_MAX]
    try:
        return str(value)[:_READ_CHARACTERS_MAX]
    except (ValueError, RecursionError):  # a number of 5,000 digits, or lists in lists
        return f"a {type(value).__name__}"
