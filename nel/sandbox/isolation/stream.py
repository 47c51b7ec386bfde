"""The two ends of a process in a container: its standard input is written, its standard output read.

The engine sends both outputs over one connection, in frames that name the output.
"""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from typing import Any, Final

_READ_BYTES: Final = 64 << 10
_ERROR_BYTES_MAX: Final = 1 << 20
"""The process writes nothing to standard error but its own end."""
_ERROR_BYTES_KEPT: Final = 4096
_FRAME: Final = struct.Struct(">BxxxL")
_STDERR: Final = 2


class EngineStream:
    """A connection that the engine gave to the streams of a process. Not thread-safe."""

    def __init__(self, attached: Any) -> None:
        """Take over what the SDK returns: a socket, or an object around one."""
        self._attached = attached
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._pending = 0
        """Bytes of the engine's frame that are still to come."""
        self._error_bytes = 0
        self._errors = b""

    @property
    def errors(self) -> str:
        """Return the end of what the process wrote to standard error."""
        return self._errors.decode("utf-8", "replace").strip()[-500:]

    def send(self, data: bytes, deadline: float) -> None:
        """Write to standard input; raises OSError where the process is gone.

        Args:
            data: What is written.
            deadline: On the monotonic clock, as for `read`.
        """
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        self._socket.sendall(data)

    def read(self, size: int, deadline: float) -> bytearray:
        """Read standard output out of the engine's stream of both outputs.

        What a hostile image sends is held once, and no more of it than was asked for.

        Raises:
            OSError: The process is gone, or took too long (`TimeoutError`).
            ValueError: It floods standard error.
        """
        data = bytearray()
        while len(data) < size:
            while self._pending == 0:
                self._pending = self._next_frame(deadline)
            chunk = self._raw(min(size - len(data), self._pending), deadline)
            self._pending -= len(chunk)
            data += chunk
        return data

    def hang_up(self) -> None:
        """End the connection, which also wakes a reader. Thread-safe."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Release the connection."""
        for handle in (self._socket, self._attached):
            with suppress(OSError):
                handle.close()

    def _next_frame(self, deadline: float) -> int:
        """Return the size of the next frame of standard output; pass over standard error."""
        header = b""
        while len(header) < _FRAME.size:
            header += self._raw(_FRAME.size - len(header), deadline)
        kind, length = _FRAME.unpack(header)
        if kind != _STDERR:
            return int(length)
        self._error_bytes += length
        if self._error_bytes > _ERROR_BYTES_MAX:
            raise ValueError("it floods standard error")
        while length:
            chunk = self._raw(length, deadline)
            length -= len(chunk)
            self._errors = (self._errors + chunk)[-_ERROR_BYTES_KEPT:]
        return 0

    def _raw(self, size: int, deadline: float) -> bytes:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds_left)
        chunk = self._socket.recv(min(size, _READ_BYTES))
        if not chunk:
            raise ConnectionError("it hung up")
        return chunk
