"""What is said to an HTTP proxy: who asks, and for a tunnel to an endpoint that speaks TLS."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import cast

from yarl import URL

from nel.models.transport.faults import ConnectFailed

_HEAD_BYTES_MAX = 64 * 1024


def authorization(proxy: URL) -> dict[str, str]:
    """Return the header with the user and password of a proxy's URL; empty where it has none."""
    if proxy.user is None:
        return {}
    pair = f"{proxy.user}:{proxy.password or ''}".encode()
    return {"Proxy-Authorization": f"Basic {b64encode(pair).decode()}"}


class Tunnel(asyncio.Protocol):
    """Asks a proxy for a tunnel, and waits for its answer."""

    def __init__(self, proxy: URL, host: str, port: int) -> None:
        """Prepare the request for a tunnel to a host."""
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        headers = {"Host": target, **authorization(proxy)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._request = f"CONNECT {target} HTTP/1.1\r\n{lines}\r\n".encode()
        self._head = b""
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the tunnel is open; ConnectFailed says why it is not."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        cast(asyncio.Transport, transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """Read the head of the answer."""
        self._head += data
        if self.answered.done():
            return
        if b"\r\n\r\n" in self._head:
            version, _, status = self._head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
            if version.startswith("HTTP/") and status.startswith("2"):
                self.answered.set_result(None)
            else:
                self._refuse(f"the proxy refused the connection: HTTP {status}")
        elif len(self._head) > _HEAD_BYTES_MAX:
            self._refuse("the proxy refused the connection: its answer is not HTTP")

    def connection_lost(self, error: Exception | None) -> None:
        """Fail where there was no answer."""
        if not self.answered.done():
            self._refuse("the proxy closed the connection")

    def _refuse(self, message: str) -> None:
        self.answered.set_exception(ConnectFailed(message))
