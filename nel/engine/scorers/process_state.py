"""What a scorer may change of the process it shares with others, and how to put that right.

Depends on the standard library. It takes ten microseconds after a scorer that changed nothing.
Variables of modules are
not looked at: a scorer that changes them changes what its own later samples see.
"""

from __future__ import annotations

import io
import os
import resource
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

MEMORY_BYTES_MAX: Final = 4 << 30
"""How much memory a worker may allocate beyond what it starts with."""
_LIMITS: Final = (
    resource.RLIMIT_AS,
    resource.RLIMIT_CORE,
    resource.RLIMIT_CPU,
    resource.RLIMIT_DATA,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_NPROC,
    resource.RLIMIT_STACK,
)
_STANDARD: Final = (0, 1, 2)


class ProcessState:
    """The state of a worker process as it was before the first scorer ran."""

    def __init__(self, channel: int) -> None:
        """Limit the process's memory, and note the rest.

        Args:
            channel: The descriptor of the connection with the run.
        """
        self._channel = channel
        self._channel_file = _file_of(channel)
        self._limits = {kind: resource.getrlimit(kind) for kind in _LIMITS}
        self._limit_memory()
        self._directory = os.getcwd()  # noqa: PTH109 - compared after each scoring
        self._temporary = tempfile.gettempdir()
        self._streams = sys.stdout, sys.stderr
        self._files = {handle: _file_of(handle) for handle in _STANDARD}
        self._recursion = sys.getrecursionlimit()

    def is_channel_intact(self) -> bool:
        """Return whether the connection with the run is still open under its descriptor."""
        return _file_of(self._channel) == self._channel_file

    def restore(self) -> bool:
        """Undo what a scorer changed; return whether that was possible."""
        self._restore_streams()
        if sys.getrecursionlimit() != self._recursion:
            sys.setrecursionlimit(self._recursion)
        try:
            if _directory() != self._directory:
                os.chdir(self._directory)
            if not os.path.isdir(self._temporary):  # noqa: PTH112 - a tenth of the time of Path.is_dir
                Path(self._temporary).mkdir(mode=0o700, parents=True, exist_ok=True)
            for kind, limits in self._limits.items():
                if resource.getrlimit(kind) != limits:
                    resource.setrlimit(kind, limits)
        except (OSError, ValueError):
            return False
        return True

    def allow_stack(self, size: int) -> None:
        """Raise the cap by so many bytes of waiting threads' stacks, which no scorer owns."""
        limit, most = self._limits[resource.RLIMIT_AS]
        if limit != resource.RLIM_INFINITY:
            self._set_memory_limit(limit + size, most)

    def _limit_memory(self) -> None:
        """Cap the process's address space above what it has now; only Linux has a cap."""
        with suppress(OSError, ValueError):
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            limit = pages * resource.getpagesize() + MEMORY_BYTES_MAX
            self._set_memory_limit(limit, self._limits[resource.RLIMIT_AS][1])

    def _set_memory_limit(self, limit: int, most: int) -> None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))
            self._limits[resource.RLIMIT_AS] = (limit, most)

    def _restore_streams(self) -> None:
        for handle, file in self._files.items():
            if _file_of(handle) != file:
                self._reopen(handle)
        if any(stream is not None and stream.closed for stream in self._streams):
            self._streams = _error_stream(), _error_stream()
        sys.stdout, sys.stderr = self._streams

    def _reopen(self, handle: int) -> None:
        """Open a standard descriptor to nothing, so that no other file gets its number."""
        with suppress(OSError):
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != handle:
                os.dup2(nothing, handle)
                os.close(nothing)
            self._files[handle] = _file_of(handle)


def _file_of(handle: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(handle)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _directory() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - a third of the time of Path.cwd
    except OSError:
        return None


def _error_stream() -> io.TextIOWrapper:
    return open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
