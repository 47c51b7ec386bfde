"""The process limits (ulimit) of a session, open files and memory; fits the session into them.

What a shell or a container allows is not known before the run. A connection that cannot be opened
is not a fault of the endpoint, and a C library that gets no memory aborts the process, so both are
settled before anything is sent.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from nel.errors import ConfigError

_OWN_FILES: Final = 28
"""Open files beside connections; 19 were counted: store, log, event loop, scorers' channels."""
_FILES_PER_PROGRAM: Final = 4
"""For each worker of the sandbox."""
_ADDRESS_SPACE_MIN: Final = 704 * 2**20
"""From 620 MiB on, a run with a few threads and numpy ended well; below, C libraries abort it."""
_ADDRESS_SPACE_AMPLE: Final = 8 * 2**30
_LINEAR_ALGEBRA_THREADS: Final = "OPENBLAS_NUM_THREADS"
"""OpenBLAS, which numpy brings, reserves memory for each core when it is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFit:
    """How a session fits into the limit of open files."""

    files: int
    """The limit to set."""
    most: int
    """Requests in flight to one endpoint."""
    note: str | None
    """For the user, where that is fewer than wanted."""


def check_memory() -> None:
    """Raise ConfigError where the address space is too limited for a run to end reliably.

    Where there is a limit, numpy is told to compute in one thread; it must not have been imported
    before.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    if limit < _ADDRESS_SPACE_AMPLE:
        os.environ.setdefault(_LINEAR_ALGEBRA_THREADS, "1")
    if limit < _ADDRESS_SPACE_MIN:
        raise ConfigError(
            f"this process may use {limit // 2**20:,} MiB of memory addresses (ulimit -v"
            f" {limit // 1024}), and a run needs {_ADDRESS_SPACE_MIN // 2**20:,}; raise it: ulimit"
            " -v unlimited"
        )


def fit_open_files(wanted: Sequence[int], *, programs: int) -> SessionFit:
    """Raise the limit of open files as far as needed and allowed; return the session's fit.

    Args:
        wanted: The concurrency of each endpoint; at least one.
        programs: Workers of the sandbox.

    Raises:
        ConfigError: The limit does not leave a connection for each endpoint.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    base = _n_open() + _OWN_FILES + _FILES_PER_PROGRAM * programs
    fitted = fit(wanted, own=base, soft=soft, hard=hard)
    try:
        if fitted.files != soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (fitted.files, hard))
    except (OSError, ValueError):
        return fit(wanted, own=base, soft=soft, hard=soft)
    return fitted


def fit(wanted: Sequence[int], *, own: int, soft: int, hard: int) -> SessionFit:
    """Return how a session fits into the limits of open files.

    Args:
        wanted: The concurrency of each endpoint; at least one.
        own: Files beside the connections.
        soft: The limit that holds, or RLIM_INFINITY.
        hard: What it may be raised to, or RLIM_INFINITY.

    Raises:
        ConfigError: They do not leave a connection for each endpoint.
    """
    enough = own + sum(wanted)
    if soft == resource.RLIM_INFINITY or soft >= enough:
        return SessionFit(files=soft, most=max(wanted), note=None)
    if hard == resource.RLIM_INFINITY or hard >= enough:
        return SessionFit(files=enough, most=max(wanted), note=None)
    most = (hard - own) // len(wanted)  # an equal part for each endpoint
    raised = (
        f"start it from a shell with ulimit -n {enough} (root raises a hard limit; so do docker run"
        f" --ulimit nofile={enough} and LimitNOFILE= of systemd)"
    )
    if most < 1:
        raise ConfigError(
            f"this process may open {hard:,} files (ulimit -n), which leaves none for connections;"
            f" {raised}"
        )
    note = (
        f"this process may open {hard:,} files (ulimit -n), so at most {most:,} requests are in"
        " flight"
    )
    return SessionFit(
        files=hard,
        most=most,
        note=f"{note} instead of {max(wanted):,}; to have them all, {raised}",
    )


def _n_open() -> int:
    with suppress(OSError):
        return len(os.listdir("/dev/fd"))  # noqa: PTH208 - names are all that is wanted
    return 0
