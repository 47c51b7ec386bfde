"""Shared by exports and imports: the call of a plugin, and an output directory made atomically."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nel.core.atomic_files import sync_directory
from nel.core.paths import make_work_directory, share
from nel.errors import NelError, OutputError, PluginError


@contextmanager
def new_directory(output: Path, *, shared: bool) -> Iterator[Path]:
    """Yield a work directory that is renamed to the output at the end of the block.

    Args:
        output: Nothing, or an empty directory.
        shared: Let everyone on this machine read it.

    Raises:
        OutputError: The output cannot be made or written.
    """
    try:
        work = make_work_directory(output)
    except OSError as error:
        raise OutputError(
            f"cannot make a directory for {output}: {error.strerror or error}; choose another"
            " directory with -o"
        ) from error
    try:
        yield work
        if shared:
            share(work)
        # What is in it is on disk before the name is, so that a power cut leaves all or nothing.
        sync_directory(work)
        work.rename(output)
        sync_directory(output.parent)
    except OSError as error:
        raise OutputError(
            f"cannot write {output}: {error.strerror or error}; choose another with -o"
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def call_plugin(what: str, function: Callable[..., object], *arguments: Path) -> object:
    """Return what a plugin's function returns.

    Raises:
        PluginError: It failed.
        NelError: Other errors of nel that it raises.
    """
    try:
        return function(*arguments)
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{what} failed: {type(error).__name__}: {error}; nothing was written"
        ) from error
