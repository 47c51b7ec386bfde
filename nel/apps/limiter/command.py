"""`nel limiter`: share one rate limit between several runs or shards that ask one endpoint."""

from __future__ import annotations

import typer

from nel.apps.limiter.start import start
from nel.cli.options import Host, Port, TokenEnv

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _limiter() -> None:
    pass


@app.command()
def serve(
    host: Host = "127.0.0.1",
    port: Port = 9191,
    token_env: TokenEnv = None,
) -> None:
    """Share the limits of endpoints among runs: concurrency, rates, what refusals taught, and
    outages.

    Each run with --limiter asks for leave before each request, and the limits of its configuration
    hold for all of them together. A run that dies gives back what it held; runs that lose the
    limiter go on with their part of each limit.
    """
    start(host, port, token_env, say=typer.echo)
