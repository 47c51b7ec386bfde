"""Reads YAML in which texts are data: each value knows its line, and no text silently becomes
another.

YAML reads an unquoted ``no`` as false and ``1.10`` as 1.1. Where a value is used as text, such a
value is refused with the quotes to write. Depends on `nel.config.yaml_file` for the loader.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from nel.config.yaml_file import compose_file
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
        where = f"{self.path}, line {self.node.start_mark.line + 1}"
        return ConfigError(f"{where}: {self.key}: {what}" if self.key else f"{where}: {what}")

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
            key = YamlEntry(self.path, key_node, self.key).text()
            if key in entries:
                raise YamlEntry(self.path, key_node, self.key).problem(
                    f'the key "{key}" stands twice'
                )
            entries[key] = YamlEntry(self.path, value, f"{self.key}.{key}" if self.key else key)
        return entries

    def known_items(self, known: tuple[str, ...]) -> dict[str, YamlEntry]:
        """Return the values by key, all of which must be known.

        Raises:
            ConfigError: One is not; the message suggests the nearest.
        """
        entries = self.items()
        for key, entry in entries.items():
            if key not in known:
                hint = did_you_mean(key, known) or f"; use {', '.join(known)}"
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
        """Return a value as text: quoted, or one that YAML reads as no number, date or boolean with
        another spelling.

        Raises:
            ConfigError: It is not a text.
        """
        value = self.data()
        if isinstance(value, str | int | float):
            return str(value)
        raise self.problem(f"expected a text, found {self._kind()}")

    def data(self) -> Any:
        """Return a value whose texts, numbers and booleans are used as text: whatever would change
        is refused.

        Raises:
            ConfigError: An unquoted value would read differently.
        """
        if self.is_mapping:
            return {key: value.data() for key, value in self.items().items()}
        if self.is_list:
            return [value.data() for value in self.elements()]
        value = self._scalar()
        if value is None or isinstance(value, str):
            return value
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or str(value) != self.node.value
        ):
            raise self.problem(
                f"YAML reads {self.node.value} as {self._kind()}"
                f'{"" if isinstance(value, bool) else f", {value}"}; write "{self.node.value}" in'
                " quotes if it is text"
            )
        return value

    def json(self) -> Any:
        """Return a value with JSON's types; spellings that JSON does not have (``no``, ``012``,
        dates) are refused.

        Raises:
            ConfigError: There is one.
        """
        if self.is_mapping:
            return {key: value.json() for key, value in self.items().items()}
        if self.is_list:
            return [value.json() for value in self.elements()]
        value = self._scalar()
        if value is None or isinstance(value, str | float):
            return value
        is_plain = (
            self.node.value in ("true", "false")
            if isinstance(value, bool)
            else str(value) == self.node.value
        )
        if not is_plain or not isinstance(value, int):
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
        return "a list" if self.is_list else _KINDS.get(self.node.tag.removeprefix(_TAG), "a text")


def read_exact(path: Path) -> YamlEntry:
    """Return what a YAML file holds.

    Raises:
        ConfigError: It cannot be read, is not YAML, or is empty.
    """
    return YamlEntry(path, compose_file(path), "")
