"""An agent in a container, as the process of an episode's tools sees it: started, connected, stopped.

Its connections lead to one port of this machine, nel's endpoint for the episode, and nowhere else.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nel.environments.commands import command_fields
from nel.environments.frames import Value, pack_frame, read_frame
from nel.tools import ToolsetFault
from nel.types import JsonObject

if TYPE_CHECKING:
    from nel.environments.session import ContainerSession
    from nel.sandbox.isolation.stream import EngineStream

SETUP: Final = "agent_setup"
PORT: Final = "\0"
"""Stands for the port in the container, which no text of a task can hold."""
_READ_BYTES: Final = 256 << 10
_SEND_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 60.0
_FILE_SECONDS: Final = 60.0
_OUTPUT_BYTES: Final = 64 << 10
_KILLED_EXIT: Final = 137


class AgentProgram:
    """One agent in a session's container."""

    def __init__(self, session: ContainerSession) -> None:
        self._session = session
        self._stream: EngineStream | None = None
        self._sending = threading.Lock()
        self._connections: dict[int, socket.socket] = {}
        self._is_stopped = threading.Event()

    def run(self, request: JsonObject) -> JsonObject:
        """Run an agent to its end: its exit code, what ended it, and the end of what it wrote.

        Args:
            request: ``argv``, ``env``, ``files`` by path, ``checks``, ``seconds`` and ``port``, where
                nel serves the episode. `PORT` in texts becomes the port inside the container.

        Raises:
            ToolsetFault: The container ended, or the agent cannot be started in it.
        """
        self._check(request["checks"])
        self._stream, facts = self._session.start_helper("relay")

        def fill(text: str) -> str:
            return text.replace(PORT, facts["port"])

        for path, text in request["files"].items():
            self._write(path, fill(text))
        deadline = time.monotonic() + request["seconds"] + _GRACE_SECONDS
        command = command_fields(
            [fill(text) for text in request["argv"]],
            {name: fill(text) for name, text in request["env"].items()},
            merge=True,
        )
        seconds = request["seconds"]
        self._send(self._session.order(command, seconds=seconds, bytes_max=_OUTPUT_BYTES))
        # A stop that came before the relay was there could not be sent.
        if self._is_stopped.is_set():
            self._send({"stop": True})
        try:
            return self._serve(request["port"], deadline)
        except (OSError, ValueError, KeyError) as error:
            self._session.check()
            if isinstance(error, TimeoutError):
                raise ToolsetFault("container_died", "the agent's relay does not answer") from error
            return {
                "exit": _KILLED_EXIT,
                "ended_by": "relay_killed",
                "output": self._stream.errors,
                "seconds": 0.0,
            }
        finally:
            for connection in list(self._connections.values()):
                connection.close()

    def stop(self) -> None:
        """Have the agent killed."""
        self._is_stopped.set()
        if self._stream is not None:
            with suppress(OSError):
                self._send({"stop": True})

    def close(self) -> None:
        """Release the connection to the container."""
        if self._stream is not None:
            self._stream.hang_up()
            self._stream.close()

    def _check(self, checks: Sequence[JsonObject]) -> None:
        """Raise where what the agent needs in the container is not there."""
        for check in checks:
            ran = self._session.run(
                check["command"], seconds=_FILE_SECONDS, env=check["env"], merge=True
            )
            output = ran.stdout.decode("utf-8", "replace").strip()
            if ran.exit or check["prints"] not in output:
                raise ToolsetFault(SETUP, f"{check['problem']}: {output[-500:]}")

    def _write(self, path: str, text: str) -> None:
        """Write a file as the agent's user; ``~/`` is that user's folder."""
        if path.startswith("~/"):
            ran = self._session.run("cd ~ && pwd", seconds=_FILE_SECONDS)
            path = ran.stdout.decode("utf-8", "replace").strip() + path[1:]
        try:
            self._session.write(path, text.encode())
        except OSError as error:
            raise ToolsetFault(SETUP, f"{path} cannot be written: {error}") from error

    def _serve(self, port: int, deadline: float) -> JsonObject:
        assert self._stream is not None  # noqa: S101 - the caller has started it
        while True:
            header, body = read_frame(self._stream, deadline)
            if "connection" not in header:
                return {
                    "exit": int(header["exit"]),
                    "ended_by": header["ended_by"],
                    "output": body.decode("utf-8", "replace"),
                    "seconds": float(header["seconds"]),
                }
            self._carry(header, body, port)

    def _carry(self, header: Mapping[str, str], body: bytes, port: int) -> None:
        number = int(header["connection"])
        # The relay numbers the agent's connections; each becomes one to nel's endpoint.
        if "begins" in header:
            connection = socket.create_connection(("127.0.0.1", port))
            self._connections[number] = connection
            threading.Thread(target=self._send_back, args=(number, connection), daemon=True).start()
        connection_or_none = self._connections.get(number)
        if connection_or_none is None:
            return
        with suppress(OSError):
            connection_or_none.sendall(body)
        if "ends" in header:
            del self._connections[number]
            with suppress(OSError):
                connection_or_none.shutdown(socket.SHUT_RDWR)

    def _send_back(self, number: int, connection: socket.socket) -> None:
        """Send the agent what nel answers on one connection, until that ends."""
        with suppress(OSError):
            while data := connection.recv(_READ_BYTES):
                self._send({"connection": number}, data)
        # Nothing is said of a connection that the agent itself has ended: `_carry` removed it.
        if self._connections.get(number) is connection:
            with suppress(OSError):
                self._send({"connection": number, "ends": True})
        connection.close()

    def _send(self, header: Mapping[str, Value], body: bytes = b"") -> None:
        assert self._stream is not None  # noqa: S101 - the callers have started it
        frame = pack_frame(header, body)
        with self._sending:
            self._stream.send(frame, time.monotonic() + _SEND_SECONDS)
