"""Starts the app from the options of `nel view`, and opens a browser on it."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.apps.http_server import host_of
from nel.apps.view.finding import check_directories
from nel.apps.view.security import Access, hosts_of, new_token
from nel.apps.view.server import base_path_of, create_app, first_address, serve
from nel.artifacts.exporting.archive import SUFFIXES, open_archive
from nel.config.redaction import read_secret
from nel.core.event_loop import run
from nel.core.paths import cache_directory
from nel.engine.store.remote import local_copy
from nel.errors import UsageError

_TOKEN_CHARACTERS_MIN: Final = 16
"""Of a token that the user sets; shorter ones can be guessed."""
_SWITCH_SECONDS: Final = 0.0002
"""See `start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """The options of `nel view`."""

    directories: Sequence[str]
    """Paths, or URLs of runs."""
    host: str
    port: int
    base_path: str
    allowed_hosts: Sequence[str]
    token_env: str | None
    has_token: bool
    is_read_only: bool
    cache_dir: Path | None
    opens_browser: bool


def start(options: ViewOptions, *, say: Callable[[str], None]) -> None:
    """Serve until it is interrupted.

    Raises:
        OutputError: There is no run.
        UsageError: An option cannot be used.
        ConfigError: The variable of the token is empty.
    """
    access = access_of(options)
    cache = options.cache_dir or cache_directory() / "view"
    directories = [_directory_of(local_copy(path), cache) for path in options.directories]
    check_directories(directories)
    # SQLite releases the interpreter lock at each row. A thread that builds an index would then
    # hold it for Python's default of 5 ms, row after row of a page.
    sys.setswitchinterval(_SWITCH_SECONDS)
    app = create_app(directories, access, cache)

    def ready(address: str) -> None:
        say(f"view: {first_address(address, access.token)}")
        if options.opens_browser and _has_screen():
            _open(first_address(address, access.ticket()))

    run(serve(app, options.host, options.port, on_ready=ready))


def _directory_of(path: Path, cache: Path) -> Path:
    """Return a directory as it is, and of an archive the directory that it is unpacked into."""
    if path.name.endswith(SUFFIXES) and path.is_file():
        return open_archive(path, cache)
    return path


def access_of(options: ViewOptions) -> Access:
    """Return which clients may read.

    Raises:
        UsageError: An option cannot be used.
        ConfigError: The variable of the token is empty.
    """
    if options.token_env is not None and not options.has_token:
        raise UsageError("--token-env and --no-token exclude each other")
    for name in options.allowed_hosts:
        if host_of(name) is None or host_of(name) != name.lower().strip("[]"):
            raise UsageError(
                f'--allowed-host "{name}" is not a name of a host; give it without scheme and port'
            )
    token = None
    if options.has_token:
        token = read_secret(options.token_env) or new_token()
        if len(token) < _TOKEN_CHARACTERS_MIN:
            raise UsageError(
                f"the token in {options.token_env} is shorter than {_TOKEN_CHARACTERS_MIN}"
                " characters"
            )
    return Access(
        token=token,
        hosts=hosts_of(options.host, options.allowed_hosts),
        base_path=base_path_of(options.base_path),
        is_read_only=options.is_read_only,
    )


def _has_screen() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _open(address: str) -> None:
    """Open the user's browser; a thread, since some browsers keep their caller waiting."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
