"""``tasks://FOLDER``: a task folder, or a folder of them, as a benchmark (``--bench ./FOLDER``).

A row is a task: its instruction, and a digest of all its files, so that a changed test is another
question. What cannot be honoured is a task that is unscored, and says why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from nel.authoring.benchmark import Benchmark
from nel.core.addresses import split_address
from nel.environments.tasks.environment import TaskEnvironment
from nel.environments.tasks.folder import TaskFolder, TaskRefused, digest_of
from nel.environments.tasks.harbor import FILE as HARBOR
from nel.environments.tasks.harbor import read_harbor
from nel.environments.tasks.terminal_bench import FILE as TERMINAL_BENCH
from nel.environments.tasks.terminal_bench import read_terminal_bench
from nel.environments.tasks.verifying import Level
from nel.errors import ConfigError, did_you_mean
from nel.prompts import load_template
from nel.tools.toolset import Resume
from nel.types import Row, ScorerInput

_READERS: Final = {HARBOR: read_harbor, TERMINAL_BENCH: read_terminal_bench}
_OUTPUTS_MIN: Final = 2
"""One beside the folder of outputs that each task has."""
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "network": ("public", "none"),
    "verdict": ("fresh", "separate", "shared"),
    "resume": ("restart", "snapshot"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBenchmark(Benchmark):
    """The tasks of a folder."""

    folder: Path

    def with_arguments(self, arguments: Mapping[str, object]) -> Benchmark:
        """Return the benchmark with other options of its address; raises ConfigError."""
        return benchmark_of(self.folder, arguments) if arguments else self


def tasks_benchmark(uri: str) -> Benchmark:
    """Return the benchmark of ``tasks://FOLDER?network=…&verdict=…&resume=…``."""
    folder, options = split_address(uri, _OPTIONS)
    return benchmark_of(Path(folder).expanduser(), options)


def benchmark_of(folder: Path, options: Mapping[str, object]) -> TaskBenchmark:
    """Return the benchmark of a folder.

    Raises:
        ConfigError: It holds no task, or an option is unknown.
    """
    for name, value in options.items():
        if name not in _OPTIONS:
            raise ConfigError(f'tasks take no "{name}"{did_you_mean(name, _OPTIONS)}')
        if value not in _OPTIONS[name]:
            choices = " or ".join(_OPTIONS[name])
            raise ConfigError(f'tasks take {name} = {choices}, not "{value}"')
    folders = {path.name: path for path in _folders(folder)}
    tasks = {name: _read(path, options) for name, path in folders.items()}
    if not tasks:
        names = " or ".join(_READERS)
        raise ConfigError(f"{folder} holds no task: neither it nor a folder in it has {names}")
    rows = [_row(name, task, folders[name]) for name, task in tasks.items()]
    level: Level = "shared" if options.get("verdict") == "shared" else "fresh"
    resume: Resume = "snapshot" if options.get("resume") == "snapshot" else "restart"
    return TaskBenchmark(
        folder=folder,
        name=_name(folder),
        description=f"Tasks in containers: the folder {folder.resolve().name}.",
        dataset=lambda: rows,
        prompt=load_template("{instruction}"),
        scorer=verdict,
        id_field="id",
        limits_field="limits",
        environment=TaskEnvironment.of(tasks, level, resume),
    )


def verdict(sample: ScorerInput) -> dict[str, Any]:
    """Return the reward of the task's tests, with the level of trust in it."""
    evidence: Any = sample.evidence
    rewards = {name: value for name, value in evidence["rewards"].items() if name != "correct"}
    steps = {"steps": evidence["steps"]} if "steps" in evidence else {}
    return {
        **rewards,
        **steps,
        "reward": evidence["reward"],
        "verdict_level": evidence["level"],
        "tampered": evidence["tampered"],
    }


def _folders(folder: Path) -> list[Path]:
    """Return the folders of tasks: the one itself, or those in it."""
    resolved = folder.resolve()
    if _is_task(resolved):
        return [resolved]
    return list(filter(_is_task, sorted(resolved.iterdir()))) if resolved.is_dir() else []


def _is_task(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _READERS)


def _read(path: Path, options: Mapping[str, object]) -> TaskFolder | str:
    """Return the task of a folder, or why it is refused."""
    reader = next(read for name, read in _READERS.items() if (path / name).is_file())
    try:
        task = reader(path)
    except TaskRefused as error:
        return str(error)
    if task.steps and "verdict" in options:
        return "a task of several steps takes no verdict=, only what its folder says"
    if options.get("verdict") == "separate" and task.verifier is None:
        if len(task.outputs) < _OUTPUTS_MIN:
            return "it declares no artifacts, and only these are copied at verdict=separate"
        task = replace(task, verifier=replace(task, agent_user=None))
    network = options.get("network")
    if network == "none":
        steps = tuple(replace(step, verifier_network="none") for step in task.steps)
        return replace(task, network="none", verifier_network="none", steps=steps)
    if network is None and "public" in task.networks:
        return (
            "it asks for a network, which is public where a folder does not say otherwise; let it"
            ' have the engine\'s own with "tasks://FOLDER?network=public", or run it without one'
            " with network=none"
        )
    return task


def _row(name: str, task: TaskFolder | str, folder: Path) -> Row:
    files = digest_of(folder)
    if isinstance(task, str):
        return {"id": name, "instruction": task, "target": 1.0, "files": files, "limits": {}}
    step = task.steps[0] if task.steps else task
    limits = {} if step.agent_seconds is None else {"work_seconds": step.agent_seconds}
    return {
        "id": name,
        "instruction": step.instruction,
        "target": 1.0,
        "files": files,
        "limits": limits,
    }


def _name(folder: Path) -> str:
    return re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_") or "tasks"
