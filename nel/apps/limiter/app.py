"""The WebSocket of `nel limiter serve` and its page of health. Depends on aiohttp's server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from aiohttp import web

from nel.apps.http_server import has_token
from nel.apps.limiter.hub import Hub, JoinRefused, Seat
from nel.core.strict_json import dumps
from nel.models.limiter.messages import JOIN, BadMessage, Message, decode, encode, read_hello

_FRAME_BYTES_MAX: Final = 4 << 20
_SILENT_SECONDS: Final = 10.0
"""A run that answers no ping for half of this is lost."""
_HELLO_SECONDS: Final = 5.0
_HUB: Final = web.AppKey("hub", Hub)
_TOKEN: Final = web.AppKey("token", str)


def limiter_app(token: str | None, **seconds: float) -> web.Application:
    """Return the application.

    Args:
        token: What runs must send, None for nothing.
        seconds: As `Hub` takes them.
    """
    app = web.Application()
    app[_TOKEN] = token or ""

    async def hub(app: web.Application) -> AsyncIterator[None]:
        app[_HUB] = Hub(**seconds)
        sending = asyncio.create_task(app[_HUB].keep_sending())
        yield
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    app.cleanup_ctx.append(hub)
    app.router.add_get("/health", _health)
    app.router.add_get(JOIN, _join)
    return app


def _check_token(request: web.Request) -> None:
    if not has_token(request, request.app[_TOKEN] or None):
        raise web.HTTPUnauthorized(text="send the token as Authorization: Bearer TOKEN\n")
    if "Origin" in request.headers:  # a page in a browser; no run sends it
        raise web.HTTPForbidden(text="pages of browsers may not join\n")


async def _health(request: web.Request) -> web.Response:
    _check_token(request)
    content = {"status": "ok", "endpoints": request.app[_HUB].overview()}
    return web.Response(text=dumps(content), content_type="application/json")


async def _join(request: web.Request) -> web.StreamResponse:
    _check_token(request)
    socket = web.WebSocketResponse(heartbeat=_SILENT_SECONDS, max_msg_size=_FRAME_BYTES_MAX)
    await socket.prepare(request)
    connection = _Connection(socket)
    with suppress(ConnectionError):
        await connection.serve(request.app[_HUB])
    return socket


class _Connection:
    """One run's connection."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket
        self._unsent: list[Message] = []
        self._sending: asyncio.Task[None] | None = None

    async def serve(self, hub: Hub) -> None:
        """Take messages until the run leaves or is lost."""
        seat: Seat | None = None
        try:
            async with asyncio.timeout(_HELLO_SECONDS):
                message = await self._socket.receive()
            if not isinstance(message.data, bytes):
                return
            messages = decode(message.data)
            seat = hub.join(read_hello(messages[0] if messages else ["nothing"]), self._send)
            self._take(seat, messages[1:])
            async for frame in self._socket:
                if isinstance(frame.data, bytes):
                    self._take(seat, decode(frame.data))
        except (BadMessage, JoinRefused) as error:
            self._send(["refuse", str(error)])
        except TimeoutError:
            self._send(["refuse", "no hello came"])
        finally:
            if seat is not None:
                seat.lose()
            if self._sending is not None:
                await self._sending
            await self._socket.close()

    @staticmethod
    def _take(seat: Seat, messages: list[list[object]]) -> None:
        for message in messages:
            seat.take(message)

    def _send(self, message: Message) -> None:
        # One task sends: what comes while it does is in its next frame, all together.
        self._unsent.append(message)
        if self._sending is None:
            self._sending = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        try:
            while self._unsent and not self._socket.closed:
                frame, self._unsent = encode(self._unsent), []
                await self._socket.send_bytes(frame)
        except ConnectionError:
            self._unsent.clear()  # `serve` sees the end of the connection
        finally:
            self._sending = None
