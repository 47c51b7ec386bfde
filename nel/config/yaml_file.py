"""Reads YAML as a configuration needs it: safe, without duplicate keys, and with variables.

PyYAML alone keeps the last of two equal keys and expands aliases without a bound, hence a loader of
our own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from nel import plugins
from nel.errors import ConfigError

_SUFFIX = ".configuration"
"""Of the entry points in the group ``nel.bridges`` that know another tool's configuration files."""
_FILE_BYTES_MAX = 4 * 1024 * 1024
_VARIABLE = re.compile(
    r"""
    \$ (?P<escaped> \$\{ )                                                  # $${ stands for a literal ${
    | \$\{ (?P<name> [A-Za-z_][A-Za-z0-9_]* ) (?: :- (?P<default> [^}]* ) )? \}  # ${NAME} or ${NAME:-default}
    """,
    re.VERBOSE,
)
_NAMES_VARIABLE = re.compile(r"_env(?:\.[^.]+)?$")
"""Keys whose value is the name of a variable: ``api_key_env``, ``headers_env.X-Key``."""
_MEANINGS = (
    (
        "for the tag 'tag:yaml.org,2002:merge'",
        "merge keys (<<) are not allowed; write the keys out",
    ),
    ("could not determine a constructor", "{problem}; tags are not allowed, write a plain value"),
    (
        "cannot start any token",
        "{problem}; indent with spaces, and quote a text that begins like this",
    ),
    ("could not find expected ':'", "a key without a colon, or without the space after it"),
)
"""What PyYAML says in words of its own, and what it means here."""
_OTHER_BASE = re.compile(r"[-+]?(?:0[0-7_]*[0-7]|\d[\d_]*(?::[\d_.]+)+)")
"""Numbers that YAML 1.1 takes for octal or to the base of 60: ``010`` is 8, and ``1:30`` is 90."""
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses duplicate keys, numbers to other bases, and aliases."""

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        if node.tag in _NUMBER_TAGS and _OTHER_BASE.fullmatch(node.value):
            problem = (
                f'a number to another base; write a decimal number, or "{node.value}" for a text'
            )
            raise yaml.constructor.ConstructorError(
                None, None, f"YAML reads {node.value} as {problem}", node.start_mark
            )
        return super().construct_scalar(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, (dict, list, set)):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a text or a number", key_node.start_mark
                )
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f'the key "{key}" stands twice', key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # Ten lines of aliases, each for ten of the one before, stand for ten billion values.
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not allowed; write the value out", event.start_mark
            )
        return super().compose_node(parent, index)


def read_yaml(path: Path) -> dict[str, object]:
    """Return the mapping a YAML file holds, with ``${VAR}`` and ``${VAR:-default}`` filled in.

    Raises:
        ConfigError: The file is missing, too large (4 MiB), not YAML, not a mapping, written for
            another tool, or names an unset variable.
    """
    data = _parse(path, yaml.load)
    if not isinstance(data, dict):
        raise ConfigError(
            f"{path}: expected keys such as endpoint and benchmarks at the top, found"
            f" {kind_of(data)}"
        )
    for ref in plugins.discover("bridges"):
        if ref.name.endswith(_SUFFIX) and (problem := plugins.load_ref(ref)(data)) is not None:
            raise ConfigError(f"{path}: {problem}")
    return {str(key): _interpolate(value, f"{path}: {key}") for key, value in data.items()}


def compose_file(path: Path) -> yaml.Node:
    """Return the tree of nodes of a YAML file, each with its line.

    Raises:
        ConfigError: The file is missing, too large (4 MiB), empty or not YAML, or holds an alias.
    """
    node: yaml.Node | None = _parse(path, yaml.compose)
    if node is None:
        raise ConfigError(f"{path} is empty")
    return node


def _parse(path: Path, parse: Callable[..., Any]) -> Any:
    content = _read(path)
    try:
        return parse(content.decode("utf-8-sig"), Loader=_Loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid YAML: {_yaml_problem(error)}") from error


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        hint = f"; did you mean --bench {path}?" if _is_benchmark(str(path)) else ""
        raise ConfigError(
            f"cannot read the configuration {path}: {error.strerror or error}{hint}"
        ) from error
    if len(content) > _FILE_BYTES_MAX:
        raise ConfigError(f"{path}: a configuration of over {_FILE_BYTES_MAX} bytes is refused")
    return content


def _is_benchmark(name: str) -> bool:
    return plugins.is_name(name) and bool(plugins.matching("benchmarks", name))


def read_value(text: str, where: str) -> object:
    """Return the value of a line of YAML.

    Raises:
        ConfigError: It is not YAML; the message begins with ``where``.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(
            f"{where}: the value is not valid YAML: {_yaml_problem(error)}"
        ) from error


def kind_of(value: object) -> str:
    """Return the kind of a value in words, for a message: ``a str``, ``nothing``."""
    return "nothing" if value is None else f"a {type(value).__name__}"


def _interpolate(value: object, where: str) -> object:
    if isinstance(value, dict):
        return {key: _interpolate(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_interpolate(item, f"{where}.{index}") for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    filled = _VARIABLE.sub(lambda match: _variable(match, where), value)
    # `api_key_env: ${MY_KEY}` would put the key itself where its variable is to be named.
    if filled != value and _NAMES_VARIABLE.search(where) and filled not in os.environ:
        raise ConfigError(
            f"{where}: {value} stands for the value of that variable, and a name is wanted; write"
            " the name alone, without ${}"
        )
    return filled


def _variable(match: re.Match[str], where: str) -> str:
    if match["escaped"]:
        return match["escaped"]
    name: str = match["name"]
    default: str | None = match["default"]
    value = os.environ.get(name, default)
    if value is None:
        raise ConfigError(
            f"{where}: the environment variable {name} is not set; set it or write"
            f" ${{{name}:-default}}"
        )
    return value


def _yaml_problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    for words, meaning in _MEANINGS:
        if words in problem:
            problem = meaning.format(problem=problem)
            break
    problem = " ".join(str(problem).split())  # a decoding error has two lines
    return f"line {mark.line + 1}: {problem}" if mark else problem
