"""From a request's JSON to queries, one for each prompt. Responsible for what is accepted and the
words of every refusal.

It answers nothing. A setting that would be ignored is refused instead, since a client that believes
it was obeyed measures something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

LOGPROBS_MAX: Final = 20
"""Alternatives a client may ask for at each token."""

Protocol = Literal["chat", "completions"]


class EndpointFault(Exception):
    """What a server answers instead of a reply: a status, a stable code and a message."""

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


def _as_list(value: object) -> object:
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _text(content: object) -> object:
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(item, dict) for item in content):
        texts = [item.get("text", "") for item in content]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(filter(None, texts))
    return content


class _Message(BaseModel):
    role: str
    content: Annotated[str, BeforeValidator(_text)] = ""


class _StreamOptions(BaseModel):
    include_usage: bool | None = None


class _Body(BaseModel):
    """What both protocols take; what one of them refuses has one value."""

    model_config = ConfigDict(strict=True)

    model: Annotated[str, MinLen(1)]
    seed: int | None = None
    max_completion_tokens: Annotated[int, Ge(1)] | None = None
    stop: Annotated[list[Annotated[str, MinLen(1)]], BeforeValidator(_as_list)] = []
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    n: Literal[1] | None = None
    best_of: Literal[1] | None = None


class _ChatBody(_Body):
    messages: Annotated[list[_Message], MinLen(1)]
    max_tokens: Annotated[int, Ge(1)] | None = None
    logprobs: Literal[False] | None = None

    @property
    def texts(self) -> list[str]:
        return ["\n".join(message.content for message in self.messages)]


class _CompletionsBody(_Body):
    prompt: Annotated[list[str], MinLen(1), BeforeValidator(_as_list)]
    max_tokens: Annotated[int, Ge(0)] | None = None
    logprobs: Annotated[int, Ge(0), Le(LOGPROBS_MAX)] | None = None
    echo: bool | None = None

    @property
    def texts(self) -> list[str]:
        return self.prompt


def parse_call(protocol: Protocol, body: object, headers: Mapping[str, str]) -> Call:
    """Return the call that a decoded request body asks for.

    Raises:
        EndpointFault: 400, naming the field that is missing, wrong or not supported here.
    """
    if not isinstance(body, dict):
        raise wrong("the request body must be a JSON object", None)
    shape = _ChatBody if protocol == "chat" else _CompletionsBody
    try:
        request = shape.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        param = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"]
        ).lstrip(".")
        raise wrong(f"{param}: {problem['msg']}", param) from error
    is_echoed, logprobs = False, None
    if isinstance(request, _CompletionsBody):
        is_echoed, logprobs = bool(request.echo), request.logprobs
    if request.stream and (logprobs is not None or is_echoed):
        raise wrong("echo and logprobs are not supported together with stream here", "stream")
    repeat = _repeat(headers.get("X-Nel-Repeat"))
    queries = [
        Query(
            protocol=protocol,
            text=text,
            seed=request.seed,
            max_tokens=request.max_completion_tokens or request.max_tokens,
            stop=tuple(request.stop),
            sample_id=headers.get("X-Nel-Sample-Id"),
            repeat=repeat,
        )
        for text in request.texts
    ]
    return Call(
        protocol=protocol,
        model=request.model,
        queries=tuple(queries),
        stream=bool(request.stream),
        include_usage=bool(request.stream_options and request.stream_options.include_usage),
        echo=is_echoed,
        logprobs=logprobs,
    )


def _repeat(value: str | None) -> int | None:
    if value is None:
        return None
    if not value.isascii() or not value.isdigit():
        raise wrong(f"the header X-Nel-Repeat must be a whole number from 0, not {value!r}", None)
    return int(value)


def wrong(message: str, param: str | None) -> EndpointFault:
    """Return the refusal of a request; `param` names the field."""
    return EndpointFault(400, "invalid_request", message, param=param)
