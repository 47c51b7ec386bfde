"""`nel view`: a local web app over the runs in some directories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.view.start import ViewOptions, start
from nel.cli.options import Host, Port
from nel.config.user_settings import output_directory

Directories = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DIR]...",
        help=(
            "Runs, directories of runs, archives (nel eval archive), or URLs of these. Default:"
            " NEL_OUTPUT_DIR, else eval_results."
        ),
    ),
]
BasePath = Annotated[
    str,
    typer.Option(metavar="PATH", help="Path in front of every address, as a proxy passes it on."),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Further name by which the server may be addressed; repeatable."
    ),
]
TokenEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Environment variable with the token, so that it outlives a restart."
    ),
]
NoToken = Annotated[
    bool,
    typer.Option(
        "--no-token", help="Admit every client that reaches the port: a proxy in front decides."
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Refuse tags, notes and ratings.")]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where indices of samples are kept. Default: nel/view in the user's cache.",
    ),
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")]


def view(
    directories: Directories = None,
    host: Host = "127.0.0.1",
    port: Port = 8484,
    base_path: BasePath = "",
    allowed_host: AllowedHosts = None,
    token_env: TokenEnv = None,
    no_token: NoToken = False,
    read_only: ReadOnly = False,
    cache_dir: CacheDir = None,
    no_open: NoOpen = False,
) -> None:
    """Look at runs in a browser: all of them, one, each sample, or several side by side.

    Reads run.db and artifacts and changes neither; a run in progress is shown live. Tags and notes
    are kept beside the runs, ratings of samples in a file of the run, indices in a cache.
    """
    options = ViewOptions(
        directories=directories or [output_directory()],
        host=host,
        port=port,
        base_path=base_path,
        allowed_hosts=allowed_host or [],
        token_env=token_env,
        has_token=not no_token,
        is_read_only=read_only,
        cache_dir=cache_dir,
        opens_browser=not no_open,
    )
    start(options, say=typer.echo)
