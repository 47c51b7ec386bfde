"""Runs an application on a port until a signal or its caller ends it.

With port 0 the real port is known only once the socket is bound, so the ready line comes from here.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import signal
import socket
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from nel.errors import UsageError

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_SHUTDOWN_SECONDS: Final = 2.0
"""Longest wait for answers in flight when the server shuts down."""


async def serve(
    app: web.Application, host: str, port: int, *, on_ready: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM, then stop cleanly.

    Args:
        port: 0 picks a free one.
        on_ready: Gets the base URL, which ends in ``/v1``, once the server listens.

    Raises:
        UsageError: The port is in use or the host is not an address of this machine.
    """
    stop = stop_on_signals()
    async with running(app, host=host, port=port) as base_url:
        on_ready(base_url)
        await stop.wait()


def base_url_of(host: str, port: int) -> str:
    """Return the URL that clients are given."""
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def check_reach(host: str, token_env: str | None) -> None:
    """Refuse to listen where others can connect without a token.

    Raises:
        UsageError: The address is not a loopback one, and no token is named.
    """
    if host not in LOOPBACK and token_env is None:
        raise UsageError(
            f"{host} may be reached by others; name the environment variable of a token with"
            " --token-env"
        )


def host_of(value: str | None) -> str | None:
    """Return the name in a Host header, in lower case without its port; None without a name."""
    if not value or any(character in value for character in "/\\@?# \t"):
        return None
    try:
        return urlsplit(f"//{value}").hostname
    except ValueError:
        return None


def is_named(name: str | None, hosts: Collection[str]) -> bool:
    """Return whether a server is addressed by one of its names, which may end in a full stop."""
    return name is not None and name.rstrip(".") in hosts


def has_token(request: web.Request, token: str | None) -> bool:
    """Return whether a request carries the token, where one is asked for."""
    credential = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return token is None or hmac.compare_digest(
        credential.encode("utf-8", "replace"), token.encode()
    )


def stop_on_signals() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set in the running loop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return stop


def _bind_error(error: OSError | OverflowError, host: str, port: int) -> UsageError:
    if isinstance(error, OverflowError):
        return UsageError(f"{port} is not a port; use 0 to 65535")
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"port {port} on {host} is in use; choose another with --port, or --port 0 for any"
            " free one"
        )
    if error.errno == errno.EACCES:
        return UsageError(
            f"port {port} on {host} needs privileges; choose one above 1023 with --port"
        )
    return UsageError(
        f"cannot listen on {host}:{port} ({error.strerror or error}); check --host and --port"
    )


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, for servers that cannot say why they fail to listen.

    Raises:
        UsageError: The port is in use or the host is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise _bind_error(error, host, port) from error


@asynccontextmanager
async def running(
    app: web.Application,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncIterator[str]:
    """Serve within the block; yields the base URL, which ends in ``/v1``.

    Args:
        app: What is served.
        host: Address to listen on.
        port: 0 picks a free one.

    Raises:
        UsageError: The port is in use or the host is not an address of this machine.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, backlog=1024)
        try:
            await site.start()
        except (OSError, OverflowError) as error:
            raise _bind_error(error, host, port) from error
        yield base_url_of(host, int(runner.addresses[0][1]))
    finally:
        await runner.cleanup()
