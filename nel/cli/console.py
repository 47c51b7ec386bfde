"""The console on which tables are printed."""

from __future__ import annotations

import sys

from rich.console import Console

_LOG_WIDTH = 200


class _Console(Console):
    """A console that leaves the exit code to its caller where the reader of stdout has gone."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - called while BrokenPipeError is handled


def wide_console() -> Console:
    """Return a console for tables: as wide as the terminal, or 200 characters where there is
    none.
    """
    width = None if sys.stdout.isatty() else _LOG_WIDTH
    return _Console(width=width, highlight=False)
