"""Stands in front of llama.cpp's server: answers requests with ``echo``, passes all others on.

A client that hangs up ends its request to the server too. Depends on aiohttp and `PromptEcho`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
from aiohttp import web

from nel.apps.http_server import running
from nel.apps.mock.openai_json import error_body
from nel.apps.mock.prompt_echo import PromptEcho
from nel.apps.mock.request_parsing import EndpointFault
from nel.apps.mock.routes import BODY_BYTES_MAX
from nel.core.strict_json import dumps_bytes, loads

_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=10)
_UPSTREAM: Final = web.AppKey("upstream", str)
_SESSION: Final = web.AppKey("session", aiohttp.ClientSession)
_CONTEXT: Final = web.AppKey("context_tokens", int)


@asynccontextmanager
async def front_of(
    server_url: str, host: str, port: int, *, context_tokens: int
) -> AsyncIterator[str]:
    """Serve within the block; yields the base URL of the front, which ends in ``/v1``.

    Args:
        server_url: Root URL of llama.cpp's server.
        host: Address to listen on.
        port: 0 picks a free one.
        context_tokens: Most tokens of a prompt and its answer there.

    Raises:
        UsageError: The port is in use or the host is not an address of this machine.
    """
    app = web.Application(client_max_size=BODY_BYTES_MAX)
    app[_UPSTREAM], app[_CONTEXT] = server_url.rstrip("/"), context_tokens
    app.add_routes(
        [web.post("/v1/completions", _completions), web.route("*", "/{path:.*}", _pass_on)]
    )
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        connector=connector, timeout=_TIMEOUT, auto_decompress=False
    ) as session:
        app[_SESSION] = session
        async with running(app, host=host, port=port, handler_cancellation=True) as base_url:
            yield base_url


async def _completions(request: web.Request) -> web.StreamResponse:
    try:
        body = loads(await request.read())
    except ValueError:
        body = None  # llama.cpp's server says what is wrong with it
    if not isinstance(body, dict) or body.get("echo") is not True:
        return await _pass_on(request)
    try:
        answer = await PromptEcho(_Upstream(request).ask, request.app[_CONTEXT]).complete(body)
    except EndpointFault as fault:
        return _json(error_body(fault), fault.status)
    return _json(answer, 200)


async def _pass_on(request: web.Request) -> web.StreamResponse:
    url = request.app[_UPSTREAM] + request.path_qs
    session, headers = request.app[_SESSION], _without_hops(request.headers)
    async with session.request(
        request.method, url, headers=headers, data=await request.read()
    ) as answer:
        response = web.StreamResponse(status=answer.status, headers=_without_hops(answer.headers))
        if answer.content_length is not None:
            response.content_length = answer.content_length
        await response.prepare(request)
        async for piece in answer.content.iter_any():
            await response.write(piece)
        await response.write_eof()
        return response


class _Upstream:
    """llama.cpp's server, as one client may use it."""

    def __init__(self, request: web.Request) -> None:
        """Take over the client's key."""
        key = request.headers.get("Authorization")
        self._headers = {} if key is None else {"Authorization": key}
        self._app = request.app

    async def ask(self, path: str, body: Mapping[str, object]) -> Any:
        """Return the decoded answer; raises EndpointFault with the server's own words."""
        headers = {
            **self._headers,
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
        }
        url = self._app[_UPSTREAM] + path
        async with self._app[_SESSION].post(url, data=dumps_bytes(body), headers=headers) as answer:
            data = await answer.read()
        if answer.ok:
            return loads(data)
        try:
            error = loads(data)
            fault = error["error"] if isinstance(error, dict) else {}
            raise EndpointFault(answer.status, str(fault.get("type")), str(fault.get("message")))
        except (ValueError, LookupError, AttributeError):
            raise EndpointFault(
                answer.status, "server_error", data[:200].decode(errors="replace")
            ) from None


def _without_hops(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}


def _json(value: object, status: int) -> web.Response:
    return web.Response(body=dumps_bytes(value), status=status, content_type="application/json")
