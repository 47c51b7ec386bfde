"""Requests that may have another's response, since their connection was out of step.

That a connection is out of step may be found only at the end of a run, so it has to be known until
then which requests each connection has carried. That is written to a file: a line for each request,
of which only the last are in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from nel.core.strict_json import dumps_bytes, loads
from nel.models.faults import Fault
from nel.models.transport import Fetched, Transport
from nel.types import Request

_MEMORY_BYTES_MAX: Final = 64 * 1024
"""Lines that are not in the file yet; a small run needs none."""


class SentRequest(NamedTuple):
    """A request for a sample, as far as its answer has to be found again."""

    sample_id: str
    repeat: int
    cache_key: str
    """Empty without a cache."""


class CarriedRequests:
    """Which requests each connection has carried; leaves no file behind, not even after a kill."""

    def __init__(self, directory: Path | None) -> None:
        """Prepare; nothing is written yet.

        Args:
            directory: Where the file is made, without a name, once it is needed; without one
                nothing is noted.
        """
        self._directory = directory
        self._file: IO[bytes] | None = None
        self._n_in_file = 0
        self._recent = bytearray()
        self._write_at = _MEMORY_BYTES_MAX

    def note(self, fetched: Fetched | Fault, request: Request, cache_key: str) -> None:
        """Note the request of a response, unless the response was the first on its connection: it
        is never in doubt.
        """
        carried = fetched.carried if isinstance(fetched, Fetched) else None
        if carried is None or carried.is_first or self._directory is None:
            return
        self._recent += dumps_bytes(
            [carried.connection, request.sample_id, request.repeat, cache_key]
        )
        self._recent += b"\n"
        if len(self._recent) >= self._write_at:
            self._write()

    def doubtful(self, transport: Transport) -> list[SentRequest] | None:
        """Return the noted requests that may have another's response; None if none came unasked."""
        unasked = frozenset(transport.unasked)
        return list(self._carried_by(unasked)) if unasked else None

    def close(self) -> None:
        """Delete the file."""
        if self._file is not None:
            self._file.close()

    def _write(self) -> None:
        """Append to the file what is in memory; what does not fit on the disk stays in memory."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._directory, buffering=0)  # noqa: SIM115 - until `close`
            # A write that failed half way, or a reading, has left the position elsewhere.
            self._file.seek(self._n_in_file)
            n_written = self._file.write(self._recent)
        except OSError:
            n_written = 0
        self._n_in_file += n_written
        del self._recent[:n_written]
        self._write_at = len(self._recent) + _MEMORY_BYTES_MAX

    def _carried_by(self, connections: Collection[int]) -> Iterator[SentRequest]:
        for line in self._lines():
            connection, sample_id, repeat, cache_key = loads(line)
            if connection in connections:
                yield SentRequest(sample_id, repeat, cache_key)

    def _lines(self) -> Iterator[bytes]:
        """Yield all lines; one of them may be partly in the file and partly in memory."""
        incomplete = b""
        if self._file is not None:
            self._file.seek(0)
            n_left = self._n_in_file
            while n_left and (block := self._file.read(min(n_left, _MEMORY_BYTES_MAX))):
                n_left -= len(block)
                *lines, incomplete = (incomplete + block).split(b"\n")
                yield from lines
        yield from (incomplete + self._recent).splitlines()
