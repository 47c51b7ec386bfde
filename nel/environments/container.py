"""What a session's container is made of, and what walls it in: its files can be changed, nothing
beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import docker.errors
from docker.types import Mount

from nel.core.json_values import present
from nel.environments.frames import helper_program
from nel.errors import SandboxError
from nel.sandbox.isolation.container import without_limits
from nel.sandbox.isolation.engine import speaking
from nel.sandbox.isolation.owners import labels_of
from nel.sandbox.isolation.stream import EngineStream

_MEGABYTE: Final = 1 << 20
_PROCESSES: Final = 4096
USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LIFELINE: Final = ["sh", "-c", "while read -r _; do :; done"]
"""The container's command: it ends with the standard input that the opening process holds."""
_CAPABILITIES: Final = (
    "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP", "SETGID",
    "SETUID", "SYS_CHROOT",
)  # fmt: skip
"""What installing packages and changing users in a container takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """What is None is the image's own, or without a limit."""

    image: str
    memory_mb: int | None = None
    cpus: float | None = None
    network: Literal["none", "bridge"] = "none"
    workdir: str | None = None
    user: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    runtime: str | None = None
    unlimited: tuple[str, ...] = ()
    """Limits that the engine does not have and would refuse."""


def start_container(
    client: docker.DockerClient,
    spec: ContainerSpec,
    mounts: Mapping[str, str] | None = None,
    snapshot: str | None = None,
) -> tuple[str, EngineStream]:
    """Return the id of a running container and its lifeline: it ends when that is closed.

    Args:
        client: Of the engine.
        spec: What the container is made of.
        mounts: Folders of the engine's machine, by where the container reads them.
        snapshot: Of an earlier container of it, whose entry point has done its work.

    Raises:
        SandboxError: The engine refuses, or the image is missing.
    """
    api = client.api
    with speaking():
        created = api.create_container(
            snapshot or spec.image,
            command=_LIFELINE,
            entrypoint=None if snapshot is None else [""],  # empty: none, not even the image's
            host_config=api.create_host_config(**_host_options(spec), mounts=_mounts(mounts or {})),
            environment=dict(spec.env),
            labels=labels_of("session"),
            working_dir=spec.workdir,
            stdin_open=True,
        )
        container_id = str(created["Id"])
        try:
            lifeline = EngineStream(
                api.attach_socket(container_id, params={"stdin": 1, "stream": 1})
            )
            api.start(container_id)
        except BaseException:
            api.remove_container(container_id, force=True, v=True)
            raise
    return container_id, lifeline


def search_path_of(config: Mapping[str, Any]) -> str:
    """Return the ``PATH`` in the configuration of an image; the engine's own where it has none."""
    variables = dict(line.split("=", 1) for line in config.get("Env") or ())
    return variables.get("PATH") or USUAL_PATH


def check_image(client: docker.DockerClient, image: str) -> None:
    """See that an image has the shell that a container needs, and that its architecture has a
    helper; nothing is started.

    Raises:
        SandboxError: It has not, or is missing (``no_image``), or the engine does not answer.
    """
    api = client.api
    with speaking():
        facts = api.inspect_image(image)
        helper_program(facts["Architecture"])
        search_path = search_path_of(facts["Config"])
        # Created and never started, which is enough to look at its files.
        created = api.create_container(image, command=_LIFELINE, labels=labels_of("check"))
        container_id = created["Id"]
        try:
            for folder in search_path.split(":"):
                with suppress(docker.errors.NotFound):
                    archive, _ = api.get_archive(container_id, f"{folder}/sh")
                    if list(archive):
                        return
        finally:
            api.remove_container(container_id, force=True, v=True)
    raise SandboxError(
        f"the image {image} has no sh on its PATH, which keeps a container and runs its commands",
        kind="no_image",
    )


def _mounts(folders: Mapping[str, str]) -> list[Mount]:
    return [
        Mount(target, source, type="bind", read_only=True) for target, source in folders.items()
    ]


def _host_options(spec: ContainerSpec) -> dict[str, Any]:
    memory_bytes = None if spec.memory_mb is None else spec.memory_mb * _MEGABYTE
    options: dict[str, Any] = {
        "network_mode": spec.network,
        "cap_drop": ["ALL"],
        "cap_add": list(_CAPABILITIES),
        "pids_limit": _PROCESSES,
        "ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        "log_config": {"Type": "none", "Config": {}},
        "auto_remove": True,
        "ipc_mode": "private",
        "init": True,  # as process 1 it reaps what commands leave behind
        "mem_limit": memory_bytes,
        "memswap_limit": memory_bytes,
        "nano_cpus": None if spec.cpus is None else round(spec.cpus * 1_000_000_000),
        "runtime": spec.runtime,
    }
    set_options = present(options)
    return without_limits(set_options, spec.unlimited)
