"""Locks a run directory for one process, by `flock`.

The kernel releases the lock of a dead owner, so a lock is never stale. The lock file is never
removed: a process that had opened it before would lock another file than one that comes later.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nel.errors import OutputError

_FILE_NAME = ".lock"
_ATTEMPTS = 5
_RETRY_SECONDS = 0.05
"""`owner_of` holds a shared lock for microseconds; an attempt that meets it is repeated."""
_OWNER = re.compile(r"process (\d+) on (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The process that holds a run directory."""

    pid: int
    host: str


def owner_of(run_dir: Path) -> Owner | None:
    """Return the process that holds a run directory now, None without one; writes nothing."""
    try:
        handle = os.open(run_dir / _FILE_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        match = _OWNER.match(os.read(handle, 200).decode("utf-8", "replace"))
        if match is None:  # it has the lock, and has not signed yet
            return Owner(pid=0, host="unknown")
        return Owner(pid=int(match[1]), host=match[2])
    else:
        return None
    finally:
        os.close(handle)


@contextmanager
def own_directory(run_dir: Path) -> Iterator[None]:
    """Hold a run directory for this process.

    Raises:
        OutputError: Another process holds it, or it takes no lock; the message names pid and host,
            or what to change.
    """
    try:
        handle = os.open(
            run_dir / _FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise OutputError(
            f"cannot write to {run_dir}: {error.strerror}; choose another --output-dir"
        ) from error
    try:
        try:
            _lock(handle)
        except BlockingIOError as error:
            owner = os.read(handle, 200).decode("utf-8", "replace").strip() or "another process"
            raise OutputError(f"{run_dir} is in use by {owner}; wait for it or stop it") from error
        except OSError as error:  # some network file systems have no locks
            raise OutputError(
                f"cannot lock {run_dir}: {error.strerror}; choose an --output-dir on a local disk"
            ) from error
        _sign(handle, run_dir)
        yield
    finally:
        os.close(handle)


def _sign(handle: int, run_dir: Path) -> None:
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    except OSError as error:
        raise OutputError(
            f"cannot write to {run_dir}: {error.strerror}; choose another --output-dir"
        ) from error


def _lock(handle: int) -> None:
    for _ in range(_ATTEMPTS - 1):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_RETRY_SECONDS)
        else:
            return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the last attempt, which raises
