"""The image of a task: built of its folder, or taken as it is; refused with the reason otherwise."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Final

from nel.environments.container import ContainerSpec
from nel.environments.tasks.folder import Network, TaskFolder, digest_of
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.types import JsonObject

if TYPE_CHECKING:
    import docker

MEMORY_MB: Final = 4096
"""Of a container whose folder does not say it."""
_LABEL: Final = "nel.environments.task"
_LOG_LINES: Final = 8
_DIGEST_CHARACTERS: Final = 12


def image_of(task: TaskFolder) -> str:
    """Return the name of a task's image, which says what it was built of."""
    if task.image is not None or task.context is None:
        return str(task.image)
    name = re.sub(r"[^a-z0-9]+", "-", task.path.name.lower()).strip("-") or "task"
    return f"nel-task-{name}:{digest_of(task.context)[:_DIGEST_CHARACTERS]}"


def spec_of(task: TaskFolder, network: Network) -> ContainerSpec:
    """Return what a task's container is made of."""
    return ContainerSpec(
        image=image_of(task),
        memory_mb=task.memory_mb or MEMORY_MB,
        cpus=task.cpus,
        network="none" if network == "none" else "bridge",
        workdir=task.workdir,
        user=task.agent_user,
        env=task.env,
    )


def make_image(client: docker.DockerClient, task: TaskFolder) -> None:
    """Build a task's image, or fetch it; what is there already is built of the engine's cache.

    Raises:
        SandboxError: It cannot be had (``build_failed``, ``no_image``), or the engine does not
            answer.
    """
    image = image_of(task)
    if task.image is not None:
        _fetch(client, image)
        return
    deadline = time.monotonic() + task.build_seconds
    problem = f"the image cannot be built: it took longer than {task.build_seconds:g} s"
    try:
        with speaking():
            lines = client.api.build(
                path=str(task.context),
                tag=image,
                labels={_LABEL: task.path.name},
                timeout=task.build_seconds,
                rm=True,
                forcerm=True,
                decode=True,
            )
            with closing(lines):
                if not _follow(lines, deadline):
                    raise SandboxError(problem, kind="build_failed")
    except SandboxError as error:
        if error.kind == "engine":  # it refuses this build
            raise SandboxError(str(error), kind="build_failed") from error
        if error.kind != "no_engine" or time.monotonic() < deadline:
            raise
        raise SandboxError(problem, kind="build_failed") from error  # a step that prints nothing


def _fetch(client: docker.DockerClient, image: str) -> None:
    import docker.errors  # noqa: PLC0415 - keeps start-up fast

    with speaking():
        try:
            client.images.get(image)
        except docker.errors.ImageNotFound:
            try:
                client.images.pull(image)
            except docker.errors.APIError as error:
                raise SandboxError(
                    f"the image {image} is not here and cannot be pulled: {error.explanation}",
                    kind="no_image",
                ) from error


def _follow(lines: Iterable[JsonObject], deadline: float) -> bool:
    """Return whether a build came to its end in time."""
    log: list[str] = []
    for line in lines:
        log += str(line.get("stream") or "").splitlines()
        if "error" in line:
            tail = "\n".join([*filter(None, log[-_LOG_LINES:]), str(line["error"]).strip()])
            raise SandboxError(f"the image cannot be built: {tail}", kind="build_failed")
        if time.monotonic() > deadline:
            return False
    return True
