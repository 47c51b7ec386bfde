"""What one task is, whatever form its folder has, and how its configuration is read: each key is
honoured, ignored because it changes nothing, or refused by name.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from nel.errors import DatasetError

Network: TypeAlias = Literal["public", "none"]
_VARIABLE: Final = re.compile(r"\$\{(?P<name>[^}:]+)(?P<fallback>:-(?P<default>[^}]*))?\}")


class TaskRefused(DatasetError):
    """A folder asks for something that is not honoured and that changes its task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScript:
    """What is put into a container and run there: tests, or a solution."""

    folders: tuple[Path, ...]
    """Put at `target`, later ones over earlier ones; none where only the script is."""
    file: Path
    target: str
    """A folder of the container."""
    env: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    seconds: float | None = None
    is_in_image: bool = False
    """Nothing is put into the container: its image has it."""

    @property
    def path(self) -> str:
        """Return where the script is in the container."""
        return f"{self.target}/{self.file.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """A command that has to succeed before the agent begins."""

    command: str
    interval_seconds: float
    timeout_seconds: float
    start_seconds: float
    """Failures in it do not count."""
    start_interval_seconds: float
    retries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFolder:
    """One task."""

    path: Path
    instruction: str
    image: str | None
    """A ready one; None where it is built of `context`."""
    context: Path | None
    build_seconds: float = 600.0
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    memory_mb: int | None = None
    cpus: float | None = None
    network: Network = "public"
    verifier_network: Network = "public"
    agent_user: str | None = None
    agent_seconds: float | None = None
    health: HealthCheck | None = None
    tests: TaskScript
    reads: Literal["reward", "pytest"]
    """Where the verdict is: the file of a reward, or what pytest prints."""
    solution: TaskScript | None = None
    outputs: tuple[str, ...] = ()
    """Absolute paths of the agent's container that the folder declares as results."""
    verifier: TaskFolder | None = None
    """What the tests' own container is made of, which gets the outputs alone; None: they run on
    all that the agent left."""
    unread: tuple[str, ...] = ()
    """Keys that are unknown."""
    name: str = ""
    """Of a step."""
    workdir_files: Path | None = None
    """Put into the working directory before the agent begins; a ``setup.sh`` among them is run."""
    min_rewards: Mapping[str, float] = field(default_factory=dict)
    """The next step of the task is begun only with these rewards."""
    steps: tuple[TaskFolder, ...] = ()
    """Of a task of several: what each asks, in the container that the steps before it left."""
    is_mean: bool = True
    """The reward of several steps is the mean of theirs, else that of the last."""

    @property
    def containers(self) -> list[TaskFolder]:
        """Return what containers are made of: the agent's first, then those of tests."""
        tasks = (self, *self.steps)
        return [self, *(task.verifier for task in tasks if task.verifier is not None)]

    @property
    def networks(self) -> set[Network]:
        """Return the networks that the agent and the tests ask for."""
        return {self.network, *(task.verifier_network for task in (self, *self.steps))}


def digest_of(folder: Path) -> str:
    """Return a digest of the files below a folder, their names and whether they can be run."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            digest.update(f"{name}\0link\0{path.readlink()}\0".encode())
        elif path.is_file():
            is_run = bool(path.stat().st_mode & 0o100)
            digest.update(f"{name}\0{is_run}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Keys:
    """One table of a configuration, of which each key is read once."""

    def __init__(self, values: object, name: str = "") -> None:
        """Hold a table; raises TaskRefused where it is something else."""
        if not isinstance(values, Mapping):
            raise TaskRefused(f"{name or 'the file'} is not a table")
        self._values: dict[str, Any] = dict(values)
        self._name = name

    def number(
        self, key: str, default: float | None = None, *, least: float | None = None
    ) -> float | None:
        """Return a finite number, above 0 where no least one is given, or the default."""
        what = "a number above 0" if least is None else "a number in its range"
        value = self._take(key, what, int, float)
        if value is None:
            return default
        is_too_small = value <= 0 if least is None else value < least
        if is_too_small or not math.isfinite(value):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not {what}")
        return float(value)

    def whole(self, key: str, default: int | None = None) -> int | None:
        """Return a whole number above 0, or the default."""
        value = self.number(key)
        if value is not None and value != int(value):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not a whole number")
        return default if value is None else int(value)

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text, or the default."""
        value: str | None = self._take(key, "a text", str)
        return default if value is None else value

    def user(self, key: str) -> str | None:
        """Return a user, by name or number."""
        value = self._take(key, "a user", str, int)
        return None if value is None else str(value)

    def flag(self, key: str) -> bool | None:
        """Return true, false, or None."""
        value: bool | None = self._take(key, "true or false", bool)
        return value

    def rewards(self, key: str) -> dict[str, float]:
        """Return a number for each reward; one that stands alone is for the reward of that name."""
        values = self._values.pop(key, {})
        is_table = isinstance(values, Mapping)
        table = Keys(values if is_table else {"reward": values}, self._path(key))
        return {name: table.number(name, least=-math.inf) or 0.0 for name in list(table)}

    def entries(self, key: str) -> list[Keys]:
        """Return a list of tables; a text in it is one with a ``source`` alone."""
        values = self._values.pop(key, None) or []
        if not isinstance(values, list):
            raise TaskRefused(f"{self._path(key)} is not a list")
        path = self._path(key)
        return [Keys({"source": v} if isinstance(v, str) else v, path) for v in values]

    def table(self, key: str) -> Keys:
        """Return a table; an empty one where there is none."""
        return Keys(self._values.pop(key, None) or {}, self._path(key))

    def variables(self, key: str) -> dict[str, str]:
        """Return variables of a container. ``${NAME:-default}`` is its default: no variable of this
        machine enters a container.
        """
        table = self.table(key)
        return {name: table.variable(name) for name in list(table)}

    def variable(self, key: str) -> str:
        """Return the value of one variable."""
        value = self.text(key) or ""
        for match in _VARIABLE.finditer(value):
            if match["fallback"] is None:
                raise TaskRefused(
                    f"{self._path(key)} asks for the variable {match['name']} of this machine, and"
                    " none enters a container"
                )
        return _VARIABLE.sub(lambda match: match["default"], value)

    def ignore(self, *keys: str) -> None:
        """Pass over keys that change nothing of a task."""
        for key in keys:
            self._values.pop(key, None)

    def refuse(self, key: str, why: str, *, fine: tuple[object, ...] = ()) -> None:
        """Raise TaskRefused where a key has another value than none, an empty one, or these."""
        value = self._values.pop(key, None)
        if value not in (None, "", [], {}, *fine):
            raise TaskRefused(f"{self._path(key)} = {value!r}: {why}")

    def __iter__(self) -> Any:
        """Iterate over the keys that are left."""
        return iter(self._values)

    def unread(self) -> list[str]:
        """Return the keys that nothing has read."""
        return [self._path(key) for key in self._values]

    def _take(self, key: str, what: str, *kinds: type) -> Any:
        value = self._values.pop(key, None)
        # In Python true is the number 1; in a configuration it is not one.
        is_odd = isinstance(value, bool) and bool not in kinds
        if value is not None and (is_odd or not isinstance(value, kinds)):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not {what}")
        return value

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key
