"""Requests whose answer may be the response to another request, since their connection was out of
step.

That a connection is out of step may be found only at the end of a run, so it has to be known until
then which requests each connection has carried. That is written to a file: a line for each request.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.core.strict_json import dumps_bytes, loads
from nel.models.faults import Fault
from nel.models.transport import Fetched, Transport

_MEMORY_BYTES_MAX: Final = 64 * 1024
"""Lines that are kept in memory; a small run needs no file."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request for a sample, as far as its answer has to be found again."""

    sample_id: str
    repeat: int
    cache_key: str
    """Empty without a cache."""


class CarriedRequests:
    """Which requests the connections of a transport have carried; leaves no file behind, not even
    after a kill.
    """

    def __init__(self, directory: Path | None) -> None:
        """Prepare; nothing is written yet.

        Args:
            directory: Where the file is made, without a name, once it is needed; without one
                nothing is noted.
        """
        self._lines = (
            None
            if directory is None
            else tempfile.SpooledTemporaryFile(_MEMORY_BYTES_MAX, dir=str(directory))  # noqa: SIM115 - until `close`
        )

    def note(self, fetched: Fetched | Fault, asked: SentRequest | None) -> None:
        """Note the request of a response, unless the response was the first on its connection: it
        is never in doubt.
        """
        carried = fetched.carried if isinstance(fetched, Fetched) else None
        if carried is None or carried.is_first or asked is None or self._lines is None:
            return
        line = dumps_bytes([carried.connection, asked.sample_id, asked.repeat, asked.cache_key])
        with suppress(OSError):  # the disk is full, at which the run ends
            self._lines.write(line + b"\n")

    def doubtful(self, transport: Transport) -> list[SentRequest] | None:
        """Return the noted requests that may have got the response to another; None where none came
        unasked.
        """
        unasked = frozenset(transport.unasked)
        return list(self._carried_by(unasked)) if unasked else None

    def close(self) -> None:
        """Delete the file."""
        if self._lines is not None:
            with suppress(OSError):
                self._lines.close()

    def _carried_by(self, connections: Collection[int]) -> Iterator[SentRequest]:
        if self._lines is None:
            return
        with suppress(OSError, ValueError):  # as in `note`: the last line may be cut
            self._lines.seek(0)
            for line in self._lines:
                connection, sample_id, repeat, cache_key = loads(line)
                if connection in connections:
                    yield SentRequest(sample_id, repeat, cache_key)
