"""The JSON of answers in the OpenAI shape: objects, stream chunks, errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nel.apps.mock.request_parsing import Call, EndpointFault
from nel.apps.mock.tokens import count_tokens
from nel.environments.agents.answers import chat_events, pieces_of

_ERROR_TYPES: Final = {
    401: "invalid_request_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MockReply:
    """What an answerer says to one query."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyChoice:
    """One reply with what the protocol adds to it."""

    reply: MockReply
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


def full_body(call: Call, choices: Sequence[ReplyChoice], identifier: str) -> dict[str, Any]:
    """Return the answer to a call that does not stream."""
    is_chat = call.protocol == "chat"
    choice_json = _chat_choice if is_chat else _text_choice
    return {
        "id": f"{'chatcmpl' if is_chat else 'cmpl'}-{identifier}",
        "object": "chat.completion" if is_chat else "text_completion",
        "created": int(time.time()),
        "model": call.model,
        "choices": [choice_json(at, choice) for at, choice in enumerate(choices)],
        "usage": usage(choices),
    }


def stream_bodies(
    call: Call, choices: Sequence[ReplyChoice], identifier: str
) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a stream in order, without the closing ``[DONE]``."""
    body = full_body(call, choices, identifier)
    if call.protocol == "chat":
        yield from chat_events(body, include_usage=call.include_usage)
        return
    head = {name: value for name, value in body.items() if name != "usage"}
    for choice in body["choices"]:
        for piece in pieces_of(choice["text"]):
            yield {**head, "choices": [{**choice, "text": piece, "finish_reason": None}]}
        yield {**head, "choices": [{**choice, "text": ""}]}
    if call.include_usage:
        yield {**body, "choices": []}


def usage(choices: Sequence[ReplyChoice]) -> dict[str, Any]:
    """Return the token counts of all choices together."""
    completion = sum(count_tokens(choice.reply.text) for choice in choices)
    prompt = sum(choice.prompt_tokens for choice in choices)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _chat_choice(index: int, choice: ReplyChoice) -> dict[str, object]:
    return {
        "index": index,
        "message": {"role": "assistant", "content": choice.reply.text},
        "logprobs": None,
        "finish_reason": choice.reply.finish_reason,
    }


def _text_choice(index: int, choice: ReplyChoice) -> dict[str, object]:
    return {
        "index": index,
        "text": choice.echoed + choice.reply.text,
        "logprobs": choice.logprobs,
        "finish_reason": choice.reply.finish_reason,
    }
