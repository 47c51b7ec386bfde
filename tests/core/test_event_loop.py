"""The loop ends the connections that a run leaves, so that no run waits for a peer that reads nothing."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress

import pytest

from nel.core.event_loop import run

MORE_THAN_A_SOCKET_HOLDS = b"x" * (16 << 20)


def _read_to_the_end(peer: socket.socket) -> None:
    """Return when the connection ends."""
    with suppress(ConnectionResetError):
        while peer.recv(1 << 20):
            pass


@pytest.mark.parametrize("end", ["closed", "aborted"])
def test_a_connection_with_unsent_bytes_ends_with_the_loop(end: str) -> None:
    """The coroutine's own error comes out, and neither waits for the peer nor becomes another one."""
    ours, theirs = socket.socketpair()
    reader = threading.Thread(target=_read_to_the_end, args=(theirs,), daemon=True)

    async def fail() -> None:
        _, writer = await asyncio.open_connection(sock=ours)
        writer.write(MORE_THAN_A_SOCKET_HOLDS)
        if end == "closed":
            writer.close()
        else:
            writer.transport.abort()
        reader.start()
        raise LookupError("its own")

    with theirs:
        with pytest.raises(LookupError, match="its own"):
            run(fail())
        reader.join()
