"""The scripted endpoint: answers by turn over chat, Responses, Anthropic and Gemini, without state.

It serves any model's name, since agents ask under several. Reasoning that a vendor signs has to
come back with the calls after it, as the vendor demands.
"""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web

from nel.apps.mock.conversations import MockRequest, Spoken, asked_in
from nel.apps.mock.request_parsing import EndpointFault
from nel.apps.mock.routes import TALLY, base_app, decode_body
from nel.apps.mock.scripts import Director, ScriptedTurn
from nel.apps.mock.vendor_bodies import body_of, events_of, signature
from nel.core.strict_json import dumps_bytes

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
    raw = await request.read()
    tally = request.app[TALLY]
    digest = tally.digest(request.path, request.headers, raw)
    tally.count_request(digest)
    asked = _request_of(request, raw)
    number, turns = request.app[DIRECTOR].turn_of(asked)
    turn = turns[-1]
    await asyncio.sleep(turn.delay_seconds)
    if turn.status is not None:
        raise EndpointFault(turn.status, "scripted", f"turn {number + 1} of the script is a fault")
    _check_returned(asked, turns)
    tally.count_answer(digest)
    return await _send(request, asked, turn, number)


def _request_of(request: web.Request, raw: bytes) -> MockRequest:
    body = decode_body(raw)
    if not isinstance(body, dict):
        raise EndpointFault(400, "invalid_request", "the request body must be a JSON object")
    protocol = _PATHS.get(request.path, "gemini")
    is_gemini = protocol == "gemini"
    return asked_in(
        protocol,
        body,
        raw.decode("utf-8", "replace"),
        model=request.match_info["model"] if is_gemini else str(body.get("model")),
        stream=(
            request.match_info["method"].startswith("stream")
            if is_gemini
            else body.get("stream") is True
        ),
    )


def _check_returned(asked: MockRequest, turns: tuple[ScriptedTurn, ...]) -> None:
    """Refuse a request without the reasoning that came before calls, as vendors that sign it do."""
    is_signed = asked.protocol in ("anthropic", "gemini") or asked.wants_encrypted
    for number, turn in enumerate(turns[:-1]):
        is_called = any(call.raw is None for call in turn.calls)
        if is_signed and turn.reasoning and is_called and signature(turn, number) not in asked.body:
            raise EndpointFault(
                400,
                "reasoning_missing",
                f"the signed reasoning of turn {number + 1} was not sent back with its calls",
            )


async def _send(
    request: web.Request, asked: MockRequest, turn: ScriptedTurn, number: int
) -> web.StreamResponse:
    if asked.stream:
        kind = "text/event-stream"
        pieces = [] if turn.empty else list(_frames(asked, turn, number))
    else:
        kind = "application/json"
        pieces = [] if turn.empty else [dumps_bytes(body_of(asked, turn, number))]
    response = web.StreamResponse(headers={"Content-Type": kind})
    whole = b"".join(pieces)
    response.content_length = len(whole)
    try:
        await response.prepare(request)
        await response.write(whole[: len(whole) // 2] if turn.cut else whole)
        if turn.cut and request.transport is not None:
            request.transport.close()
        else:
            await response.write_eof()
    except ConnectionError:
        """The client disconnected."""
    return response


def _frames(asked: MockRequest, turn: ScriptedTurn, number: int) -> list[bytes]:
    frames = [
        (f"event: {event['type']}\n".encode() if "type" in event else b"")
        + b"data: " + dumps_bytes(event) + b"\n\n"
        for event in events_of(asked, turn, number)
    ]  # fmt: skip
    return [*frames, b"data: [DONE]\n\n"] if asked.protocol == "chat" else frames
