"""Starts `nel limiter serve` and runs it until a signal ends it."""

from __future__ import annotations

from collections.abc import Callable

from nel.apps.http_server import check_reach, serve
from nel.apps.limiter.app import limiter_app
from nel.config.redaction import read_secret
from nel.core.event_loop import run


def start(host: str, port: int, token_env: str | None, *, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        UsageError: The port is taken, or an address beside loopback has no token.
    """
    check_reach(host, token_env)

    def ready(base_url: str) -> None:
        url = base_url.removesuffix("/v1")
        say(f"sharing limits on {url}; give it to each run: nel eval run ... --limiter {url}")

    run(serve(limiter_app(read_secret(token_env)), host, port, on_ready=ready))
