"""Reads a task folder of Harbor, ``task.toml`` of the schemas 1.0 to 1.4.

Where Harbor's own reader coerces a value (``"600"`` to 600) the folder is refused by the key's
name.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
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
_STRATEGIES: Final = ("mean", "final")
_ONE_CONTAINER: Final = "more than one container is not run"
_CONVERSATION: Final = "trajectory.json"
_NOT_CONTINUED: Final = "an earlier conversation is not continued"
_SIZE: Final = re.compile(r"\s*(?P<number>\d+(\.\d+)?)\s*(?P<unit>[GMK])\s*", re.IGNORECASE)
_MEGABYTES: Final = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}
_CANARY: Final = re.compile(r"^(<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)


def read_harbor(folder: Path) -> TaskFolder:
    """Return the task of a folder.

    Raises:
        TaskRefused: It cannot be read, or asks for something that is not honoured.
    """
    root = _keys_of(folder / FILE)
    _check_schema(root)
    root.ignore("task", "metadata", "source")
    steps = root.entries("steps")
    environment, agent, verifier = map(root.table, ("environment", "agent", "verifier"))
    solution = root.table("solution")
    env = solution.variables("env")
    network, mode = _network_of_environment(environment), verifier.text("network_mode")
    _refuse_files(folder)
    task = TaskFolder(
        path=folder,
        instruction="" if steps else _instruction(folder / "instruction.md"),
        **_container(environment),
        context=_context(folder / "environment"),
        network=_network_of_phase(agent, network),
        verifier_network=_network(mode, "verifier.network_mode", network),
        agent_user=agent.user("user"),
        agent_seconds=agent.number("timeout_sec"),
        health=_health(environment),
        tests=_tests(folder, verifier),
        reads="reward",
        solution=_solution(folder, env),
        outputs=_outputs(root),
        is_mean=_is_mean(root),
    )  # fmt: skip
    if task.image is None and task.context is None:
        raise TaskRefused("it has neither environment/Dockerfile nor environment.docker_image")
    _refuse_rest(environment)
    task = _with_verifier(task, verifier, folder / "tests", mode)
    tables = [root, environment, agent, verifier, solution]
    task = replace(task, steps=tuple(_step(task, step, mode, env, tables) for step in steps))
    _refuse_steps(task)
    return replace(task, unread=tuple(key for table in tables for key in table.unread()))


def _check_schema(root: Keys) -> None:
    schema = root.text("version")
    schema = root.text("schema_version", schema)
    if schema is not None and schema not in _SCHEMAS:
        raise TaskRefused(f"schema_version = {schema!r}: read are {', '.join(_SCHEMAS)}")


def _is_mean(root: Keys) -> bool:
    strategy = root.text("multi_step_reward_strategy", "mean")
    if strategy not in _STRATEGIES:
        raise TaskRefused(f"multi_step_reward_strategy = {strategy!r}: {' or '.join(_STRATEGIES)}")
    return strategy == "mean"


def _refuse_steps(task: TaskFolder) -> None:
    """Refuse two steps of one name, and a task or a step without tests."""
    names = [unicodedata.normalize("NFC", step.name).casefold() for step in task.steps]
    if len(set(names)) < len(names):
        raise TaskRefused(f"steps.name: two of {', '.join(names)} are equal")
    for step in task.steps or [task]:
        if not step.tests.is_in_image and not step.tests.file.is_file():
            raise TaskRefused(f"{step.tests.file.relative_to(task.path)} is not there")


def _step(
    task: TaskFolder,
    keys: Keys,
    network_mode: str | None,
    solution_env: Mapping[str, str],
    tables: list[Keys],
) -> TaskFolder:
    """Return one step as a task; what it leaves out is that of the whole, as in Harbor.

    Args:
        task: The whole.
        keys: The step's own.
        network_mode: Of the whole's verifier, where it names one.
        solution_env: Variables of every solution.
        tables: Get what holds the step's keys.
    """
    name = keys.text("name") or ""
    folder = _folder_of_step(task, name)
    agent, verifier = keys.table("agent"), keys.table("verifier")
    tables += [keys, agent, verifier]
    if agent.user("user") not in (None, task.agent_user):
        raise TaskRefused("steps.agent.user: all steps are run as one user")
    if _network_of_phase(agent, task.network) != task.network:
        raise TaskRefused("steps.agent.network_mode: all steps have one network")
    tests = _tests(folder, verifier)
    script = tests.file if tests.file.is_file() else task.tests.file
    step = replace(
        task,
        name=name,
        instruction=_instruction(folder / "instruction.md"),
        agent_seconds=agent.number("timeout_sec", task.agent_seconds),
        health=_health(keys),
        workdir_files=next(filter(Path.is_dir, [folder / "workdir"]), None),
        min_rewards=keys.rewards("min_reward"),
        outputs=tuple(dict.fromkeys([*task.outputs, *_outputs(keys)])),
        tests=replace(
            tests,
            folders=(*task.tests.folders, *tests.folders),
            file=script,
            env={**task.tests.env, **tests.env},
            user=tests.user or task.tests.user,
            is_in_image=task.tests.is_in_image,
        ),
    )
    if (folder / "solution").is_dir():
        step = replace(step, solution=_solution(folder, solution_env))
    return _with_verifier(step, verifier, folder / "tests", network_mode)


def _folder_of_step(task: TaskFolder, name: str) -> Path:
    folder = task.path / "steps" / name
    if name in ("", ".", "..") or "/" in name or not folder.is_dir():
        raise TaskRefused(f"steps.name = {name!r} is not a folder in steps/")
    if (folder / _CONVERSATION).exists():
        raise TaskRefused(f"{_CONVERSATION}: {_NOT_CONTINUED}")
    return folder


def _keys_of(path: Path) -> Keys:
    try:
        return Keys(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise TaskRefused(f"{path.name} cannot be read: {error}") from error


def _refuse_files(folder: Path) -> None:
    for name, why in (
        ("environment/docker-compose.yaml", _ONE_CONTAINER),
        ("environment/docker-compose.yml", _ONE_CONTAINER),
        (_CONVERSATION, _NOT_CONTINUED),
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
        entry.refuse("service", _ONE_CONTAINER, fine=("main",))
        if not paths[-1].startswith("/") or ".." in PurePosixPath(paths[-1]).parts:
            raise TaskRefused(f"artifacts: {paths[-1]!r} is not an absolute path without ..")
    return tuple(dict.fromkeys([*paths, ARTIFACTS]))


def _with_verifier(
    task: TaskFolder, verifier: Keys, tests: Path, network_mode: str | None
) -> TaskFolder:
    """Return the task with the container of its tests, where they have one of their own.

    As in Harbor its image is the one that the table names, else that of the Dockerfile beside the
    tests, both of which hold the tests, else that of the whole task's verifier, else the agent's.

    Args:
        task: Of a step, it has already what the whole task says.
        verifier: The table.
        tests: The folder of the tests.
        network_mode: Of the whole task's verifier, where it names one.
    """
    verifier.refuse("collect", "nothing is collected before the verifier runs")
    is_own = "environment" in list(verifier)
    # A container of its own: by the mode, by a table of its own, or since the whole task has one.
    mode, table = verifier.text("environment_mode"), verifier.table("environment")
    network = task.verifier_network
    if is_own:
        network = _network(network_mode, "network_mode", _network_of_environment(table))
    task = replace(task, verifier_network=_network_of_phase(verifier, network))
    if mode not in (None, "shared", "separate"):
        raise TaskRefused(f"verifier.environment_mode = {mode!r}: shared or separate")
    if mode == "shared" and is_own:
        raise TaskRefused("verifier.environment and environment_mode = 'shared' exclude each other")
    if mode == "shared" or not (mode or is_own or task.verifier):
        return replace(task, verifier=None, tests=replace(task.tests, is_in_image=False))
    # The fallback's container, without what only an agent's has; then the verifier's own keys.
    fallback = task.verifier or task
    container = replace(fallback, outputs=(), steps=(), agent_user=None)
    if is_own:
        container = replace(container, **_container(table))
        _refuse_rest_of_verifier(table)
    image, context = container.image if is_own else None, _context(tests)
    has_tests = image is not None or context is not None
    if not has_tests and task.verifier is None:
        context = _context(task.path / "tests")
        has_tests = context is not None
    if not has_tests:
        image, context = fallback.image, fallback.context
    return replace(
        task,
        verifier=replace(container, image=image, context=context),
        tests=replace(task.tests, is_in_image=has_tests or task.tests.is_in_image),
    )


def _refuse_rest_of_verifier(environment: Keys) -> None:
    _refuse_rest(environment)
    environment.refuse("healthcheck", "a verifier starts without one")
    if environment.unread():
        raise TaskRefused(f"{', '.join(environment.unread())} is not honoured")


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
        size_mb = int(float(match["number"]) * _MEGABYTES[match["unit"].upper()])
        if number not in (None, size_mb):
            raise TaskRefused(f"environment.{old_key} = {text!r} and {key} = {number} differ")
        return size_mb
    return number


def _health(environment: Keys) -> HealthCheck | None:
    table = environment.table("healthcheck")
    if not list(table):
        return None
    check = HealthCheck(  # with a default, a number is never None
        command=table.text("command") or "",
        interval_seconds=table.number("interval_sec", 5.0, least=0.0) or 0,
        timeout_seconds=table.number("timeout_sec", 30.0) or 0,
        start_seconds=table.number("start_period_sec", 0.0, least=0.0) or 0,
        start_interval_seconds=table.number("start_interval_sec", 5.0, least=0.0) or 0,
        retries=table.whole("retries", 3) or 1,
    )
    if table.unread() or not check.command:
        raise TaskRefused(f"environment.healthcheck: {', '.join(table.unread()) or 'no command'}")
    return check


def _tests(folder: Path, verifier: Keys) -> TaskScript:
    return TaskScript(
        folders=tuple(filter(Path.is_dir, [folder / "tests"])),
        file=folder / "tests" / "test.sh",
        target="/tests",
        env=verifier.variables("env"),
        user=verifier.user("user"),
        seconds=verifier.number("timeout_sec", 600.0),
    )


def _solution(folder: Path, env: Mapping[str, str]) -> TaskScript | None:
    folder = folder / "solution"
    script = TaskScript(folders=(folder,), file=folder / "solve.sh", target="/solution", env=env)
    return script if script.file.is_file() else None


def _instruction(path: Path) -> str:
    """Return the text of the prompt, without the lines that mark a file for training filters."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise TaskRefused(f"{path.name} cannot be read: {error}") from error
    # Canary lines at the top, and the empty lines after them.
    start = 0
    while start < len(lines) and _CANARY.match(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])
