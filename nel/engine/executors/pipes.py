"""Exchanges frames with a child process in threads, so that an ending event loop does not wait.

Depends on the standard library alone.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Generic, TypeVar

T = TypeVar("T")


class PipeProcess(Generic[T]):
    """A child in a session of its own that reads frames and writes frames."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        read: Callable[[IO[bytes]], T | None],
        take: Callable[[T | None], None],
        errors: IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start it.

        Args:
            command: Program and arguments.
            read: Returns the next frame of its output, None at the end.
            take: Gets each frame, and None at the end; called in a thread.
            errors: A file for its standard error; None: that of this process.
            env: Its variables; None: those of this process.
        """
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603 - nel itself
            command, stdin=pipe, stdout=pipe, stderr=errors, env=env, start_new_session=True
        )
        self._read = read
        self._take = take
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for work in (self._read_all, self._write_all):
            threading.Thread(target=work, daemon=True).start()

    def put(self, frame: bytes) -> None:
        """Write a frame; it is lost where the process is gone."""
        self._frames.put(frame)

    def end(self, number: signal.Signals) -> None:
        """Send a signal to the process and to all that it started in its session."""
        self._frames.put(None)
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def hang_up(self) -> None:
        """Close its input, at which it ends."""
        self._frames.put(None)

    def end_within(self, seconds: float) -> None:
        """Wait so long for it to end by itself, then kill it."""
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.end(signal.SIGKILL)

    def status(self) -> int:
        """Return its exit status, once its output has ended."""
        return self._process.wait()

    def _read_all(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with self._process.stdout as stream:
            frame: T | None = None
            # Also for what is not a frame (a ValueError): with its output closed, the process ends.
            with suppress(OSError, ValueError):
                while (frame := self._read(stream)) is not None:
                    self._take(frame)
        self._process.wait()
        self._take(None)

    def _write_all(self) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        with suppress(OSError), self._process.stdin as stream:
            while (frame := self._frames.get()) is not None:
                stream.write(frame)
                stream.flush()
