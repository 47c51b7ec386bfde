"""Reads YAML in which texts are data: no text silently becomes another, and errors name a line.

YAML reads an unquoted ``no`` as false and ``1.10`` as 1.1. Where a value is used as text, such a
value is refused with the quotes to write. Depends on `nel.config.yaml_file` for the loader.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from nel.config.yaml_file import compose_file
from nel.core.json_values import is_number
from nel.errors import ConfigError, did_you_mean

_TAG: Final = "tag:yaml.org,2002:"
_KINDS: Final = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "null": "nothing",
    "timestamp": "a date",
}


class YamlEntry:
    """A value of a YAML file with the place where it stands."""

    def __init__(self, path: Path, node: yaml.Node, key: str) -> None:
        """Take the file, the node, and the keys that lead to it, such as ``rows[2].answer``."""
        self.path = path
        self.node = node
        self.key = key

    def problem(self, what: str) -> ConfigError:
        """Return an error that names the file, the line and the key."""
        position = f"{self.path}, line {self.node.start_mark.line + 1}"
        if self.key:
            position += f": {self.key}"
        return ConfigError(f"{position}: {what}")

    @property
    def is_mapping(self) -> bool:
        """Return whether it has keys."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Return whether it is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def items(self) -> dict[str, YamlEntry]:
        """Return the values by key.

        Raises:
            ConfigError: It is not a mapping, or a key stands twice or is not a text.
        """
        if not isinstance(self.node, yaml.MappingNode):
            raise self.problem(f"expected keys, found {self._kind()}")
        entries: dict[str, YamlEntry] = {}
        for key_node, value in self.node.value:
            key_entry = YamlEntry(self.path, key_node, self.key)
            key = key_entry.text()
            if key in entries:
                raise key_entry.problem(f'the key "{key}" stands twice')
            key_path = f"{self.key}.{key}" if self.key else key
            entries[key] = YamlEntry(self.path, value, key_path)
        return entries

    def known_items(self, keys: tuple[str, ...]) -> dict[str, YamlEntry]:
        """Return the values by key.

        Args:
            keys: Those that it may have.

        Raises:
            ConfigError: It has another key; the message suggests the nearest.
        """
        entries = self.items()
        for key, entry in entries.items():
            if key not in keys:
                hint = did_you_mean(key, keys, or_all="; use ")
                raise entry.problem(f"the key is unknown{hint}")
        return entries

    def elements(self) -> Iterator[YamlEntry]:
        """Yield the elements of a list.

        Raises:
            ConfigError: It is not a list.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.problem(f"expected a list, found {self._kind()}")
        for index, node in enumerate(self.node.value):
            yield YamlEntry(self.path, node, f"{self.key}[{index}]")

    def text(self) -> str:
        """Return a value as text: the value itself, or a number as it is written.

        Raises:
            ConfigError: It is not a text, or YAML would spell the number differently.
        """
        value = self.data()
        if isinstance(value, str | int | float):
            return str(value)
        raise self.problem(f"expected a text, found {self._kind()}")

    def data(self) -> Any:
        """Return a value whose scalars are used as text.

        Raises:
            ConfigError: YAML reads an unquoted value as something else, such as ``1.10`` as 1.1.
        """
        if self.is_mapping:
            return {key: value.data() for key, value in self.items().items()}
        if self.is_list:
            return [value.data() for value in self.elements()]
        value = self._scalar()
        if value is None or isinstance(value, str):
            return value
        # The version 1.10 and the dialling code 010 would be other texts as 1.1 and 8.
        if not is_number(value) or str(value) != self.node.value:
            reading = self._kind() if isinstance(value, bool) else f"{self._kind()}, {value}"
            raise self.problem(
                f'YAML reads {self.node.value} as {reading}; write "{self.node.value}" in quotes if'
                " it is text"
            )
        return value

    def json(self) -> Any:
        """Return a value with JSON's types.

        Raises:
            ConfigError: It is spelt as JSON does not spell it: ``no``, ``012``, a date.
        """
        if self.is_mapping:
            return {key: value.json() for key, value in self.items().items()}
        if self.is_list:
            return [value.json() for value in self.elements()]
        value = self._scalar()
        if value is None or isinstance(value, str | float):
            return value
        spelling = str(value).lower() if isinstance(value, bool) else str(value)
        if spelling != self.node.value or not isinstance(value, int):
            raise self.problem(
                f"YAML reads {self.node.value} as {self._kind()}; put it in quotes if it is text, "
                "or write true, false or a plain number"
            )
        return value

    def _scalar(self) -> Any:
        tag = self.node.tag.removeprefix(_TAG)
        if not isinstance(self.node, yaml.ScalarNode) or tag not in ("str", *_KINDS):
            raise self.problem(f"the tag {self.node.tag} is not allowed; write plain values")
        loader = yaml.SafeLoader("")
        try:
            return loader.construct_object(self.node)
        except ValueError as error:  # such as 2024-13-45
            raise self.problem(
                f'{self.node.value} cannot be read: {error}; write "{self.node.value}"'
            ) from error
        finally:
            loader.dispose()

    def _kind(self) -> str:
        if self.is_mapping:
            return "keys"
        if self.is_list:
            return "a list"
        return _KINDS.get(self.node.tag.removeprefix(_TAG), "a text")


def read_exact(path: Path) -> YamlEntry:
    """Return what a YAML file holds.

    Raises:
        ConfigError: It cannot be read, is not YAML, or is empty.
    """
    return YamlEntry(path, compose_file(path), "")
