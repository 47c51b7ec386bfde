"""From YAML, flags and overrides to one validated `RunConfig`.

Order, later wins: the file, the flags, ``-O key=value``. Every problem is a `ConfigError` that names the key and
the file. Trap: YAML is read with a loader that refuses duplicate keys and unknown tags; PyYAML alone takes the last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from nel.config.schema import JudgeConfig, RunConfig
from nel.errors import ConfigError

_FILE_BYTES_MAX = 4 * 1024 * 1024
_ENV = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses duplicate keys and aliases (which can grow without bound)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, (dict, list, set)):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a text or a number", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f'the key "{key}" stands twice', key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(None, None, "aliases are not allowed", event.start_mark)
        return super().compose_node(parent, index)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping a YAML file holds, with ``${VAR}`` and ``${VAR:-default}`` filled in.

    Raises:
        ConfigError: The file is missing, too large (4 MiB), not YAML, not a mapping, or names an unset variable.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror or error}") from error
    if len(raw) > _FILE_BYTES_MAX:
        raise ConfigError(f"{path}: a configuration of over {_FILE_BYTES_MAX} bytes is refused")
    try:
        data = yaml.load(raw.decode("utf-8-sig"), Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid YAML: {_yaml_problem(error)}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected keys such as endpoint and benchmarks at the top, found {_kind(data)}")
    return {str(key): _interpolate(value, f"{path}: {key}") for key, value in data.items()}


def build_config(data: Mapping[str, Any], *, overrides: Sequence[str] = (), where: str = "command line") -> RunConfig:
    """Validate raw configuration data, with ``key.path=value`` overrides laid over it.

    Raises:
        ConfigError: Anything is unknown, missing, out of range or contradictory.
    """
    merged = _deep_copy(data)
    for override in overrides:
        _apply_override(merged, override)
    try:
        return RunConfig.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_problem(error)}") from error
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def _deep_copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _deep_copy(item) for key, item in value.items()}
    return [_deep_copy(item) for item in value] if isinstance(value, list) else value


def _apply_override(data: dict[str, Any], override: str) -> None:
    path, separator, text = override.partition("=")
    if not separator or not path:
        raise ConfigError(f"-O {override}: write key=value, for example -O generation.temperature=0.7")
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ConfigError(f"-O {override}: the value is not valid YAML: {_yaml_problem(error)}") from error
    *parents, last = path.split(".")
    target: Any = data
    for key in parents:
        target = _step(target, key, override)
    if isinstance(target, list):
        target[_index(target, last, override)] = value
    else:
        target[last] = value


def _step(target: Any, key: str, override: str) -> Any:
    if isinstance(target, list):
        index = _index(target, key, override)
        if isinstance(target[index], str):
            target[index] = {"name": target[index]}
        return target[index]
    inner = target.setdefault(key, {})
    if not isinstance(inner, (dict, list)):
        raise ConfigError(f'-O {override}: "{key}" holds {_kind(inner)}, which has no keys')
    return inner


def _index(target: list[Any], key: str, override: str) -> int:
    if not key.isdigit() or int(key) >= len(target):
        raise ConfigError(f'-O {override}: "{key}" is no position in a list of {len(target)}; count from 0')
    return int(key)


def _interpolate(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return {key: _interpolate(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_interpolate(item, f"{where}.{index}") for index, item in enumerate(value)]
    return _ENV.sub(lambda match: _variable(match, where), value) if isinstance(value, str) else value


def _variable(match: re.Match[str], where: str) -> str:
    if match[1]:
        return match[1]
    value = os.environ.get(match[2], match[3])
    if value is None:
        raise ConfigError(
            f"{where}: the environment variable {match[2]} is not set; set it or write ${{{match[2]}:-default}}"
        )
    return value


def first_problem(error: ValidationError) -> str:
    """Return the first thing that is wrong, where it is, and how many more there are; never a value."""
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "configuration"
    message = problem["msg"].removeprefix("Value error, ")
    more = len(error.errors()) - 1
    return f"{where}: {message[0].lower()}{message[1:]}" + (f" (and {more} more)" if more else "")


def _yaml_problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def with_panel(data: Mapping[str, Any], panel: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a configuration with other judges, who replace those that it names, and everything else as it was."""
    judge = data.get("judge") or {}
    kept = {key: value for key, value in judge.items() if key in JudgeConfig.model_fields} if judge else {}
    return {**data, "judge": {**kept, "panel": [dict(member) for member in panel]}}
