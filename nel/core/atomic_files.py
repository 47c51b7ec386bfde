"""Atomic replacement of files: a reader sees the old content or the new, never a part.

Temporary file in the same directory, flush, fsync, rename, fsync of the directory; a rename alone
is not durable.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nel.core.failpoints import reach
from nel.core.paths import remove_leftovers
from nel.errors import StoppedEarly

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

CONTINUE: Final = (
    "; then repeat the command, or continue a run that had begun with nel eval resume DIR"
)
"""What to do once this machine has again what it lacked."""


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace a file atomically with the given bytes; only the user can read it.

    Raises:
        StoppedEarly: The disk is full or the directory cannot be written; the old file is
            untouched.
    """
    # 0, since the work directories of a process are numbered from 1: see `nel.core.paths`.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-0.tmp")
    remove_leftovers(path)
    # O_NOFOLLOW: where others can write to the directory, the name could be a link of theirs.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(temporary, flags, 0o600)
        try:
            with os.fdopen(handle, "wb", buffering=1 << 20) as file:
                for chunk in chunks:
                    file.write(chunk)
                # Before the rename: a name that reaches the disk first would be of an empty file.
                file.flush()
                os.fsync(file.fileno())
            reach("during_rename")
            temporary.replace(path)
            sync_directory(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        step = "make its directory writable"
        if error.errno in _FULL:
            step = "free some space"
        elif isinstance(error, IsADirectoryError):
            step = "remove that directory"
        raise StoppedEarly(
            f"cannot write {path}: {error.strerror or error}; {step}{CONTINUE}"
        ) from error


def sync_directory(path: Path) -> None:
    """Write the names in a directory to the disk, so that a rename outlives a power failure."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
