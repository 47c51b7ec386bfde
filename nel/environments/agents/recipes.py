"""Recipes of agents: what to install, how to start it, and where it is pointed at nel. Data, in TOML.

A recipe comes with nel (`agent:NAME`) or is a file (`agent:./my-agent.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

from nel.core.strict_json import dumps_bytes
from nel.environments.agents.answers import Spoken
from nel.environments.agents.digests import short_digest
from nel.errors import ConfigError, did_you_mean

PROTOCOLS: Final[tuple[Spoken, ...]] = get_args(Spoken)
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_FOLDER: Final = Path(__file__).with_name("recipes")
_REQUIRED: Final = ("version", "protocol", "command")
_OPTIONS: Final = ("version", "python", "native_tools")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")
_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How an agent is installed and started; texts may hold placeholders such as ``{url}``."""

    name: str
    version: str
    protocol: Spoken
    """That the agent speaks; nel serves all of them."""
    command: tuple[str, ...]
    """As a list of arguments, in the task's working directory."""
    pip: tuple[str, ...] = ()
    """Requirements of pip, installed as wheels for the Python of the containers."""
    npm: tuple[str, ...] = ()
    """Packages of npm."""
    python: str | None = None
    """The version of Python, such as ``3.11``, that the wheels are for and containers have."""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by the path in the container where each is written before the start."""
    memory_mb: int = 0
    """That the agent itself takes, beside what the task allows."""
    native_tools: tuple[str, ...] = ()
    """Tools of the vendor's own server, such as ``web_search``, that the agent may have."""
    prints_version: tuple[str, ...] = ()
    """A command whose output holds the version."""
    claimed_cost: str | None = None
    """A regular expression: its group is what the agent itself says that it cost."""
    resume: Literal["restart"] = "restart"
    """What a resume does with an agent that was interrupted: it starts again in a new container."""

    def as_json(self) -> dict[str, Any]:
        """Return the recipe as JSON."""
        return asdict(self)

    @property
    def digest(self) -> str:
        """Return a short digest of all that it holds."""
        return short_digest(dumps_bytes(self.as_json()))

    @property
    def install_digest(self) -> str:
        """Return a short digest of what is installed."""
        return short_digest(dumps_bytes([self.version, self.pip, self.npm, self.python]))


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with nel."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def find_recipe(name: str, options: Mapping[str, Any]) -> Recipe:
    """Return a recipe by its name or file, with another version where an option asks for it.

    Args:
        name: Of a recipe of nel, or the path of a TOML file.
        options: ``version``, ``python`` and ``native_tools``, perhaps.

    Raises:
        ConfigError: There is none, or it cannot be read.
    """
    is_file = name.endswith(".toml") or "/" in name
    path = Path(name).expanduser() if is_file else _FOLDER / f"{name}.toml"
    if not path.is_file():
        if is_file:
            raise ConfigError(f"no recipe of an agent is at {name}")
        names = recipe_names()
        hint = did_you_mean(name, names, or_all="; there are: ")
        raise ConfigError(f'no agent is called "{name}"{hint}, or give the path of a recipe')
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not a recipe: {error}") from error
    for key, value in options.items():
        if key not in _OPTIONS:
            hint = did_you_mean(key, _OPTIONS, or_all="; it takes: ")
            raise ConfigError(f'agent:{name} has no option "{key}"{hint}')
        values[key] = str(value).split() if key == "native_tools" else str(value)
    return _recipe(path, values)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled in; other braces stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _recipe(path: Path, values: dict[str, Any]) -> Recipe:
    names = [item.name for item in fields(Recipe) if item.name != "name"]
    for name, value in values.items():
        if name not in names:
            hint = did_you_mean(name, names, or_all="; there are: ")
            raise ConfigError(f'{path}: a recipe has no key "{name}"{hint}')
        _check_type(path, name, value)
    if missing := [name for name in _REQUIRED if name not in values]:
        raise ConfigError(f"{path}: a recipe needs {', '.join(missing)}")
    if values["protocol"] not in PROTOCOLS:
        choices = ", ".join(PROTOCOLS)
        raise ConfigError(f'{path}: protocol is one of {choices}, not "{values["protocol"]}"')
    if values.get("resume", "restart") != "restart":
        raise ConfigError(f'{path}: resume is "restart", not "{values["resume"]}"')
    if not _VERSION.fullmatch(values["version"]) or not _NAME.fullmatch(path.stem):
        raise ConfigError(f'{path}: "{path.stem}" "{values["version"]}" is not a name and version')
    if "pip" in values and "python" not in values:
        raise ConfigError(f"{path}: a recipe with pip says for which python, such as 3.11")
    if "claimed_cost" in values:
        _check_pattern(path, values["claimed_cost"])
    as_tuples: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return Recipe(name=path.stem, **as_tuples)


def _check_pattern(path: Path, pattern: str) -> None:
    try:
        n_groups = re.compile(pattern).groups
    except re.error as error:
        raise ConfigError(f"{path}: claimed_cost is not a regular expression: {error}") from error
    if n_groups != 1:
        raise ConfigError(f"{path}: claimed_cost needs one group, around the number")


def _check_type(path: Path, name: str, value: object) -> None:
    if name in ("command", "pip", "npm", "native_tools", "prints_version"):
        form = "a list of texts"
        is_right = isinstance(value, list) and all(isinstance(item, str) for item in value)
    elif name in ("env", "files"):
        form = "a table of texts"
        is_right = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    elif name == "memory_mb":
        form = "a number of megabytes"
        is_right = type(value) is int and value >= 0
    else:
        form = "a text"
        is_right = isinstance(value, str)
    if not is_right or (name == "command" and not value):
        raise ConfigError(f"{path}: {name} is {form}, not {value!r}")
