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

    folder: Path | None
    """Put at `target`; None where only the script is."""
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

    @property
    def digest(self) -> str:
        """Return a digest of all files of the folder."""
        return digest_of(self.path)


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
        self, key: str, default: float | None = None, *, is_zero_fine: bool = False
    ) -> float | None:
        """Return a number above 0, or the default."""
        value = self._values.pop(key, None)
        if value is None:
            return default
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        is_zero = is_number and is_zero_fine and value == 0
        if not is_number or not math.isfinite(value) or (value <= 0 and not is_zero):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not a number above 0")
        return float(value)

    def whole(self, key: str, default: int | None = None) -> int | None:
        """Return a whole number above 0, or the default."""
        value = self.number(key)
        if value is not None and value != int(value):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not a whole number")
        return default if value is None else int(value)

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text, or the default."""
        value = self._values.pop(key, None)
        if value is None:
            return default
        if not isinstance(value, str):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not a text")
        return value

    def user(self, key: str) -> str | None:
        """Return a user, by name or number."""
        value = self._values.pop(key, None)
        is_user = isinstance(value, (str, int)) and not isinstance(value, bool)
        if value is not None and not is_user:
            raise TaskRefused(f"{self._path(key)} = {value!r} is not a user")
        return None if value is None else str(value)

    def flag(self, key: str) -> bool | None:
        """Return true, false, or None."""
        value = self._values.pop(key, None)
        if value is not None and not isinstance(value, bool):
            raise TaskRefused(f"{self._path(key)} = {value!r} is not true or false")
        return value

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
        table = Keys(self._values.pop(key, None) or {}, self._path(key))
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

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key
