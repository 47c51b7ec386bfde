"""Connection pool of one endpoint: reuses the connection that was used last, or opens a new one."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import ssl
from typing import Final

import aiohappyeyeballs
from yarl import URL

from nel.config.schema import EndpointConfig
from nel.models.transport.connection import Connection
from nel.models.transport.faults import ConnectFailed, DeadlineExceeded, deadline_exceeded

_LOG = logging.getLogger(__name__)
_IDLE_SECONDS_MAX: Final = 15.0
"""Servers close idle connections; one that may be closed at any moment is not reused."""
_ADDRESSES_SECONDS: Final = 10.0
"""How long resolved addresses are cached, so that a thousand connections need one lookup."""
_EYEBALLS_SECONDS: Final = 0.25
"""RFC 8305, Happy Eyeballs: delay before the next address is tried in parallel."""

_Addresses = list[
    tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str, int]]
]


class ConnectionPool:
    """Connections to one host and port, straight or through a proxy; bound to one event loop."""

    def __init__(
        self,
        origin: URL,
        tls: ssl.SSLContext | None,
        endpoint: EndpointConfig,
        *,
        proxy: URL | None = None,
        proxy_tls: ssl.SSLContext | None = None,
    ) -> None:
        """Create an empty pool.

        Args:
            origin: Host and port.
            tls: How the certificate is checked; None for plain HTTP.
            endpoint: Has the deadlines and limits of connections and responses.
            proxy: That every connection goes through.
            proxy_tls: How the proxy's certificate is checked; None for plain HTTP.
        """
        self._host = origin.raw_host or ""
        self._port = origin.port or 80
        self._proxy = proxy
        self._proxy_tls = proxy_tls
        reached = proxy or origin
        self._address = (reached.raw_host or "", reached.port or 80)
        self._tls = tls
        self._endpoint = endpoint
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._reuses = True
        self._numbers = itertools.count()
        self.unasked: list[int] = []
        """Numbers of the connections on which a response arrived that no request had asked for."""
        self.loop = asyncio.get_running_loop()
        """That it is bound to; to ask which loop runs takes a system call each time."""
        self._lookup_lock = asyncio.Lock()
        self._addresses: _Addresses = []
        self._addresses_until = 0.0
        self._closed = False

    async def acquire(self) -> Connection:
        """Return an idle connection, or a new one, for exclusive use.

        Raises:
            ConnectFailed: The name cannot be resolved or no address accepts a connection.
            ssl.SSLError: The certificate or the handshake is refused.
            DeadlineExceeded: It took longer than the connect timeout.
        """
        oldest = self.loop.time() - _IDLE_SECONDS_MAX
        # The one that was used last, so that those that a smaller load leaves over grow old.
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                if connection.has_unread():
                    # the event loop is about to read it, and the connection closes itself
                    continue
                if connection.idle_since > oldest:
                    return connection
            self._drop(connection)
        try:
            async with asyncio.timeout(self._endpoint.connect_seconds):
                connection = await self._connect()
        except TimeoutError:
            error = deadline_exceeded("connect_timeout", self._endpoint.connect_seconds)
            if self._proxy is None:
                raise error from None
            raise DeadlineExceeded(error.kind, f"the proxy {self._address[0]}: {error}") from None
        self._open.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        """Keep a connection for the next request if it is usable, and close it otherwise."""
        if connection.is_usable and not self._closed:
            if self._reuses:
                self._idle.append(connection)
            elif connection.n_carried < 2:  # noqa: PLR2004 - one alone cannot be out of step
                self._drop(connection)
        elif not connection.is_draining:  # one that drains is released again when it has finished
            self._drop(connection)

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._idle.clear()
        while self._open:
            self._open.pop().close()

    def _stop_reusing(self, connection: Connection) -> None:
        """Note a connection that may be out of step, and use each further one once.

        Those that have carried several responses stay open without a request: they show whether
        they are out of step.
        """
        self._open.discard(connection)
        self.unasked.append(connection.number)
        if self._reuses:
            self._reuses = False
            self._idle.clear()
            _LOG.warning(
                "the endpoint sent a response that no request had asked for; connections are not"
                " used again"
            )

    def _drop(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.close()

    async def _connect(self) -> Connection:
        where = f"cannot connect to {self._host}:{self._port}"
        if self._proxy is not None:
            where = "the proxy {}:{} takes no connection".format(*self._address)
        try:
            addresses = await self._look_up()
            opened = await aiohappyeyeballs.start_connection(
                addresses, happy_eyeballs_delay=_EYEBALLS_SECONDS, interleave=1, loop=self.loop
            )
        except UnicodeError as error:
            # Of the codec of names: a label that is empty, or longer than 63 characters.
            raise ConnectFailed(f"{where}: that is not a name of a host") from error
        except OSError as error:
            if self._proxy is not None and isinstance(error, socket.gaierror):
                where = where.replace("takes no connection", "cannot be found")
            raise ConnectFailed(f"{where}: {error.strerror or error}") from error
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return await self._finish_connecting(opened)
        except (ssl.SSLError, ConnectFailed):
            opened.close()
            raise
        except OSError as error:
            opened.close()
            loss = "it closed the connection" if self._tls else "the connection is gone"
            during = (
                " in the handshake of TLS; a URL of plain HTTP begins with http://"
                if self._tls
                else ""
            )
            raise ConnectFailed(
                f"{where}: {error.strerror or str(error) or loss}{during}"
            ) from error
        except BaseException:
            opened.close()
            raise

    async def _finish_connecting(self, opened: socket.socket) -> Connection:
        """Return a connection over an open socket, after the handshakes that it needs."""
        connection = Connection(
            self._endpoint, self.release, self._stop_reusing, number=next(self._numbers)
        )
        name = self._host.rstrip(".") if self._tls else None
        if self._proxy is None:
            await self.loop.create_connection(
                lambda: connection, sock=opened, ssl=self._tls, server_hostname=name
            )
            return connection
        proxy_name = self._address[0] if self._proxy_tls else None
        if self._tls is None:
            await self.loop.create_connection(
                lambda: connection, sock=opened, ssl=self._proxy_tls, server_hostname=proxy_name
            )
            return connection
        from nel.models.transport.proxy import Tunnel  # noqa: PLC0415 - few runs have a proxy

        proxy = self._proxy
        transport, tunnel = await self.loop.create_connection(
            lambda: Tunnel(proxy, self._host, self._port),
            sock=opened,
            ssl=self._proxy_tls,
            server_hostname=proxy_name,
        )
        try:
            await tunnel.answered
            secured = await self.loop.start_tls(
                transport, connection, self._tls, server_hostname=name
            )
        except BaseException:
            transport.abort()
            raise
        assert secured is not None  # noqa: S101 - the transport is open
        connection.connection_made(secured)
        return connection

    async def _look_up(self) -> _Addresses:
        # The lock: a thousand connections that begin at once wait for one answer of the resolver.
        async with self._lookup_lock:
            if self.loop.time() >= self._addresses_until:
                addresses = await self.loop.getaddrinfo(*self._address, type=socket.SOCK_STREAM)
                self._addresses = [
                    (family, kind, proto, name, address)  # type: ignore[misc]
                    for family, kind, proto, name, address in addresses
                ]
                self._addresses_until = self.loop.time() + _ADDRESSES_SECONDS
            return self._addresses
