"""Reads what a transport received: the decoded payload or its fault, without any secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from nel.config.redaction import Redactor
from nel.models.answer_json import answer_of
from nel.models.faults import (
    ANSWERED,
    UNREADABLE,
    Fault,
    fault_of_status,
    not_json,
    unreadable,
)
from nel.models.streams import AnswerStream, is_event_stream
from nel.models.transport import Fetched
from nel.types import Response, ResponseError

Parse: TypeAlias = Callable[[Any], Response | Fault]
"""Reads a decoded HTTP 200 body."""
_FALLBACKS: Final = "x-litellm-attempted-fallbacks"
_FALLBACK_MODELS: Final = ("x-litellm-model-group", "x-litellm-model-id")
_NAME_CHARACTERS_MAX: Final = 200


def fallback_of(headers: Mapping[str, str]) -> str | None:
    """Return the model that a gateway fell back to, "unnamed" where it does not say which; None
    where it did not.

    LiteLLM's proxy names the requested model in the body of the answer whatever it asked, and says
    the rest in headers (docs.litellm.ai, "Response Headers").

    >>> fallback_of({"x-litellm-attempted-fallbacks": "1", "x-litellm-model-group": "small"})
    'small'
    """
    attempted = headers.get(_FALLBACKS, "")
    if not attempted.isdecimal() or int(attempted[:9]) == 0:
        return None
    names = (headers[name] for name in _FALLBACK_MODELS if headers.get(name))
    return next(names, "unnamed")[:_NAME_CHARACTERS_MAX]


class PayloadReader:
    """Reads what one endpoint answers."""

    def __init__(self, redactor: Redactor) -> None:
        """Remove these secrets from everything that is read."""
        self._redactor = redactor

    def payload(
        self, fetched: Fetched | Fault, stream: AnswerStream | None, limit: int | None = None
    ) -> Any | Fault:
        """Return the decoded payload, or a fault.

        Args:
            fetched: What was received.
            stream: What has read it already, where an event stream was asked for.
            limit: Of tokens, that was sent.
        """
        if isinstance(fetched, Fault):
            return fetched
        try:
            return self._decode(fetched, stream, limit)
        except UNREADABLE as error:
            return unreadable(error)

    def answer(
        self, fetched: Fetched | Fault, stream: AnswerStream | None, limit: int, parse: Parse
    ) -> Response | Fault:
        """Return the answer to a request, with the times that were measured, or a fault."""
        payload = self.payload(fetched, stream, limit)
        if isinstance(payload, Fault) or isinstance(fetched, Fault):
            return payload
        try:
            answer = parse(payload)
        except UNREADABLE as error:
            return unreadable(error)
        if isinstance(answer, Fault):
            return answer
        first_token = between = None
        if stream is not None and fetched.streamed:
            times = stream.token_times
            if times:
                first_token = max(0.0, times[0] - fetched.started)
            if len(times) > 1:
                between = (times[-1] - times[0]) / (len(times) - 1)
        return answer.set_measurements(
            latency_seconds=fetched.seconds,
            fallback=fallback_of(fetched.headers),
            first_token_seconds=first_token,
            inter_token_seconds=between,
        )

    def describe(self, fault: Fault) -> str:
        """Return a fault's message with every trace of a secret removed."""
        return self._redactor.message(fault.message)

    def error_of(self, fault: Fault) -> ResponseError:
        """Return the error of a response that a fault ended."""
        return ResponseError(
            kind=fault.kind,
            message=self.describe(fault),
            status=fault.status,
            model_failure=fault.model_failure,
        )

    def _decode(
        self, fetched: Fetched, stream: AnswerStream | None, limit: int | None
    ) -> Any | Fault:
        if fetched.status not in ANSWERED:
            body = self._redactor.body(fetched.body)
            return fault_of_status(fetched.status, fetched.headers, body, max_tokens=limit)
        if stream is not None and (fetched.streamed or is_event_stream(fetched.body)):
            answer = stream.answer() if fetched.streamed else stream.whole(fetched.body)
            return answer if isinstance(answer, Fault) else self._redactor.json(answer)
        try:
            return self._redactor.json(answer_of(fetched.body), fetched.body)
        except ValueError as error:
            return not_json(self._redactor.body(fetched.body), error)
