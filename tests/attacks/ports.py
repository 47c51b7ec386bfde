"""Clients and names that would stop the port of the metrics, or a run through it."""

from __future__ import annotations

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from nel.core.observer import SessionInfo
from nel.engine.observability.metrics import Metrics, serve_metrics
from nel.engine.observability.metrics_server import CONNECTIONS_MAX
from nel.engine.progress import Progress
from nel.errors import ConfigError
from nel.types import SampleKey, Scored, Unscored

_PATIENCE: Final = 60
_LABELS: Final = ['a"b', "a\nb", "a\\", "a\0b", 'a"} 1\nnel_evil{x="', "\u202e", "\U0001f642", "\ud800", "x" * 10_000]


def _free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def _served(run: str = "r") -> Iterator[tuple[int, Metrics]]:
    for _ in range(20):
        port = _free_port()
        try:
            metrics = serve_metrics(port, run, Progress())
        except ConfigError:
            continue  # taken meanwhile
        break
    try:
        yield port, metrics
    finally:
        metrics.close()


def _get(port: int, host: str | None = None) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def label(text: str, _: Path) -> None:
    """A run, a benchmark and a cause of any text are one label each, and add no line."""
    info = SessionInfo(
        run_id=text, session=1, benchmarks={0: text}, identities={}, config_digest="", planned=1, concurrency=1
    )
    with _served(text) as (port, metrics):
        metrics.session_started(info)
        metrics.sample_finished(SampleKey(0, 0, 0), Scored(reward=1.0, metrics={}))
        metrics.sample_finished(SampleKey(0, 1, 0), Unscored(cause="infra", kind=text))
        metrics.attempt_retried(text, 0.1, 0.1)
        status, page = _get(port)
    assert status == 200
    assert all(line.startswith(("#", "nel_")) and not line.startswith("nel_evil") for line in page.splitlines())


def host(name: str, _: Path) -> None:
    """A page elsewhere whose name leads here reads nothing."""
    with _served() as (port, _metrics):
        assert _get(port, name)[0] == 403
        assert _get(port, f"localhost:{port}")[0] == 200


def silent_clients(sent: bytes, _: Path) -> None:
    """However many connections stay open, few threads serve them, and the port is free after the end."""
    with ExitStack() as stack:
        with _served() as (port, _metrics):
            before = threading.active_count()
            for _ in range(64):
                client = stack.enter_context(closing(socket.create_connection(("127.0.0.1", port), _PATIENCE)))
                try:
                    client.sendall(sent)
                except OSError:
                    continue  # closed at once, as it should be
            assert threading.active_count() - before <= CONNECTIONS_MAX
        with closing(socket.socket()) as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))


def loopback_only(_: Path) -> None:
    """The port is bound to loopback alone."""
    with _served() as (port, _metrics):
        listening = Path("/proc/net/tcp").read_text()
        assert f"0100007F:{port:04X}" in listening
        assert f"00000000:{port:04X}" not in listening


def taken(_: Path) -> None:
    """A port that is in use is one line with the option that changes it."""
    with _served() as (port, _metrics), pytest.raises(ConfigError, match=r"\A.*--metrics-port\Z"):
        serve_metrics(port, "r", Progress())


PORTS: Final[dict[str, Callable[[Path], None]]] = {
    **{f"label {text[:12]!r}": partial(label, text) for text in _LABELS},
    **{f"host {name}": partial(host, name) for name in ("evil.example", "evil.example:80", "127.0.0.1.evil.example")},
    "64 clients that say nothing": partial(silent_clients, b""),
    "64 clients that stop in a header": partial(silent_clients, b"GET /metrics HTTP/1.1\r\nX: "),
    "64 clients that read nothing": partial(silent_clients, b"GET /metrics HTTP/1.1\r\n\r\n"),
    "bound to loopback": loopback_only,
    "a port in use": taken,
}
