"""Snapshots of a container after the steps of its episode, from which a resume goes on.

A snapshot is an image: the files of the container, without processes, without what is mounted into
it, such as ``/dev/shm``. So none is made of a container that has more than its files.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import docker.errors

from nel.environments.changes import layers_of
from nel.environments.looking import FileFacts, look
from nel.environments.session import ContainerSession, faults
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import connect, speaking
from nel.sandbox.isolation.owners import RUN_LABEL, run_label, snapshots_with
from nel.tools import SNAPSHOT, StepAddress, ToolsetFault

if TYPE_CHECKING:
    from docker import DockerClient

_EPISODE_LABEL: Final = "nel.sandbox.episode"
_STEP_LABEL: Final = "nel.sandbox.step"
_PROCESSES: Final = 3
"""The engine's init, the command that ends with its input, and the helper."""
_LOOKS: Final = (0.0, 0.05, 0.2)
"""Seconds before each look at the processes: a command's own end may be some milliseconds late."""
_MOUNTED: Final = (
    "/dev",
    "/dev/shm",  # noqa: S108 - of the container
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
)
"""What the engine mounts, of which an image of the container holds nothing."""
_NAMED_MAX: Final = 3
_NAME_CHARACTERS: Final = 80
_KEPT: Final = 2
"""The last one, and the one before, until the result of the last step is stored."""


class Snapshots:
    """Makes the snapshots of one container."""

    def __init__(self, client: DockerClient, session: ContainerSession) -> None:
        """Note what of a container that was just started is not in an image of it."""
        self._api = client.api
        self._session = session
        self._mounted = self._mounted_now()
        self._images: list[str] = []
        self._is_last_valid = False

    def take(self, step: StepAddress) -> str:
        """Return the snapshot of the state after a step: the last one where nothing has changed.

        Raises:
            ToolsetFault: There is something that a snapshot does not hold, or the engine refuses.
        """
        if self._is_last_valid and not self._session.is_changed:
            return self._images[-1]
        # Until the next one is made, a resume has no snapshot of this state.
        self._is_last_valid = False
        if what := self._not_saved():
            raise ToolsetFault(SNAPSHOT, what)
        labels = {**_labels_of(step), _STEP_LABEL: f"{step.attempt}/{step.number}"}
        image = self._session.snapshot(labels)
        self._images.append(image)
        self._session.is_changed, self._is_last_valid = False, True
        # One that the engine keeps, as a container may be of it, goes with the episode's others.
        for earlier_image in self._images[:-_KEPT]:
            with suppress(SandboxError), speaking():
                self._api.remove_image(earlier_image, noprune=True)
            self._images.remove(earlier_image)
        return image

    def _not_saved(self) -> str | None:
        """Return what the container has beside its files; None where it has nothing."""
        session = self._session
        mounts = session.of_engine(lambda: self._api.inspect_container(session.id)["Mounts"])
        if volumes := [mount["Destination"] for mount in mounts if mount["RW"]]:
            return f"it holds no volumes, and the image has some: {', '.join(volumes)}"
        if names := self._processes_left():
            return f"it holds no processes, and {len(names)} go on: {', '.join(names[:_NAMED_MAX])}"
        # Asked of the helper after the count, in which one that had been killed would be missing.
        if self._mounted_now() != self._mounted:
            return (
                "it holds no shared memory, nothing in /dev and no file that the engine mounts,"
                " such as /etc/hosts"
            )
        return None

    def _processes_left(self) -> list[str]:
        """Return the command lines of what commands left running."""
        session = self._session
        commands: list[str] = []
        for seconds in _LOOKS:
            time.sleep(seconds)
            processes = session.of_engine(lambda: self._api.top(session.id))["Processes"]
            commands = [str(fields[-1])[:_NAME_CHARACTERS] for fields in processes]
            if len(commands) <= _PROCESSES:
                return []
        return commands[_PROCESSES:]

    def _mounted_now(self) -> list[FileFacts]:
        """Return what the helper sees of what is mounted; raises ToolsetFault."""
        try:
            return list(look(self._session, _MOUNTED, with_content=True))
        except ValueError as error:
            raise ToolsetFault(SNAPSHOT, f"what is mounted cannot be looked at: {error}") from error


def check_snapshot(client: DockerClient, image: str, snapshot: str, step: StepAddress) -> None:
    """See that a snapshot is that of a step, in a container of an image.

    Raises:
        ToolsetFault: It is gone, or another one.
    """
    with faults(), speaking():
        try:
            facts = client.api.inspect_image(snapshot)
        except docker.errors.ImageNotFound as error:
            raise ToolsetFault(SNAPSHOT, f"the snapshot {snapshot} was removed") from error
        layers = layers_of(client.api, image)
    labels = facts["Config"].get("Labels") or {}
    names = (labels.get(_EPISODE_LABEL), labels.get(_STEP_LABEL))
    if names != (step.episode, f"{step.attempt}/{step.number}"):
        raise ToolsetFault(SNAPSHOT, f"the snapshot {snapshot} is of another step: {names}")
    if facts["RootFS"]["Layers"][: len(layers)] != layers:
        raise ToolsetFault(SNAPSHOT, f"{image} is another image than the one of the snapshot")


def forget_snapshots(docker_host: str | None, step: StepAddress) -> None:
    """Remove the snapshots of a step's episode, and the containers that were started from them.

    What the engine does not remove stays until the run is over and `nel sandbox prune` is called.
    """
    with suppress(SandboxError):
        client = connect(docker_host)
        try:
            labels = [f"{name}={value}" for name, value in _labels_of(step).items()]
            for image in snapshots_with(client, labels):
                _remove(client, str(image["Id"]))
        finally:
            client.close()


def _remove(client: DockerClient, image: str) -> None:
    with suppress(SandboxError), speaking():
        for container in client.api.containers(all=True, filters={"ancestor": image}):
            with suppress(SandboxError), speaking():
                client.api.remove_container(container["Id"], force=True, v=True)
        client.api.remove_image(image, noprune=True)


def _labels_of(step: StepAddress) -> dict[str, str]:
    return {RUN_LABEL: run_label(step.log), _EPISODE_LABEL: step.episode}
