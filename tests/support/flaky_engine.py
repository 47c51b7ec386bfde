"""A socket before the machine's Docker engine, which a test can cut, or have refuse what comes next."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ENGINE = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")


class FlakyEngine:
    """Passes connections on until it is told otherwise."""

    def __init__(self, path: Path) -> None:
        self.host = f"unix://{path}"
        self.refusal = ""
        """What a request that would change something gets for an answer; passed on where empty."""
        self._connections: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """End what is connected, and accept nothing more."""
        for connection in (self._listener, *self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(ENGINE)
                self._connections += (client, engine)
                for ends in ((client, engine), (engine, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if self.refusal and data.startswith(b"POST "):
                    body = f'{{"message": "{self.refusal}"}}'
                    head = "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
                    source.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
                else:
                    target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


@contextmanager
def flaky_engine(path: Path) -> Iterator[FlakyEngine]:
    """Yield one that listens at a path, and end it."""
    engine = FlakyEngine(path)
    try:
        yield engine
    finally:
        engine.stop()
