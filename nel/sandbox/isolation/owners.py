"""Whose container is whose: labels, and the removal of what a killed run left.

An owner is a process: machine, boot, process name space, process id and start time, so that a
number that is used again names another one. Containers of living owners and of other machines are
never touched: they end with their input.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking

if TYPE_CHECKING:
    import docker

LABEL: Final = "nel.sandbox"
OWNER_LABEL: Final = "nel.sandbox.owner"
LANGUAGE_LABEL: Final = "nel.sandbox.language"
_START_TIME_FIELD: Final = 19
"""Of ``/proc/<pid>/stat``, counted from after the name; see proc(5), field 22."""


def labels_of(language: str) -> dict[str, str]:
    """Return the labels of a container that this process starts."""
    return {
        LABEL: "1",
        OWNER_LABEL: owner_of(os.getpid()),
        LANGUAGE_LABEL: language,
    }


def owner_of(pid: int) -> str:
    """Return the name of a living process as an owner; raises OSError where there is none."""
    return f"{_home()}:{pid}:{_start_time(pid)}"


def is_left_over(labels: Mapping[str, str]) -> bool:
    """Return whether the owner of a container is gone for sure."""
    owner = labels.get(OWNER_LABEL, "")
    home, _, process = owner.partition(":")
    try:
        return home == _home() and owner_of(int(process.partition(":")[0])) != owner
    except (OSError, ValueError):
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A container that nel started, now or before."""

    id: str
    language: str
    state: str
    pid: str
    """The process that started it, on its machine."""
    is_left_over: bool


def containers(client: docker.DockerClient) -> list[Known]:
    """Return the sandbox's containers of all runs, living and dead.

    Raises:
        SandboxError: The engine does not answer.
    """
    with speaking():
        listed = client.containers.list(
            all=True, filters={"label": f"{LABEL}=1"}, ignore_removed=True
        )
    return [
        Known(
            id=str(container.id),
            language=container.labels.get(LANGUAGE_LABEL, "?"),
            state=str(container.status),
            pid=container.labels.get(OWNER_LABEL, "::").split(":")[1],
            is_left_over=is_left_over(container.labels),
        )
        for container in listed
    ]


def reap(client: docker.DockerClient) -> list[str]:
    """Remove the containers whose owners are gone, and the snapshots of containers, which have
    their labels; return the ids of the containers.

    Raises:
        SandboxError: The engine does not answer.
    """
    removed = []
    for container in containers(client):
        if container.is_left_over:
            with suppress(SandboxError), speaking():  # it may go by itself meanwhile
                client.api.remove_container(container.id, force=True, v=True)
                removed.append(container.id)
    with speaking():
        # `images.list` asks for each image again, and fails where one goes meanwhile.
        snapshots = client.api.images(filters={"label": f"{LABEL}=1"})
    for image in snapshots:
        if is_left_over(image["Labels"] or {}):
            with suppress(SandboxError), speaking():  # a container may still use it
                client.images.remove(image["Id"])
    return removed


@cache
def _home() -> str:
    parts = [_text("/etc/machine-id"), _text("/proc/sys/kernel/random/boot_id")]
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]


def _text(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").strip()
    return os.uname().nodename


def _start_time(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return stat.rpartition(")")[2].split()[_START_TIME_FIELD]
