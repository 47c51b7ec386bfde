"""Whose container is whose: labels, and the removal of what a killed run left.

An owner is a process: machine, boot, process name space, process id and start time, so that a
number that is used again names another one. Containers of living owners and of other machines are
never touched: they end with their input.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking

if TYPE_CHECKING:
    import docker

LABEL: Final = "nel.sandbox"
OWNER_LABEL: Final = "nel.sandbox.owner"
LANGUAGE_LABEL: Final = "nel.sandbox.language"
RUN_LABEL: Final = "nel.sandbox.run"
"""Of a snapshot from which a resume goes on: the machine and the log of its run."""
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


def run_label(log: str) -> str:
    """Return the label of a snapshot that is needed as long as a run has its log there."""
    return f"{_machine()}:{log}"


def _is_needed(labels: Mapping[str, str], is_resumable: Callable[[Path], bool]) -> bool:
    """Return whether a living process or a resume may still open a snapshot."""
    machine, _, log = labels.get(RUN_LABEL, "").partition(":")
    if not log:
        return not is_left_over(labels)
    return machine != _machine() or is_resumable(Path(log))


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
        entries = client.containers.list(
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
        for container in entries
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaped:
    """What was removed, by id, and what was not."""

    containers: Sequence[str]
    snapshots: Sequence[str]
    needed_by: Mapping[str, int]
    """The logs of runs that can be resumed, with their numbers of snapshots."""


def reap(
    client: docker.DockerClient, is_resumable: Callable[[Path], bool] = Path.is_file
) -> Reaped:
    """Remove the containers whose owners are gone, and the snapshots of containers, which have
    their labels, unless a resume needs them.

    Args:
        client: Of the engine.
        is_resumable: Says of the log of a run of this machine whether a resume may go on from it.

    Raises:
        SandboxError: The engine does not answer.
    """
    removed, removed_snapshots = [], []
    needed_by: Counter[str] = Counter()
    for container in containers(client):
        if container.is_left_over:
            with suppress(SandboxError), speaking():  # it may go by itself meanwhile
                client.api.remove_container(container.id, force=True, v=True)
                removed.append(container.id)
    for image in snapshots_with(client, [f"{LABEL}=1"]):
        labels = image["Labels"] or {}
        if not _is_needed(labels, is_resumable):
            with suppress(SandboxError), speaking():  # a container may still use it
                client.images.remove(image["Id"], noprune=True)
                removed_snapshots.append(image["Id"])
        elif RUN_LABEL in labels:
            needed_by[labels[RUN_LABEL].partition(":")[2]] += 1
    return Reaped(containers=removed, snapshots=removed_snapshots, needed_by=needed_by)


def snapshots_with(client: docker.DockerClient, labels: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the snapshots with labels, each before the one that it was made from: an engine
    removes them in this order alone.

    Raises:
        SandboxError: The engine does not answer.
    """
    with speaking():
        # `images.list` asks for each image again, and fails where one goes meanwhile.
        images = client.api.images(all=True, filters={"label": list(labels)})
    snapshots: list[Mapping[str, Any]] = []
    while images:
        parents = {image["ParentId"] for image in images}
        snapshots += [image for image in images if image["Id"] not in parents]
        images = [image for image in images if image["Id"] in parents]
    return snapshots


@cache
def _home() -> str:
    return _digest([*_machine_parts(), _text("/proc/sys/kernel/random/boot_id")])


@cache
def _machine() -> str:
    """Return the name of a machine whose files are the same after it was started again."""
    return _digest(_machine_parts())


def _machine_parts() -> list[str]:
    parts = [_text("/etc/machine-id")]
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return parts


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]


def _text(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").strip()
    return os.uname().nodename


def _start_time(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return stat.rpartition(")")[2].split()[_START_TIME_FIELD]
