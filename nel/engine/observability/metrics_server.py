"""Serves text over HTTP to a few clients at a time, on loopback by default, never blocking a run.

The server of prometheus-client starts a thread for each connection and waits for its request
without end, so that slow clients would use up the threads and open files of the run.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterable
from ipaddress import IPv4Address
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

HOST: Final = "127.0.0.1"
CONNECTIONS_MAX: Final = 8
"""Further connections are closed at once."""
SILENT_SECONDS: Final = 5.0
"""A connection on which nothing arrives or is taken for so long is closed."""
_POLL_SECONDS: Final = 0.05
"""How long closing may take to be noticed."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64  # a connection that finds the queue full is tried again after a second

    def server_bind(self) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        TCPServer.server_bind(self)  # that of the base class looks up names, which may take seconds
        self.server_name, self.server_port = (
            str(self.server_address[0]),
            int(self.server_address[1]),
        )
        self.setup_environ()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return self._free.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no further thread can be started
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing: clients that go away are not news, and stderr belongs to the run."""


class _Handler(WSGIRequestHandler):
    timeout = SILENT_SECONDS

    def get_stderr(self) -> Any:
        return io.StringIO()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Write nothing."""


def _for_own_names(app: WSGIApplication, host: str) -> WSGIApplication:
    """Return an application that refuses other hosts: a page's own name may lead here."""

    def check(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        name = str(environ.get("HTTP_HOST", host)).rpartition(":")
        if (name[0] or name[2]).lower() not in (host, "localhost"):
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"not the name of this server\n"]
        return app(environ, start_response)

    return check


class MetricsServer:
    """An application served from a thread of its own until it is closed."""

    def __init__(self, port: int, app: WSGIApplication, *, host: str = HOST) -> None:
        """Listen on loopback or another address, whose host names are unknown and so unchecked.

        Raises:
            OSError: The port is in use or not allowed.
        """
        served = _for_own_names(app, host) if IPv4Address(host).is_loopback else app
        self._server = make_server(host, port, served, _Server, _Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(_POLL_SECONDS,),
            name="nel-metrics",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Free the port; answers under way are given up."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=2)
