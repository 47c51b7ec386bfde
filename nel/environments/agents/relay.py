"""Runs in a container: starts an agent, and carries its connections to nel over the standard streams.

It is executed in the scope of `nel.environments.helper`, whose names it uses. It listens on a port of
127.0.0.1 and says which; the container needs no network. A frame with ``connection`` carries bytes of
one; the first other frame is the command, whose end is the last frame.
"""

from __future__ import annotations

import selectors
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import json

    from nel.environments.helper import (
        CHUNK,
        SIZES,
        Helper,
        RunningCommand,
        kill_session,
        receive,
        send,
    )

PENDING_BYTES_MAX = 256 << 20
"""Of answers that an agent does not read."""


def send_frame(header: dict[str, Any], body: bytes = b"") -> None:
    """Write a frame to nel."""
    data = json.dumps(header).encode()
    send(SIZES.pack(len(data), len(body)) + data + body)


def receive_frame() -> tuple[dict[str, Any], bytes]:
    """Return the next frame of nel; end with its input."""
    n_header, n_body = SIZES.unpack(receive(SIZES.size))
    return json.loads(receive(n_header)), receive(n_body)


class AgentRelay(Helper):
    """Serves one agent, from its start to its end."""

    def __init__(self) -> None:
        """Listen on a free port."""
        super().__init__()
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.connections: dict[int, socket.socket] = {}
        """By number, from 1; a handle is used again, a number is not."""
        self.n_connections = 0
        self.pending: dict[int, bytearray] = {}
        """What is still to be written, by number."""
        self.closing: set[int] = set()
        self.is_stopped = False

    def serve(self) -> None:
        """Start the agent that the first frame names, and return to nel what it came to."""
        send_frame({"number": 0, "port": self.listener.getsockname()[1]})
        request, body = receive_frame()
        started = time.monotonic()
        command = RunningCommand(request, body, self.selector)
        while not command.has_ended(started + request["seconds"] - time.monotonic()):
            for key, _ in self.selector.select(1.0):
                self.handle(key, command)
            if self.is_stopped:
                command.ended_by, command.status = "stopped", kill_session(command.pid)
                break
        self.leftovers += command.finish()
        kept = [output.ends() for output in command.outputs.values()]
        reply = {
            "number": 1,
            "exit": command.code,
            "ended_by": command.ended_by,
            "sizes": [output.size for output in command.outputs.values()],
            "n_stdout": len(kept[0]),
            "seconds": time.monotonic() - started,
        }
        send_frame(reply, b"".join(kept))
        self.selector.unregister(self.listener)
        for number in list(self.connections):
            self.drop(number)
        self.wait_for_input()

    def handle(self, key: selectors.SelectorKey, command: RunningCommand) -> None:
        """Do what a handle that is ready is waited for."""
        if key.fd == self.listener.fileno():
            with suppress(OSError):
                self.accept()
        elif key.data is not None:
            if key.data in self.connections:  # else it ended since the handles were looked at
                self.carry(key.data)
        elif not command.handle(key.fd) and self.is_input(key.fd):
            self.take_frame()

    def accept(self) -> None:
        """Begin a connection."""
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        self.n_connections += 1
        number = self.n_connections
        self.connections[number], self.pending[number] = connection, bytearray()
        self.selector.register(connection, selectors.EVENT_READ, number)
        send_frame({"connection": number, "begins": True})

    def carry(self, number: int) -> None:
        """Write what is pending, and send what the agent wrote."""
        self.flush(number)
        if number not in self.connections:
            return
        try:
            data = self.connections[number].recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        send_frame({"connection": number, "ends": not data}, data)
        if not data:
            self.drop(number)

    def take_frame(self) -> None:
        """Take a frame: an order to stop, or bytes for the agent."""
        header, body = receive_frame()
        if header.get("stop"):
            self.is_stopped = True
            return
        number = header["connection"]
        if number not in self.connections:
            return
        self.pending[number] += body
        if header.get("ends"):
            self.closing.add(number)
        self.flush(number)
        if len(self.pending.get(number, b"")) > PENDING_BYTES_MAX:
            self.drop(number)

    def flush(self, number: int) -> None:
        """Write as much as the agent takes."""
        pending = self.pending[number]
        try:
            while pending:
                del pending[: self.connections[number].send(pending[:CHUNK])]
        except BlockingIOError:
            """The rest is written once the agent has read."""
        except OSError:
            self.drop(number)
            return
        if not pending and number in self.closing:
            self.drop(number)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if pending else 0)
        self.selector.modify(self.connections[number], events, number)

    def drop(self, number: int) -> None:
        """End a connection."""
        connection = self.connections.pop(number)
        del self.pending[number]
        self.closing.discard(number)
        self.selector.unregister(connection)
        connection.close()


def main() -> None:
    """Serve one agent."""
    AgentRelay().serve()
