"""Reads a task folder of Harbor, ``task.toml`` of the schemas 1.0 to 1.4.

Where Harbor's own reader coerces a value (``"600"`` to 600) the folder is refused by the key's
name.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from nel.environments.tasks.folder import (
    HealthCheck,
    Keys,
    Network,
    TaskFolder,
    TaskRefused,
    TaskScript,
)

FILE: Final = "task.toml"
ARTIFACTS: Final = "/logs/artifacts"
_SCHEMAS: Final = ("1.0", "1.1", "1.2", "1.3", "1.4")
_COMPOSE: Final = "more than one container is not run"
_SIZE: Final = re.compile(r"\s*(?P<number>[\d.]+)\s*(?P<unit>[GMK])\s*", re.IGNORECASE)
_MEGABYTES: Final = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}
_CANARY: Final = re.compile(r"^(<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)


def read_harbor(folder: Path) -> TaskFolder:
    """Return the task of a folder.

    Raises:
        TaskRefused: It cannot be read, or asks for something that is not honoured.
    """
    root = _keys_of(folder / FILE)
    schema = root.text("version")
    schema = root.text("schema_version", schema)
    if schema is not None and schema not in _SCHEMAS:
        raise TaskRefused(f"schema_version = {schema!r}: read are {', '.join(_SCHEMAS)}")
    root.ignore("task", "metadata", "source", "multi_step_reward_strategy")
    root.refuse("steps", "tasks of several steps are not run")
    environment, agent, verifier = map(root.table, ("environment", "agent", "verifier"))
    solution = root.table("solution")
    network = _network_of_environment(environment)
    _refuse_files(folder)
    task = TaskFolder(
        path=folder,
        instruction=_instruction(folder / "instruction.md"),
        **_container(environment),
        context=_context(folder / "environment"),
        network=_network_of_phase(agent, network),
        verifier_network=network,
        agent_user=agent.user("user"),
        agent_seconds=agent.number("timeout_sec"),
        health=_health(environment),
        tests=_tests(folder, verifier),
        reads="reward",
        solution=_solution(folder, solution),
        outputs=_outputs(root),
    )  # fmt: skip
    if task.image is None and task.context is None:
        raise TaskRefused("it has neither environment/Dockerfile nor environment.docker_image")
    _refuse_rest(environment)
    verifier.refuse("collect", "nothing is collected before the verifier runs")
    task = _with_verifier(task, verifier, network)
    tables = (root, environment, agent, verifier, solution)
    return replace(task, unread=tuple(key for table in tables for key in table.unread()))


def _keys_of(path: Path) -> Keys:
    try:
        return Keys(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise TaskRefused(f"{path.name} cannot be read: {error}") from error


def _refuse_files(folder: Path) -> None:
    for name, why in (
        ("environment/docker-compose.yaml", _COMPOSE),
        ("environment/docker-compose.yml", _COMPOSE),
        ("trajectory.json", "an earlier conversation is not continued"),
    ):
        if (folder / name).exists():
            raise TaskRefused(f"{name}: {why}")


def _container(environment: Keys) -> dict[str, Any]:
    return {
        "image": environment.text("docker_image") or None,
        "build_seconds": environment.number("build_timeout_sec", 600.0) or 0,
        "env": environment.variables("env"),
        "workdir": environment.text("workdir"),
        "memory_mb": _megabytes(environment, "memory_mb", "memory"),
        "cpus": environment.number("cpus"),
    }


def _context(folder: Path) -> Path | None:
    return folder if (folder / "Dockerfile").is_file() else None


def _outputs(root: Keys) -> tuple[str, ...]:
    """Return the paths of ``artifacts``, and the folder that is one by convention."""
    paths = []
    for entry in root.entries("artifacts"):
        paths.append(entry.text("source") or "")
        entry.ignore("destination")  # on the machine of Harbor
        entry.refuse("exclude", "an output is copied whole")
        entry.refuse("service", "more than one container is not run", fine=("main",))
        if not paths[-1].startswith("/") or ".." in PurePosixPath(paths[-1]).parts:
            raise TaskRefused(f"artifacts: {paths[-1]!r} is not an absolute path without ..")
    return tuple(dict.fromkeys([*paths, ARTIFACTS]))


def _with_verifier(task: TaskFolder, verifier: Keys, network: Network) -> TaskFolder:
    """Return the task with the container of its tests, where they have one of their own.

    As in Harbor its image is the one that the table names, else that of ``tests/Dockerfile``, both
    of which hold the tests, else the agent's.
    """
    mode, table = verifier.text("environment_mode"), verifier.table("environment")
    is_own = bool(list(table))
    network = _network_of_environment(table) if is_own else network
    task = replace(task, verifier_network=_network_of_phase(verifier, network))
    if mode not in (None, "shared", "separate"):
        raise TaskRefused(f"verifier.environment_mode = {mode!r}: shared or separate")
    if mode == "shared" and is_own:
        raise TaskRefused("verifier.environment and environment_mode = 'shared' exclude each other")
    if mode != "separate" and not is_own:
        return task
    container = replace(task, outputs=())
    if is_own:
        container = replace(container, **_container(table), agent_user=None)
        _refuse_rest(table)
        table.refuse("healthcheck", "a verifier starts without one")
        if table.unread():
            raise TaskRefused(f"{', '.join(table.unread())} is not honoured")
    context = _context(task.path / "tests")
    has_tests = bool(is_own and container.image) or context is not None
    if not (is_own and container.image):
        container = replace(
            container, image=None if context else task.image, context=context or task.context
        )
    return replace(
        task,
        verifier=replace(container, agent_user=None),
        tests=replace(task.tests, is_in_image=has_tests),
    )


def _refuse_rest(environment: Keys) -> None:
    """Refuse, by name, what is not honoured and changes a task."""
    environment.refuse("os", "only Linux is run", fine=("linux", "Linux", "LINUX"))
    environment.refuse("gpus", "no GPU is given to a container", fine=(0,))
    environment.refuse("tpu", "no TPU is given to a container")
    environment.refuse("mcp_servers", "MCP servers are not offered to the agent")
    environment.refuse("skills_dir", "skills are not offered to the agent")
    environment.ignore("gpu_types", "storage_mb", "storage")


def _network_of_environment(environment: Keys) -> Network:
    """Return the network of a task: public, as Harbor has it, where the folder says nothing."""
    is_open, mode = environment.flag("allow_internet"), environment.text("network_mode")
    if mode is None and is_open is not None:
        mode = "public" if is_open else "no-network"
    environment.refuse("allowed_hosts", "single hosts are not let through")
    return _network(mode, "environment.network_mode", "public")


def _network_of_phase(phase: Keys, network: Network) -> Network:
    phase.refuse("allowed_hosts", "single hosts are not let through")
    return _network(phase.text("network_mode"), "network_mode", network)


def _network(mode: str | None, key: str, default: Network) -> Network:
    modes: dict[str, Network] = {"public": "public", "no-network": "none"}
    if mode is not None and mode not in modes:
        raise TaskRefused(f"{key} = {mode!r}: honoured are {' and '.join(modes)}")
    return default if mode is None else modes[mode]


def _megabytes(environment: Keys, key: str, old_key: str) -> int | None:
    """Return a size from its key or the older one, a text such as ``4G``."""
    number, text = environment.whole(key), environment.text(old_key)
    if text is not None:
        match = _SIZE.fullmatch(text)
        if match is None:
            raise TaskRefused(f"environment.{old_key} = {text!r} is not a size such as 4G")
        old = int(float(match["number"]) * _MEGABYTES[match["unit"].upper()])
        if number not in (None, old):
            raise TaskRefused(f"environment.{old_key} = {text!r} and {key} = {number} differ")
        return old
    return number


def _health(environment: Keys) -> HealthCheck | None:
    table = environment.table("healthcheck")
    if not list(table):
        return None
    check = HealthCheck(
        command=table.text("command") or "",
        interval_seconds=table.number("interval_sec", 5.0, is_zero_fine=True) or 0,
        timeout_seconds=table.number("timeout_sec", 30.0) or 0,
        start_seconds=table.number("start_period_sec", 0.0, is_zero_fine=True) or 0,
        start_interval_seconds=table.number("start_interval_sec", 5.0, is_zero_fine=True) or 0,
        retries=table.whole("retries", 3) or 1,
    )
    if table.unread() or not check.command:
        raise TaskRefused(f"environment.healthcheck: {', '.join(table.unread()) or 'no command'}")
    return check


def _tests(folder: Path, verifier: Keys) -> TaskScript:
    script = TaskScript(
        folder=folder / "tests",
        file=folder / "tests" / "test.sh",
        target="/tests",
        env=verifier.variables("env"),
        user=verifier.user("user"),
        seconds=verifier.number("timeout_sec", 600.0),
    )
    if not script.file.is_file():
        raise TaskRefused("tests/test.sh is not there")
    return script


def _solution(folder: Path, solution: Keys) -> TaskScript | None:
    script = TaskScript(
        folder=folder / "solution",
        file=folder / "solution" / "solve.sh",
        target="/solution",
        env=solution.variables("env"),
    )
    return script if script.file.is_file() else None


def _instruction(path: Path) -> str:
    """Return the text of the prompt, without the lines that mark a file for training filters."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise TaskRefused(f"{path.name} cannot be read: {error}") from error
    start = 0
    while start < len(lines) and _CANARY.match(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])
