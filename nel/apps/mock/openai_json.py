"""The JSON of answers in the OpenAI shape: objects, stream chunks, errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nel.apps.mock.request_parsing import Call, EndpointFault
from nel.apps.mock.tokens import count_tokens, tokenise

_CHUNK_TOKENS: Final = 4
"""Tokens in one chunk of a stream."""
_ERROR_TYPES: Final = {
    401: "invalid_request_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an answerer says to one query."""

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    """Sent apart from the text, as ``reasoning_content``; chat only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One reply with what the protocol adds to it."""

    reply: Reply
    prompt_tokens: int
    logprobs: dict[str, Any] | None = None
    echoed: str = ""
    """The prompt, where the client wants it repeated before the text."""


def error_body(fault: EndpointFault) -> dict[str, object]:
    """Return the error object of a fault."""
    kind = _ERROR_TYPES.get(fault.status, "invalid_request_error")
    return {
        "error": {"message": fault.message, "type": kind, "param": fault.param, "code": fault.code}
    }


def models_body(model: str) -> dict[str, Any]:
    """Return the list of the one model that is served."""
    return {
        "object": "list",
        "data": [{"id": model, "object": "model", "created": 0, "owned_by": "nel"}],
    }


def full_body(call: Call, choices: Sequence[Choice], identifier: str) -> dict[str, object]:
    """Return the answer to a call that does not stream."""
    chat = call.protocol == "chat"
    return {
        **_head(call, identifier, "chat.completion" if chat else "text_completion"),
        "choices": [
            _chat_choice(choice) if chat else _text_choice(at, choice)
            for at, choice in enumerate(choices)
        ],
        "usage": usage(choices),
    }


def stream_bodies(
    call: Call, choices: Sequence[Choice], identifier: str
) -> Iterator[dict[str, object]]:
    """Return the chunks of a stream in order, without the closing ``[DONE]``."""
    chat = call.protocol == "chat"
    head = _head(call, identifier, "chat.completion.chunk" if chat else "text_completion")
    if call.include_usage:
        head["usage"] = None
    for index, choice in enumerate(choices):
        for delta in _chat_parts(choice.reply) if chat else _text_parts(choice.reply):
            yield {**head, "choices": [{"index": index, "logprobs": None, **delta}]}
    if call.include_usage:
        yield {**head, "choices": [], "usage": usage(choices)}


def usage(choices: Sequence[Choice]) -> dict[str, Any]:
    """Return the token counts of all choices together."""
    reasoning = sum(count_tokens(choice.reply.reasoning or "") for choice in choices)
    completion = reasoning + sum(count_tokens(choice.reply.text) for choice in choices)
    prompt = sum(choice.prompt_tokens for choice in choices)
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return (
        {**counts, "completion_tokens_details": {"reasoning_tokens": reasoning}}
        if reasoning
        else counts
    )


def _head(call: Call, identifier: str, kind: str) -> dict[str, object]:
    prefix = "chatcmpl" if call.protocol == "chat" else "cmpl"
    return {
        "id": f"{prefix}-{identifier}",
        "object": kind,
        "created": int(time.time()),
        "model": call.model,
    }


def _chat_choice(choice: Choice) -> dict[str, object]:
    message = {"role": "assistant", "content": choice.reply.text}
    if choice.reply.reasoning is not None:
        message["reasoning_content"] = choice.reply.reasoning
    return {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": choice.reply.finish_reason,
    }


def _text_choice(index: int, choice: Choice) -> dict[str, object]:
    return {
        "index": index,
        "text": choice.echoed + choice.reply.text,
        "logprobs": choice.logprobs,
        "finish_reason": choice.reply.finish_reason,
    }


def _chat_parts(reply: Reply) -> Iterator[dict[str, object]]:
    yield {"delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    for piece in _pieces(reply.reasoning or ""):
        yield {"delta": {"reasoning_content": piece}, "finish_reason": None}
    for piece in _pieces(reply.text):
        yield {"delta": {"content": piece}, "finish_reason": None}
    yield {"delta": {}, "finish_reason": reply.finish_reason}


def _text_parts(reply: Reply) -> Iterator[dict[str, object]]:
    for piece in _pieces(reply.text):
        yield {"text": piece, "finish_reason": None}
    yield {"text": "", "finish_reason": reply.finish_reason}


def _pieces(text: str) -> Iterator[str]:
    tokens = tokenise(text)
    for start in range(0, len(tokens), _CHUNK_TOKENS):
        yield "".join(tokens[start : start + _CHUNK_TOKENS])
