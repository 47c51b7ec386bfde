"""The Docker engine: reached, asked what it can do, and its errors put into words.

The SDK raises `docker.errors.DockerException`, `OSError` (which those of `requests` are) and, while
an answer is streamed, exceptions of `urllib3` for one and the same fault.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from nel.errors import SandboxError

if TYPE_CHECKING:
    import docker

_ANSWER_SECONDS: Final = 60
_FIRST_ANSWER_SECONDS: Final = 30
"""An engine that starts a hundred containers meanwhile is slow and yet there."""
_NOT_FOUND: Final = 404
_PORT: Final = 2375
_TLS_PORT: Final = 2376
_CONNECT_SECONDS: Final = 5

OUTAGES: Final = ("no_engine", "no_image", "disk_full", "engine")
"""Kinds of fault that are the engine's and meet every program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What an engine says of itself."""

    version: str
    cgroup: str
    runtimes: tuple[str, ...]
    cpus: int
    memory_bytes: int
    operating_system: str
    lacks: tuple[str, ...]
    """Limits that it cannot enforce."""

    images: Mapping[str, str] = field(default_factory=dict)
    """The images that programs run in: language to tag and digest."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    def check_limits(self, *, allow_unlimited: bool) -> None:
        """See that the engine can hold programs in bounds.

        Raises:
            SandboxError: It cannot (``no_limits``), and that is not allowed.
        """
        if self.lacks and not allow_unlimited:
            raise SandboxError(
                f"the Docker engine {self.version} cannot limit {', '.join(self.lacks)} (cgroup"
                f" {self.cgroup}), so a program could take down its machine; use another engine, or"
                " accept it with sandbox.allow_unlimited (--allow-unlimited-sandbox)",
                kind="no_limits",
            )


def connect(host: str | None = None) -> docker.DockerClient:
    """Return a client of the engine.

    Args:
        host: As in ``DOCKER_HOST``, which holds when this is None.

    Raises:
        SandboxError: Nothing answers there (``no_engine``).
    """
    import docker  # noqa: PLC0415 - keeps start-up fast

    with speaking(host):
        _knock(host or _host_in_use())
        environment = {**os.environ, "DOCKER_HOST": host or _host_in_use()}
        # The system's own ssh, with its settings and keys, where the engine is reached in that way.
        client = docker.from_env(
            timeout=_FIRST_ANSWER_SECONDS, use_ssh_client=True, environment=environment
        )
        client.ping()
        client.api.timeout = _ANSWER_SECONDS
        return client


@contextmanager
def speaking(host: str | None = None) -> Iterator[None]:
    """Turn whatever the SDK raises into a `SandboxError` that says the next step."""
    import docker.errors  # noqa: PLC0415
    import urllib3.exceptions  # noqa: PLC0415

    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise SandboxError(
            f"the image is not there: {error.explanation}", kind="no_image"
        ) from error
    except docker.errors.APIError as error:
        if "no space left on device" in str(error.explanation or error).lower():
            raise SandboxError(
                f"the engine's disk is full: {error.explanation}", kind="disk_full"
            ) from error
        if error.status_code == _NOT_FOUND and "No such image" in str(error.explanation):
            raise SandboxError(
                f"the image is not there: {error.explanation}", kind="no_image"
            ) from error
        raise SandboxError(
            f"the Docker engine refuses: {error.explanation or error}", kind="engine"
        ) from error
    except (docker.errors.DockerException, urllib3.exceptions.HTTPError, OSError) as error:
        address = host or _host_in_use()
        raise SandboxError(
            f"no Docker engine answers at {address} ({_root(error)}); start it, or name another one"
            " with DOCKER_HOST, and see that you may use its socket (group docker)",
            kind="no_engine",
        ) from error


def info_of(client: docker.DockerClient) -> EngineInfo:
    """Return what the engine says of itself.

    Raises:
        SandboxError: It does not answer.
    """
    with speaking():
        info: Mapping[str, Any] = client.info()
    lacks = [
        name
        for name, key in (
            ("memory", "MemoryLimit"),
            ("processes", "PidsLimit"),
            ("CPU", "CpuCfsQuota"),
        )
        if info.get(key) is False
    ]
    return EngineInfo(
        version=str(info.get("ServerVersion", "?")),
        cgroup=f"v{info.get('CgroupVersion', '1')} ({info.get('CgroupDriver', '?')})",
        runtimes=tuple(sorted(info.get("Runtimes") or ())),
        cpus=int(info.get("NCPU") or 1),
        memory_bytes=int(info.get("MemTotal") or 0),
        operating_system=(
            f"{info.get('OperatingSystem', '?')}, kernel {info.get('KernelVersion', '?')}"
        ),
        lacks=tuple(lacks),
    )


def is_outage(error: SandboxError) -> bool:
    """Return whether the fault is the engine's and will meet every other program, too."""
    return error.kind in OUTAGES


def _knock(host: str) -> None:
    """See that somebody listens; the SDK's own attempt takes longer and leaves a socket open."""
    address = urlsplit(host)
    if address.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as knocking:
            knocking.settimeout(_CONNECT_SECONDS)
            knocking.connect(address.path)
    elif address.scheme in ("tcp", "http", "https") and address.hostname:
        port = address.port or (_TLS_PORT if os.environ.get("DOCKER_TLS_VERIFY") else _PORT)
        socket.create_connection((address.hostname, port), _CONNECT_SECONDS).close()


def _host_in_use() -> str:
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def _root(error: BaseException) -> str:
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return f"{type(error).__name__}: {error}"[:200]
