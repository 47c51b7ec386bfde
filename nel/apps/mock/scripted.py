"""The scripted endpoint: answers by turn over chat, Responses, Anthropic and Gemini, without state.

It serves any model's name, since agents ask under several. Reasoning that a vendor signs has to
come back with the calls after it, as the vendor demands.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Final

from aiohttp import web

from nel.apps.mock.conversations import MockRequest, parse_request
from nel.apps.mock.request_parsing import EndpointFault
from nel.apps.mock.routes import TALLY, base_app, decode_body
from nel.apps.mock.scripts import Director, ScriptedCall, ScriptedTurn
from nel.apps.mock.tokens import count_tokens
from nel.core.strict_json import dumps, dumps_bytes
from nel.environments.agents.answers import ServedAnswer, Spoken, body_of, frames_of
from nel.types import ToolCall, Usage

DIRECTOR: Final = web.AppKey("nel_director", Director)
_PATHS: Final[dict[str, Spoken]] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}
_GEMINI: Final = (
    "/{version:v1|v1beta}/models/{model:[^:]+}:{method:generateContent|streamGenerateContent}"
)


def scripted_app(
    director: Director, *, model: str = "scripted", api_key: str | None = None
) -> web.Application:
    """Return an application that answers as a director decides."""
    app = base_app(model=model, api_key=api_key)
    app[DIRECTOR] = director
    app.add_routes([*(web.post(path, _post) for path in _PATHS), web.post(_GEMINI, _post)])
    return app


async def _post(request: web.Request) -> web.StreamResponse:
    data = await request.read()
    tally = request.app[TALLY]
    digest = tally.digest(request.path, request.headers, data)
    tally.count_request(digest)
    mock_request = _request_of(request, data)
    number, turns = request.app[DIRECTOR].turn_of(mock_request)
    turn = turns[-1]
    await asyncio.sleep(turn.delay_seconds)
    if turn.status is not None:
        raise EndpointFault(turn.status, "scripted", f"turn {number + 1} of the script is a fault")
    _check_returned(mock_request, turns)
    tally.count_answer(digest)
    return await _send(request, mock_request, turn, number)


def _request_of(request: web.Request, data: bytes) -> MockRequest:
    protocol = _PATHS.get(request.path, "gemini")
    model, is_streamed = "", False
    if protocol == "gemini":  # which has in its address what others have in the body
        model = request.match_info["model"]
        is_streamed = request.match_info["method"].startswith("stream")
    text = data.decode("utf-8", "replace")
    return parse_request(protocol, decode_body(data), text, model=model, is_streamed=is_streamed)


def _check_returned(request: MockRequest, turns: tuple[ScriptedTurn, ...]) -> None:
    """Refuse a request without the reasoning that came before calls, as vendors that sign it do."""
    if request.content.protocol not in ("anthropic", "gemini") and not request.wants_encrypted:
        return
    for number, turn in enumerate(turns[:-1]):
        is_called = any(call.raw is None for call in turn.calls)
        if turn.reasoning and is_called and signature(turn, number) not in request.body:
            raise EndpointFault(
                400,
                "reasoning_missing",
                f"the signed reasoning of turn {number + 1} was not sent back with its calls",
            )


async def _send(
    request: web.Request, mock_request: MockRequest, turn: ScriptedTurn, number: int
) -> web.StreamResponse:
    content = mock_request.content
    answer, protocol = _answer_of(mock_request, turn, number), content.protocol
    if content.is_streamed:
        kind = "text/event-stream"
        data = b"".join(frames_of(protocol, answer, wants_usage=content.wants_usage))
    else:
        kind = "application/json"
        data = dumps_bytes(body_of(protocol, answer))
    if turn.empty:
        data = b""
    response = web.StreamResponse(headers={"Content-Type": kind})
    response.content_length = len(data)
    try:
        await response.prepare(request)
        await response.write(data[: len(data) // 2] if turn.cut else data)
        if turn.cut and request.transport is not None:
            request.transport.close()
        else:
            await response.write_eof()
    except ConnectionError:
        """The client disconnected."""
    return response


def _answer_of(request: MockRequest, turn: ScriptedTurn, number: int) -> ServedAnswer:
    prefix = "toolu" if request.content.protocol == "anthropic" else "call"
    texts = [turn.text, turn.reasoning, *(call.name + _arguments(call) for call in turn.calls)]
    return ServedAnswer(
        id=str(number),
        model=request.content.model,
        text=turn.text,
        reasoning=turn.reasoning,
        signature=signature(turn, number),
        is_encrypted=request.wants_encrypted,
        calls=tuple(
            ToolCall(id=f"{prefix}_{number}_{at}", name=call.name, arguments=_arguments(call))
            for at, call in enumerate(turn.calls)
        ),
        ending=turn.ending,
        usage=Usage(
            prompt_tokens=sum(map(count_tokens, request.user_texts)),
            completion_tokens=sum(map(count_tokens, texts)),
            reasoning_tokens=count_tokens(turn.reasoning),
        ),
    )


def _arguments(call: ScriptedCall) -> str:
    return dumps(call.arguments) if call.raw is None else call.raw


def signature(turn: ScriptedTurn, number: int) -> str:
    """Return what stands for a turn's reasoning where a vendor signs or encrypts it."""
    # Hexadecimal digits have neither of the two letters in which the alphabets of base64 differ:
    # Google's SDK sends a signature back in that for URLs.
    digest = hashlib.blake2b(f"{number}\0{turn.reasoning}".encode(), digest_size=12).hexdigest()
    return base64.b64encode(digest.encode()).decode()
