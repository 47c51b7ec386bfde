"""Starts `nel limiter serve` and runs it until a signal ends it."""

from __future__ import annotations

from collections.abc import Callable

from nel.apps.http_server import check_reach, running, stop_on_signals
from nel.apps.limiter.app import limiter_app
from nel.config.redaction import read_secret
from nel.core.event_loop import run


def start(host: str, port: int, token_env: str | None, *, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        UsageError: The port is taken, or an address beside loopback has no token.
    """
    check_reach(host, token_env)
    run(_serve(host, port, read_secret(token_env), say))


async def _serve(host: str, port: int, token: str | None, say: Callable[[str], None]) -> None:
    stop = stop_on_signals()
    async with running(limiter_app(token), host=host, port=port) as base_url:
        url = base_url.removesuffix("/v1")
        say(f"sharing limits on {url}; give it to each run: nel eval run ... --limiter {url}")
        await stop.wait()
