"""The open connections to one endpoint: made when none is idle, kept for the next request."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final

import aiohappyeyeballs
from yarl import URL

from nel.models.transport.connection import Connection, Limits
from nel.models.transport.faults import NeverConnected, too_late

_IDLE_SECONDS_MAX: Final = 15.0
"""Servers close idle connections; one that is about to be closed is better not used."""
_ADDRESSES_SECONDS: Final = 10.0
"""How long a name's addresses are remembered, so that a thousand connections look it up once."""
_EYEBALLS_SECONDS: Final = 0.25
"""RFC 8305: when the next address is tried beside the one that has not answered yet."""

_Addresses = list[tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str, int]]]


class Pool:
    """Connections to one host and port; one event loop's."""

    def __init__(self, origin: URL, tls: ssl.SSLContext | None, limits: Limits, *, connect_seconds: float) -> None:
        """Open nothing yet.

        Args:
            origin: Host and port.
            tls: How the certificate is checked; None for plain HTTP.
            limits: Of each answer.
            connect_seconds: For the name, the connection and the TLS handshake together.
        """
        self._host = origin.raw_host or ""
        self._port = origin.port or 80
        self._tls = tls
        self._limits = limits
        self._connect_seconds = connect_seconds
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._looking_up = asyncio.Lock()
        self._addresses: _Addresses = []
        self._addresses_until = 0.0
        self._closed = False

    @property
    def n_open(self) -> int:
        """Return how many connections are open, in use or idle."""
        return len(self._open)

    async def take(self) -> Connection:
        """Return a connection that nobody else uses: the one used last, or a new one.

        Raises:
            NeverConnected: There is none to be had.
            ssl.SSLError: The certificate or the handshake is refused.
            TooLate: It took too long.
        """
        oldest = asyncio.get_running_loop().time() - _IDLE_SECONDS_MAX
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable and connection.idle_since > oldest:
                return connection
            self._drop(connection)
        try:
            async with asyncio.timeout(self._connect_seconds):
                connection = await self._connect()
        except TimeoutError:
            raise too_late("connect_timeout", self._connect_seconds) from None
        self._open.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request, if it can carry one."""
        if connection.is_usable and not self._closed:
            self._idle.append(connection)
        elif not connection.is_draining:
            self._drop(connection)

    def close(self) -> None:
        """Drop all connections."""
        self._closed = True
        self._idle.clear()
        while self._open:
            self._open.pop().close()

    def _drop(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.close()

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        where = f"cannot connect to {self._host}:{self._port}"
        try:
            addresses = await self._look_up()
            opened = await aiohappyeyeballs.start_connection(
                addresses, happy_eyeballs_delay=_EYEBALLS_SECONDS, interleave=1, loop=loop
            )
        except OSError as error:
            raise NeverConnected(f"{where}: {error.strerror or error}") from error
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            _, connection = await loop.create_connection(
                lambda: Connection(self._limits, self.give_back),
                sock=opened,
                ssl=self._tls,
                server_hostname=self._host.rstrip(".") if self._tls else None,
            )
        except ssl.SSLError:
            opened.close()
            raise
        except OSError as error:
            opened.close()
            raise NeverConnected(f"{where}: {error.strerror or error}") from error
        except BaseException:
            opened.close()
            raise
        return connection

    async def _look_up(self) -> _Addresses:
        loop = asyncio.get_running_loop()
        async with self._looking_up:
            if loop.time() >= self._addresses_until:
                found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                self._addresses = [(family, kind, proto, name, address) for family, kind, proto, name, address in found]  # type: ignore[misc]
                self._addresses_until = loop.time() + _ADDRESSES_SECONDS
            return self._addresses
