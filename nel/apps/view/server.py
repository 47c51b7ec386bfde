"""Assembles the app, serves it, and turns errors into pages. Depends on aiohttp's server."""

from __future__ import annotations

import asyncio
import re
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

from aiohttp import web

from nel.apps.http_server import running, stop_on_signals
from nel.apps.view.handlers import routes
from nel.apps.view.library import LIBRARY, WAIT_SECONDS, Library
from nel.apps.view.pages import render, warm_up
from nel.apps.view.security import (
    ACCESS,
    TOKEN,
    Access,
    Handler,
    add_headers,
    check_host,
    check_origin,
    check_token,
)
from nel.errors import NelError, UsageError

_BODY_BYTES_MAX: Final = 64 * 1024
_BASE_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")


def create_app(
    directories: Sequence[Path], access: Access, cache: Path, *, wait_seconds: float = WAIT_SECONDS
) -> web.Application:
    """Return the app over the runs in some directories.

    Args:
        directories: Runs, or directories of runs.
        access: Which clients may read.
        cache: Where indices of samples are kept.
        wait_seconds: How long a page waits for an index to be brought up to date.
    """
    app = web.Application(
        middlewares=[_errors, check_host, check_token, check_origin],
        client_max_size=_BODY_BYTES_MAX,
    )
    app[ACCESS] = access
    app[LIBRARY] = Library(directories=directories, cache=cache, wait_seconds=wait_seconds)
    app.on_response_prepare.append(add_headers)
    app.on_cleanup.append(_stop_work)
    app.add_routes(routes(access.base_path))
    if access.base_path:
        app.add_routes([web.get(access.base_path, _redirect_to_root)])
    return app


def base_path_of(text: str) -> str:
    """Return a base path as URLs need it: empty, or with a leading slash and no trailing one.

    Raises:
        UsageError: A segment is empty, begins with a dot, or has other characters than letters,
            digits and ``._~-``.
    """
    path = "/" + text.strip("/") if text.strip("/") else ""
    if not _BASE_PATH.fullmatch(path) or "//" in text or "/." in path:
        raise UsageError(
            f'--base-path "{text}" is not a path of letters, digits, . _ ~ and -; give one like /eval'
        )
    return path


async def serve(
    app: web.Application, host: str, port: int, *, on_ready: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        app: From `create_app`.
        host: The address to listen on.
        port: 0 picks a free one.
        on_ready: Gets the address of the first page, without a token, once the server listens.

    Raises:
        UsageError: The port is in use or the host is not an address of this machine.
    """
    stop = stop_on_signals()
    await asyncio.to_thread(warm_up)
    async with listening(app, host, port) as address:
        on_ready(address)
        await stop.wait()


@asynccontextmanager
async def listening(app: web.Application, host: str, port: int) -> AsyncIterator[str]:
    """Listen within the block; yields the address of the first page, without a token.

    Raises:
        UsageError: The port is in use or the host is not an address of this machine.
    """
    async with running(app, host=host, port=port) as base_url:
        yield f"{base_url.removesuffix('/v1')}{app[ACCESS].base_path}/"


def first_address(address: str, token: str | None) -> str:
    """Return the address with the token, which signs the browser in."""
    return address if token is None else f"{address}?{TOKEN}={quote(token, safe='')}"


async def _redirect_to_root(request: web.Request) -> web.Response:
    raise web.HTTPSeeOther(f"{request.app[ACCESS].base_path}/")


async def _stop_work(app: web.Application) -> None:
    await asyncio.to_thread(app[LIBRARY].close)


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except web.HTTPException as error:
        return _error_page(request, error.status, error.text or error.reason)
    except NelError as error:
        return _error_page(request, 422, str(error))
    except Exception as error:  # noqa: BLE001 - the page says that it failed, the terminal says where
        with suppress(OSError):
            sys.stderr.write(
                f"nel view: {request.path}\n" + "".join(traceback.format_exception(error))
            )
        return _error_page(
            request, 500, "this page could not be made; the terminal of nel view says more"
        )


def _error_page(request: web.Request, status: int, message: str) -> web.Response:
    if request.path.startswith(f"{request.app[ACCESS].base_path}/api/"):
        return web.json_response({"error": message}, status=status)
    # The cookie is SameSite=Strict, so a link from another site arrives without it. The page then
    # reloads itself: that request is of the same site, and has the cookie.
    is_cross_site = request.headers.get("Sec-Fetch-Site") == "cross-site"
    text = render(
        "error",
        base=request.app[ACCESS].base_path,
        title=HTTPStatus(status).phrase.capitalize(),
        message=message,
        again=status == HTTPStatus.UNAUTHORIZED and is_cross_site,
    )
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8")
