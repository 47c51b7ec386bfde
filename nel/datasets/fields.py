"""Finds and renames columns of a row. Does no I/O; knows data keys only, never attributes.

A column may itself be called ``choices.text``; such an exact name wins over the path into
``choices``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from nel.core.texts import list_in_text, shorten
from nel.errors import DatasetError, did_you_mean

_REQUIRED: Final = object()
_SHOWN_MAX: Final = 30
_SHOWN_CHARACTERS: Final = 80


def lookup(row: Mapping[str, object], path: str, default: object = _REQUIRED) -> object:
    """Return the value of a column, or of a key below it named with dots (``choices.text``).

    Args:
        row: The row to look in.
        path: A column, or a dotted path of keys.
        default: What to return where the path is missing; without it a missing path raises.

    Raises:
        DatasetError: The path is missing and there is no default.
    """
    if path in row:
        return row[path]
    value: object = row
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            if default is _REQUIRED:
                raise DatasetError(_missing(path, key, value))
            return default
        value = value[key]
    return value


def map_fields(row: Mapping[str, object], mapping: Mapping[str, str]) -> dict[str, object]:
    """Return a copy of the row with columns renamed, ``{"source": "destination"}``.

    A dotted source is copied out of its object, and the object stays.

    Raises:
        DatasetError: A source is missing, or two columns would get one name.
    """
    values = {source: lookup(row, source) for source in mapping}
    mapped = {key: value for key, value in row.items() if key not in mapping}
    for source, destination in mapping.items():
        if destination in mapped:
            raise DatasetError(
                f'cannot rename column "{source}" to "{destination}": the row already has a'
                f' "{destination}"; choose another name'
            )
        mapped[destination] = values[source]
    return mapped


def read_lists(row: Mapping[str, object], fields: Iterable[str]) -> dict[str, object]:
    """Return a copy of the row in which these fields are lists, where a table has them as texts.

    Raises:
        DatasetError: A field is missing, or is neither a list nor the text of one.
    """
    read = dict(row)
    for name in fields:
        value = lookup(row, name)
        items = list_in_text(value) if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise DatasetError(
                f'the field "{name}" of list_fields is not a list of texts:'
                f" {shorten(repr(value), _SHOWN_CHARACTERS)}"
            )
        read[name] = list(items)
    return read


def gold_in(row: Mapping[str, object], path: str) -> object:
    """Return the gold answer in a field of a row.

    Raises:
        DatasetError: The row lacks the field, or it is null.
    """
    try:
        gold = lookup(row, path)
    except DatasetError as error:
        raise DatasetError(
            f"{error}; name the gold answer's with target_field, None where there is none"
        ) from error
    if gold is None:
        raise DatasetError(f'the target field "{path}" is null')
    return gold


def _missing(path: str, key: str, parent: object) -> str:
    below = "" if key == path else f' (no "{key}")'
    if not isinstance(parent, Mapping):
        return f'the row has no column "{path}"{below}; a {type(parent).__name__} has no keys'
    hint = did_you_mean(key, parent) or ";"
    return f'the row has no column "{path}"{below}{hint} it has {_names(parent)}'


def _names(keys: Iterable[str]) -> str:
    names = sorted(str(key) for key in keys)
    if not names:
        return "no columns"
    names_text = ", ".join(names[:_SHOWN_MAX])
    n_more = len(names) - _SHOWN_MAX
    return f"{names_text} and {n_more} more" if n_more > 0 else names_text
