"""From a request's JSON to queries, one for each prompt. Responsible for what is accepted and the
words of every refusal.

It answers nothing. A setting that would be ignored is refused instead, since a client that believes
it was obeyed measures something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

LOGPROBS_MAX: Final = 20
"""Alternatives a client may ask for at each token."""

Protocol = Literal["chat", "completions"]


class EndpointFault(Exception):
    """What a server answers instead of a reply: a status, a short stable code and a message for
    people.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.param = param


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One prompt to be answered, with the settings that matter here."""

    protocol: Protocol
    text: str
    """The prompt, or the text of all messages joined with newlines."""
    seed: int | None = None
    max_tokens: int | None = None
    """Zero only for completions."""
    stop: tuple[str, ...] = ()
    sample_id: str | None = None
    """The header ``X-Nel-Sample-Id``, where the client opted in."""
    repeat: int | None = None
    """The header ``X-Nel-Repeat``, where the client opted in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One accepted request."""

    protocol: Protocol
    model: str
    queries: tuple[Query, ...]
    """One for chat; one for each prompt of a completions request."""
    stream: bool = False
    include_usage: bool = False
    """Send the usage as the last chunk of a stream."""
    echo: bool = False
    logprobs: int | None = None


def parse_call(protocol: Protocol, body: object, headers: Mapping[str, str]) -> Call:
    """Return the call that a decoded request body asks for.

    Raises:
        EndpointFault: 400, naming the field that is missing, wrong or not supported here.
    """
    if not isinstance(body, dict):
        raise _wrong("the request body must be a JSON object", None)
    _refuse_unsupported(protocol, body)
    stream = _flag(body, "stream")
    call = Call(
        protocol=protocol,
        model=_model(body),
        queries=tuple(_query(protocol, text, body, headers) for text in _texts(protocol, body)),
        stream=stream,
        include_usage=_include_usage(body),
        echo=protocol == "completions" and _flag(body, "echo"),
        logprobs=(
            _whole(body, "logprobs", maximum=LOGPROBS_MAX) if protocol == "completions" else None
        ),
    )
    if stream and (call.logprobs is not None or call.echo):
        raise _wrong("echo and logprobs are not supported together with stream here", "stream")
    return call


def _query(
    protocol: Protocol, text: str, body: dict[str, object], headers: Mapping[str, str]
) -> Query:
    limit = (
        "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    )
    return Query(
        protocol=protocol,
        text=text,
        seed=_whole(body, "seed", minimum=None),
        max_tokens=_whole(body, limit, minimum=1 if protocol == "chat" else 0),
        stop=_stop(body),
        sample_id=headers.get("X-Nel-Sample-Id"),
        repeat=_repeat(headers.get("X-Nel-Repeat")),
    )


def _texts(protocol: Protocol, body: dict[str, object]) -> list[str]:
    if protocol == "chat":
        return ["\n".join(_contents(body.get("messages")))]
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, list) and prompt and all(isinstance(item, str) for item in prompt):
        return prompt
    raise _wrong(
        "prompt must be a string or a non-empty list of strings; token ids are not supported here",
        "prompt",
    )


def _contents(messages: object) -> list[str]:
    if not isinstance(messages, list) or not messages:
        raise _wrong("messages must be a non-empty list", "messages")
    contents = []
    for position, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise _wrong(
                f"messages[{position}] must be an object with a role", f"messages[{position}]"
            )
        contents.append(_content(message.get("content"), f"messages[{position}].content"))
    return contents


def _content(content: object, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(item, dict) for item in content):
        parts = [item.get("text", "") for item in content]
        if all(isinstance(item, str) for item in parts):
            return "\n".join(item for item in parts if item)
    raise _wrong(f"{where} must be text or a list of content parts", where)


def _refuse_unsupported(protocol: Protocol, body: dict[str, object]) -> None:
    for name in ("n", "best_of"):
        if body.get(name) not in (None, 1):
            raise _wrong(f"{name} must be 1; send one request for each answer", name)
    if protocol == "chat" and body.get("logprobs"):
        raise _wrong("logprobs are not supported in chat here; use /v1/completions", "logprobs")


def _model(body: dict[str, object]) -> str:
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise _wrong("you must provide a model parameter", "model")
    return model


def _flag(body: dict[str, object], name: str) -> bool:
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _wrong(f"{name} must be true or false", name)


def _include_usage(body: dict[str, object]) -> bool:
    options = body.get("stream_options")
    if options is None:
        return False
    if not isinstance(options, dict):
        raise _wrong("stream_options must be an object", "stream_options")
    return _flag(options, "include_usage")


def _whole(
    body: dict[str, object], name: str, *, minimum: int | None = 0, maximum: int | None = None
) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(f"{name} must be a whole number, not {value!r}", name)
    if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):
        bound = f"at least {minimum}" if maximum is None else f"between {minimum} and {maximum}"
        raise _wrong(f"{name} must be {bound}, not {value}", name)
    return value


def _stop(body: dict[str, object]) -> tuple[str, ...]:
    stop = body.get("stop")
    words = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise _wrong("stop must be a string or a list of strings", "stop")
    return tuple(words)


def _repeat(value: str | None) -> int | None:
    if value is None:
        return None
    if not value.isascii() or not value.isdigit():
        raise _wrong(f"the header X-Nel-Repeat must be a whole number from 0, not {value!r}", None)
    return int(value)


def _wrong(message: str, param: str | None) -> EndpointFault:
    return EndpointFault(400, "invalid_request", message, param=param)
