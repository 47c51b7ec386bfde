"""Writes whole files so that a reader sees the old one or the new one, never half of one.

Temp file in the same directory, flush, fsync, rename, fsync of the directory. Trap: rename alone is not durable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nel.errors import StoppedEarly


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace a file atomically with the given bytes; private to the user.

    Raises:
        StoppedEarly: The disk is full or the directory cannot be written; the old file is untouched.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(temporary, flags, 0o600)
        try:
            with os.fdopen(handle, "wb", buffering=1 << 20) as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_directory(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoppedEarly(
            f"cannot write {path}: {error.strerror or error}; free some space, then run nel report"
        ) from error


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
