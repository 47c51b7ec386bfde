"""Reads a task folder of terminal-bench 1, ``task.yaml``, and what its tests print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import yaml

from nel.environments.tasks.folder import Keys, TaskFolder, TaskRefused, TaskScript

FILE: Final = "task.yaml"
_SUMMARY: Final = re.compile(r"=+\s*short test summary info\s*=+", re.IGNORECASE)
_PASSED: Final = frozenset({"PASSED", "XFAIL", "SKIPPED"})
_STATES: Final = _PASSED | {"FAILED", "XPASS", "ERROR"}
_LOGS: Final = [
    "${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}",
    "${T_BENCH_TASK_AGENT_LOGS_PATH}:${T_BENCH_CONTAINER_AGENT_LOGS_PATH}",
]
_TEMPLATE: Final[dict[str, tuple[object, ...]]] = {
    "build": (
        ".", "./", {"dockerfile": "Dockerfile"}, {"context": "."},
        {"context": ".", "dockerfile": "Dockerfile"},
    ),
    "command": (["sh", "-c", "sleep infinity"], ["sleep", "infinity"], "sleep infinity"),
    "environment": (["TEST_DIR=${T_BENCH_TEST_DIR}"], {"TEST_DIR": "${T_BENCH_TEST_DIR}"}),
    "volumes": (_LOGS, _LOGS[:1]),
}  # fmt: skip
"""What the one service of the format's template has."""


def read_terminal_bench(folder: Path) -> TaskFolder:
    """Return the task of a folder; raises as `nel.environments.tasks.harbor.read_harbor`."""
    keys = _keys_of(folder / FILE)
    instruction = keys.text("instruction")
    if not instruction:
        raise TaskRefused("instruction is missing")
    keys.refuse("parser_name", "only the output of pytest is read", fine=("pytest",))
    keys.refuse("run_tests_in_same_shell", "the agent has no shell that goes on", fine=(False,))
    keys.ignore(
        "author_name", "author_email", "difficulty", "category", "tags", "disable_asciinema",
        "estimated_duration_sec", "expert_time_estimate_min", "junior_time_estimate_min",
    )  # fmt: skip
    for name in ("Dockerfile", "run-tests.sh"):
        if not (folder / name).is_file():
            raise TaskRefused(f"{name} is not there")
    _check_compose(folder / "docker-compose.yaml")
    solution = folder / "solution.sh"
    return TaskFolder(
        path=folder,
        instruction=instruction,
        image=None,
        context=folder,
        env={"TEST_DIR": "/tests"},
        agent_seconds=keys.number("max_agent_timeout_sec", 360.0),
        tests=TaskScript(
            folders=tuple(filter(Path.is_dir, [folder / "tests"])),
            file=folder / "run-tests.sh",
            target="/tests",
            seconds=keys.number("max_test_timeout_sec", 60.0),
        ),
        reads="pytest",
        solution=TaskScript(folders=(), file=solution, target="/oracle") if solution.is_file() else None,
        unread=tuple(keys.unread()),
    )  # fmt: skip


def all_passed(output: str) -> bool | None:
    """Return whether every test in pytest's summary passed; None where there is no summary.

    >>> all_passed("= short test summary info =\\nPASSED t.py::a\\nFAILED t.py::b - assert 0")
    False
    """
    parts = _SUMMARY.split(output, maxsplit=1)
    if len(parts) == 1:
        return None
    states = {}
    for line in parts[1].splitlines():
        state, _, test = line.strip().partition(" ")
        state = state.strip(":")
        if state in _STATES and test.strip():
            states[_test_name(line, state)] = state in _PASSED
    return all(states.values()) if states else None


def _test_name(line: str, state: str) -> str:
    """Return the name of a test, without the message that follows that of a failed one."""
    if state == "FAILED" and " - " in line:
        line = line.rpartition(" - ")[0]
    return line.split(maxsplit=1)[-1].strip().split("::", 1)[-1]


def _keys_of(path: Path) -> Keys:
    try:
        return Keys(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TaskRefused(f"{path.name} cannot be read: {error}") from error


def _check_compose(path: Path) -> None:
    """Refuse a compose file that is more than the one container of the format's template."""
    if not path.is_file():
        return
    document = _keys_of(path)
    services = document.table("services")
    client = services.table("client")
    for key, fine in _TEMPLATE.items():
        client.refuse(key, "only what the format's template has is honoured", fine=fine)
    client.ignore("image", "container_name")
    document.ignore("version", "name")
    if others := [*document.unread(), *services.unread(), *client.unread()]:
        raise TaskRefused(f"docker-compose.yaml: {', '.join(others)} is not honoured")
