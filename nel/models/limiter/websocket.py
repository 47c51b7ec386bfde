"""A run's connection to the limiter: frames of messages over a WebSocket. Depends on aiohttp."""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp

from nel.models.limiter.messages import (
    JOIN,
    BadMessage,
    Connect,
    Connection,
    Hello,
    LimiterRefused,
    LimiterUnreachable,
    Message,
    decode,
    encode,
    hello_json,
)

_CONNECT_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 10.0
"""A limiter that answers no ping for half of this is lost."""
_UNAUTHORIZED: Final = 401


def connector(url: str, token: str | None) -> Connect:
    """Return what joins the limiter at a URL."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    async def connect(hello: Hello) -> Connection:
        session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers=headers)
        try:
            return await _join(session, url.rstrip("/") + JOIN, hello)
        except BaseException:
            await session.close()
            raise

    return connect


async def _join(session: aiohttp.ClientSession, address: str, hello: Hello) -> Connection:
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            socket = await session.ws_connect(address, heartbeat=_SILENT_SECONDS)
            await socket.send_bytes(encode([["hello", hello_json(hello)]]))
            frame = await socket.receive()
        first_messages = decode(frame.data) if isinstance(frame.data, bytes) else []
    except aiohttp.WSServerHandshakeError as error:
        if error.status == _UNAUTHORIZED:
            raise LimiterRefused(
                "it wants another token; name its variable with --limiter-token-env"
            ) from error
        raise LimiterRefused(
            f"HTTP {error.status} is not an answer of nel limiter serve"
        ) from error
    except aiohttp.InvalidURL as error:
        raise LimiterRefused(f"{address} is not a URL") from error
    except (aiohttp.ClientError, BadMessage, OSError, TimeoutError) as error:
        raise LimiterUnreachable(
            str(error) or f"no answer within {_CONNECT_SECONDS:g} s"
        ) from error
    if first_messages and first_messages[0][0] == "refuse":
        raise LimiterRefused(str(first_messages[0][-1]))
    if not first_messages or first_messages[0][0] != "welcome":
        raise LimiterUnreachable("it did not say welcome")
    return _WebSocket(session, socket, first_messages[1:])


class _WebSocket:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        socket: aiohttp.ClientWebSocketResponse,
        first_messages: list[list[object]],
    ) -> None:
        self._session, self._socket, self._first = session, socket, first_messages
        self._unsent: list[Message] = []
        self._sending: asyncio.Task[None] | None = None

    def send(self, message: Message) -> None:
        self._unsent.append(message)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def receive(self) -> list[list[object]] | None:
        if self._first:
            messages, self._first = self._first, []
            return messages
        frame = await self._socket.receive()
        if frame.type is not aiohttp.WSMsgType.BINARY:
            return None
        try:
            return decode(frame.data)
        except BadMessage:
            return None

    async def close(self) -> None:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._send()  # the "bye" that was queued last
                await self._socket.close()
        except (aiohttp.ClientError, OSError, TimeoutError):
            self._unsent.clear()  # the limiter is gone
        await self._session.close()

    async def _send(self) -> None:
        try:
            # What is queued while a frame is sent goes out in the next one, by this same task.
            while self._unsent:
                frame, self._unsent = encode(self._unsent), []
                await self._socket.send_bytes(frame)
        except (aiohttp.ClientError, OSError):
            self._unsent.clear()  # `receive` says that the connection is lost
        finally:
            self._sending = None
