"""One process per run directory. The kernel releases the lock when its owner dies, so it is never stale.

Trap: the lock file stays behind on purpose; removing it would let two owners hold two different files.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nel.errors import OutputError

_FILE_NAME = ".lock"


@contextmanager
def owned(run_dir: Path) -> Iterator[None]:
    """Hold a run directory for this process.

    Raises:
        OutputError: Another process holds it; the message names its pid and host.
    """
    try:
        handle = os.open(run_dir / _FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise OutputError(f"cannot write to {run_dir}: {error.strerror}; choose another --output-dir") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(handle, 200).decode("utf-8", "replace").strip() or "another process"
            raise OutputError(f"{run_dir} is in use by {owner}; wait for it or stop it") from error
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(handle)
