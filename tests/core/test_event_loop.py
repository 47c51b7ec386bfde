"""The loop ends the connections that a run leaves, so that no run waits for a peer that reads nothing."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from contextlib import suppress

import aiohttp
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


def test_a_request_that_is_being_sent_ends_with_the_loop() -> None:
    """A run may stop while it sends a long prompt to a server that reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        async def fail() -> None:
            accepted = asyncio.create_task(asyncio.to_thread(server.accept))
            async with aiohttp.ClientSession() as session:
                url = f"http://127.0.0.1:{server.getsockname()[1]}/"
                sending = asyncio.create_task(session.post(url, data=io.BytesIO(MORE_THAN_A_SOCKET_HOLDS)))
                connection, _ = await accepted
                peers.append(connection)
                await asyncio.to_thread(connection.recv, 1)
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
            raise LookupError("its own")

        peers: list[socket.socket] = []
        with pytest.raises(LookupError, match="its own"):
            run(fail())
        with peers[0] as peer:
            _read_to_the_end(peer)
